//! The laboratory: commands that measure this machine, and generate inputs for measurements.
//! Without the feature `lab`, the command has none of them.

mod demo;
mod generate;
mod study;
mod tune;

pub(crate) const EXAMPLES: &str = "  \
  swath demo                              five lines: this machine with Swath and without
  swath study                             what five studies found, on this machine
  swath tune --path /mnt/fast             measure what is fastest there, and save it
";

crate::verbs::verbs! {
    /// The commands of the laboratory.
    Lab {
        /// Make a reproducible input
        Gen(generate::Gen),
        /// Show how fast this machine reads, writes and parses, with Swath and without; --all for every engine
        Demo(demo::flags::Demo),
        /// Repeat the measurements of five studies, and report which of their findings hold here
        Study(study::Study),
        /// Measure the fastest settings for a file system, and apply them to later reads
        ///
        /// Measures threads, sizes of reads, reads in flight, reads through or past the page cache and a few
        /// other settings, with files of its own. A setting that is clearly faster than the default in two
        /// measurements is saved in a profile. Commands that read from this file system use the profile,
        /// unless --no-profile is given, and their reports name it.
        Tune(tune::Tune),
    }
}
