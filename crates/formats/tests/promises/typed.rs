//! Tables of any types as record batches: every text at every block size and number of workers.

mod arrow;
mod dialects;
mod encodings;
mod first;
mod fixed;
mod footers;
mod nested;
mod objects;
mod oracle;
mod random;
mod samples;
mod shown;
mod sources;
mod summaries;
mod united;
mod vectors;
mod words;
