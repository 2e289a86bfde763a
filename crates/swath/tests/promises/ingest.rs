//! Many files: the result of `ingest` is that of reading one after the other, whatever the
//! number of workers, the order, the shape of the tree and the trouble on the way.
//!
//! ```text
//! trees       files of all sizes in folders, made from a seed
//! crew        how many threads take part
//! same        the bytes of the serial reader, for every choice
//! streams     parts in order, in bounded memory
//! walks       folders, links, lists, patterns
//! trouble     files that vanish, change, are not files; policies and their totals
//! limits      few descriptors, little memory
//! calls       system calls, as counted and as traced
//! ```

mod calls;
mod crew;
mod fuse;
mod limits;
mod same;
mod streams;
mod trees;
mod trouble;
mod walks;
