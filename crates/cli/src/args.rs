//! The words of the command line: one definition for each flag.
//!
//! From it come parsing, `-h`, `--help`, the man pages and the completions. Groups that several
//! commands share are in [`read`], what each command adds in [`verbs`].
//!
//! ```
//! use clap::Parser;
//! use swath_cli::args::{Cli, Verb};
//!
//! let cli = Cli::try_parse_from(["swath", "read", "--chunk-size", "4KiB", "data.bin"])?;
//! assert!(matches!(cli.verb, Verb::Read(read) if read.how.flow.chunk_size == 4096));
//! # Ok::<(), clap::Error>(())
//! ```

pub mod classes;
pub mod compress;
pub mod convert;
pub mod copy;
pub mod fib;
pub mod generate;
pub mod ingest;
pub mod mirror;
pub mod price;
pub mod read;
pub mod size;
pub mod study;
pub mod timeline;
pub mod tune;
pub mod verbs;
mod words;

use clap::{Parser, Subcommand};

use self::compress::{Compress, Decompress};
use self::convert::{Convert, Info};
use self::copy::Cp;
use self::generate::Gen;
use self::ingest::Ingest;
use self::mirror::{Heal, Manifest, Mirror};
use self::price::Price;
use self::study::Study;
use self::tune::Tune;
use self::verbs::{Cat, Completions, Demo, Man, Read, Scan, Sum};

/// Reads files as fast as the machine can, safely.
///
/// A PATH is a file, `-` for standard input, a file:// URI, or a folder of segments. Sizes are bytes: 4096, 4KiB
/// or 4K, 1.5GiB, 64MB.
///
/// Exit status: 0 done; 1 done, but bytes differ or something was skipped; 2 not done, or done and the
/// report cannot be printed: then the message begins with what was written. If standard output was closed
/// from the start, nobody waits for a report of what was written.
#[derive(Debug, Parser)]
#[command(name = "swath", version, after_help = EXAMPLES, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

const EXAMPLES: &str = "\
Examples:
  swath demo                              measure this machine
  swath study                             what five studies found, on this machine
  swath tune --path /mnt/fast             measure what is fastest there, and keep it
  swath read data.bin                     load a file and say how fast it was
  swath sum --hash blake3 *.bin           checksums at memory speed
  swath cat data.bin | zstd > data.zst    read ahead in parallel, into a pipe
  swath ingest images/                    load many files at once
  swath cp data.bin backup/               a copy that is whole or absent
  swath compress data.bin                 data.bin.zst, by all cores
  swath convert graph.mtx graph.npz       a graph as text, for SciPy";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Load a file into memory and say how fast it was, and by which way
    Read(Read),
    /// Load many files at once, and checksum each if asked to
    Ingest(Ingest),
    /// Sum the bytes of files, or checksum them
    Sum(Sum),
    /// Count the newlines of files
    Scan(Scan),
    /// Write a file to standard output, reading ahead in parallel
    Cat(Cat),
    /// Copy a file, or a folder of segments as one, in parallel, whole or not at all
    Cp(Cp),
    /// Make copies of a file, each of them read back before it appears
    Mirror(Mirror),
    /// Write the checksums of a file's chunks, or compare a copy with them
    Manifest(Manifest),
    /// Make the bad chunks of copies good, from those that have them
    Heal(Heal),
    /// Compress a file in parallel; zstd, gzip and bzip2 read the result
    Compress(Compress),
    /// Decompress zstd, gzip or bzip2, in parallel where its frames can be found
    Decompress(Decompress),
    /// Price option contracts after Black and Scholes, in parallel
    Price(Price),
    /// Turn matrices and tables into other formats, in parallel at both ends
    Convert(Convert),
    /// Say what files hold: kind, shape, header
    Info(Info),
    /// Make a reproducible input
    Gen(Gen),
    /// Measure every engine on inputs of its own, beside the limits of this machine
    Demo(Demo),
    /// Measure what five studies measured, and say which of their findings hold here
    Study(Study),
    /// Measure what is fastest on a file system, and have all commands go by it
    ///
    /// Threads, sizes of reads, reads in flight, through or past the page cache, and a few more are
    /// measured with files of its own. Where something is clearly faster than the default, twice, a
    /// profile keeps it, and commands that read from this file system go by it, unless they are
    /// told --no-profile. Reports name the profile.
    Tune(Tune),
    /// Print completions for a shell
    Completions(Completions),
    /// Print a manual page
    Man(Man),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definitions_do_not_contradict_each_other() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_flag_and_every_command_says_what_it_is() {
        let mut command = Cli::command();
        command.build();
        for verb in command.get_subcommands() {
            assert!(verb.get_about().is_some(), "{}", verb.get_name());
            for arg in verb.get_arguments() {
                assert!(arg.get_help().is_some(), "{} {}", verb.get_name(), arg.get_id());
            }
        }
    }
}
