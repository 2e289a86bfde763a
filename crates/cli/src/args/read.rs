//! How to read: the flags that several commands share, and the options they stand for.

use clap::Args;
use swath::reading::{Advice, Costs, Growth, IoPriority, MapPages, PageSize, Reuse, Schedule};
use swath::{Engine, PageCache, ReadOptions};

use super::size::{parse_rate, parse_size};
use super::timeline::TimelineArgs;
use super::words::{count, words};

/// All flags about a read.
#[derive(Clone, Debug, Args)]
pub struct ReadArgs {
    /// Which bytes.
    #[command(flatten)]
    pub extent: ExtentArgs,
    /// Sizes, rates and the page cache.
    #[command(flatten)]
    pub flow: FlowArgs,
    /// Engines.
    #[command(flatten)]
    pub engine: EngineArgs,
    /// The recording of a timeline.
    #[command(flatten)]
    pub timeline: TimelineArgs,
}

/// Which bytes of the file.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Which bytes")]
pub struct ExtentArgs {
    /// Where in the file to start
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "0", allow_negative_numbers = true)]
    pub offset: u64,

    /// How many bytes; an error if fewer follow the offset [default: to the end]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, allow_negative_numbers = true)]
    pub length: Option<u64>,
}

/// Sizes, rates and the page cache.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "How to read")]
pub struct FlowArgs {
    /// Threads; 0 chooses
    #[arg(long, value_name = "N", value_parser = count(), default_value_t = 0)]
    pub workers: usize,

    /// Bytes of one read; 0 chooses
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "0", allow_negative_numbers = true)]
    pub chunk_size: u64,

    /// Direct reads in flight; 0 chooses
    #[arg(long, value_name = "N", value_parser = count(), default_value_t = 0)]
    pub queue_depth: usize,

    /// How to use the page cache
    ///
    /// keep warms it. drop reads through it, then drops the pages that this brought in. bypass reads
    /// past it with O_DIRECT. auto keeps, but bypasses for files above a quarter of the available
    /// memory and with --once.
    #[arg(long, value_name = "WAY", value_parser = words(PageCache::WORDS), default_value_t = PageCache::Auto)]
    pub page_cache: PageCache,

    /// Do not warm the page cache: the file will not be read again soon
    #[arg(long)]
    pub once: bool,

    /// If the file grows while it is read: fail, or read the length seen first
    #[arg(long, value_name = "LENGTH", value_parser = words(Growth::WORDS), default_value = "strict")]
    pub follow_size: Growth,

    /// At most this many bytes a second, as in 100MiB/s
    #[arg(long, value_name = "SIZE/s", value_parser = parse_rate, allow_negative_numbers = true)]
    pub rate: Option<u64>,

    /// I/O priority of the reads: idle, best-effort[:0..7] or real-time[:0..7]; 0 is the highest
    #[arg(long, value_name = "CLASS", value_parser = parse_priority)]
    pub io_priority: Option<IoPriority>,

    /// Whether a profile is used.
    #[command(flatten)]
    pub profile: ProfileArgs,
}

/// Whether the profile of `swath tune` is used.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "How to read")]
pub struct ProfileArgs {
    /// Ignore the profile that `swath tune` has saved for the file system
    #[arg(long)]
    pub no_profile: bool,
}

/// Engines.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Engines")]
pub struct EngineArgs {
    /// The engine that reads
    ///
    /// serial is one thread, pool several threads, ring one thread with many reads in flight through
    /// io_uring, map several threads that copy from a map. auto chooses for this file at this moment,
    /// and the report says why.
    #[arg(long, value_name = "ENGINE", value_parser = words(Engine::WORDS), default_value_t = Engine::Auto)]
    pub engine: Engine,

    /// Which worker reads which chunks: the next free one, or equal shares fixed in advance
    #[arg(long, value_name = "SCHEDULE", value_parser = words(Schedule::WORDS), default_value_t = Schedule::Dynamic)]
    pub schedule: Schedule,

    /// The access pattern to announce to the kernel
    #[arg(long, value_name = "ADVICE", value_parser = words(Advice::WORDS), default_value = "none")]
    pub advice: Advice,

    /// How the file is mapped, by engines that map it
    #[arg(long, value_name = "FLAGS", value_parser = words(MAP_FLAGS), value_delimiter = ',', default_value = "none")]
    pub map_flags: Vec<MapFlag>,

    /// Report what the read cost: page faults, context switches, CPU time, peak memory
    #[arg(long)]
    pub usage: bool,
}

/// How a file is mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapFlag {
    /// Without flags.
    None,
    /// All pages are mapped at once.
    Populate,
    /// With huge pages, where the file system has them.
    HugePage,
}

const MAP_FLAGS: &[(&str, MapFlag)] = &[
    ("none", MapFlag::None),
    ("populate", MapFlag::Populate),
    ("huge-page", MapFlag::HugePage),
];

impl ReadArgs {
    /// Returns the library's options for these words.
    pub fn options(&self) -> ReadOptions {
        let EngineArgs { engine, schedule, advice, .. } = self.engine;
        self.flow
            .apply(self.extent.apply(ReadOptions::new()))
            .with_engine(engine)
            .with_schedule(schedule)
            .with_advice(advice)
            .with_map_pages(match self.engine.map_flags.contains(&MapFlag::Populate) {
                true => MapPages::WhenMade,
                false => MapPages::WhenTouched,
            })
            .with_map_page_size(match self.engine.map_flags.contains(&MapFlag::HugePage) {
                true => PageSize::Huge,
                false => PageSize::Usual,
            })
            .with_costs(if self.engine.usage { Costs::Process } else { Costs::Time })
            .with_timeline(self.timeline.handle())
    }
}

impl ExtentArgs {
    /// Adds these words to `options`.
    pub fn apply(self, options: ReadOptions) -> ReadOptions {
        let options = options.with_offset(self.offset);
        match self.length {
            Some(length) => options.with_len(length),
            None => options,
        }
    }
}

impl FlowArgs {
    /// Adds these words to `options`.
    pub fn apply(&self, options: ReadOptions) -> ReadOptions {
        let options = options
            .with_workers(self.workers)
            .with_chunk_size(self.chunk_size)
            .with_queue_depth(self.queue_depth)
            .with_page_cache(self.page_cache)
            .with_reuse(if self.once { Reuse::Once } else { Reuse::Unknown })
            .with_growth(self.follow_size)
            .with_rate_bytes_per_s(self.rate.unwrap_or(0));
        match self.io_priority {
            Some(priority) => options.with_io_priority(priority),
            None => options,
        }
    }
}

/// The default level of best effort.
const USUAL_LEVEL: u8 = 4;

fn parse_priority(word: &str) -> Result<IoPriority, String> {
    let (class, level) = word.split_once(':').unwrap_or((word, ""));
    let level = match level {
        "" => USUAL_LEVEL,
        digits => {
            let level = digits.parse().ok().filter(|&level: &u8| level < 8);
            level.ok_or_else(|| format!("`{digits}` is not a level from 0 to 7"))?
        }
    };
    match class {
        "idle" if word == class => Ok(IoPriority::Idle),
        "idle" => Err(String::from("`idle` has no levels")),
        "best-effort" => Ok(IoPriority::BestEffort(level)),
        "real-time" => Ok(IoPriority::RealTime(level)),
        _ => Err(String::from("use idle, best-effort or real-time")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        how: ReadArgs,
    }

    fn parsed(words: &[&str]) -> Result<ReadArgs, clap::Error> {
        Only::try_parse_from(["only"].iter().chain(words)).map(|only| only.how)
    }

    #[test]
    fn every_word_of_the_library_is_one_of_the_command_line() {
        for (word, engine) in Engine::WORDS {
            let how = parsed(&["--engine", word]).expect("a word of the list");
            assert_eq!(how.engine.engine, *engine);
        }
        for (word, way) in PageCache::WORDS {
            let how = parsed(&["--page-cache", word]).expect("a word of the list");
            assert_eq!(how.flow.page_cache, *way);
        }
        for (word, advice) in Advice::WORDS {
            let how = parsed(&["--advice", word]).expect("a word of the list");
            assert_eq!(how.engine.advice, *advice);
        }
        for (word, schedule) in Schedule::WORDS {
            let how = parsed(&["--schedule", word]).expect("a word of the list");
            assert_eq!(how.engine.schedule, *schedule);
        }
    }

    #[test]
    fn nothing_said_leaves_every_choice_to_the_library() {
        let how = parsed(&[]).expect("nothing is required");
        let (ours, library) = (how.options(), ReadOptions::new());
        assert_eq!(format!("{ours:?}"), format!("{library:?}"));
    }

    #[test]
    fn map_flags_are_a_list() {
        let how = parsed(&["--map-flags", "populate,huge-page"]).expect("two flags");
        assert_eq!(how.engine.map_flags, [MapFlag::Populate, MapFlag::HugePage]);
        assert!(parsed(&["--map-flags", "lock"]).is_err());
    }

    #[test]
    fn a_negative_size_is_refused_as_such() {
        let error = parsed(&["--offset", "-5"]).expect_err("negative").to_string();
        assert!(error.contains("cannot be negative"), "{error}");
    }

    #[test]
    fn priorities_have_levels_where_their_class_has() {
        assert_eq!(parse_priority("idle"), Ok(IoPriority::Idle));
        assert_eq!(parse_priority("best-effort"), Ok(IoPriority::BestEffort(4)));
        assert_eq!(parse_priority("real-time:0"), Ok(IoPriority::RealTime(0)));
        assert_eq!(parse_priority("best-effort:7"), Ok(IoPriority::BestEffort(7)));
        for wrong in ["best-effort:8", "idle:1", "urgent", "real-time:x"] {
            assert!(parse_priority(wrong).is_err(), "{wrong}");
        }
    }
}
