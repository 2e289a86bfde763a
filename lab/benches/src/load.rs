//! The cores that other programs kept busy while a case ran.

use std::fs;

/// CPU time since the machine started, in the kernel's ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CpuTicks {
    /// Busy or idle, over all cores.
    all: u64,
    /// Without work.
    idle: u64,
    /// Taken by the host.
    stolen: u64,
    /// Used by this process, the one that started it, and the children of both that have ended.
    own: u64,
    cores: u64,
}

/// Cores that were not free for a case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ForeignLoad {
    /// Kept busy by other programs and by the kernel's own threads.
    pub(crate) busy: f64,
    /// Taken by the host of a virtual machine.
    pub(crate) stolen: f64,
}

impl CpuTicks {
    /// Reads the counters; `None` without `/proc`.
    pub(crate) fn now() -> Option<Self> {
        let parent = std::os::unix::process::parent_id();
        let own = ["self".to_owned(), parent.to_string()]
            .iter()
            .filter_map(|process| fs::read_to_string(format!("/proc/{process}/stat")).ok())
            .filter_map(|text| ticks_of_process(&text))
            .sum();
        Self::parse(&fs::read_to_string("/proc/stat").ok()?, own)
    }

    fn parse(text: &str, own: u64) -> Option<Self> {
        let numbered = |line: &str| {
            line.strip_prefix("cpu")
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        let cores = text.lines().filter(|line| numbered(line)).count() as u64;
        let total = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
        // user, nice, system, idle, waiting, interrupts, soft interrupts, stolen; guests are users.
        let ticks: Vec<u64> =
            total.split_whitespace().take(8).map_while(|it| it.parse().ok()).collect();
        let &[.., idle, waiting, _, _, stolen] = &*ticks else { return None };
        Some(Self { all: ticks.iter().sum(), idle: idle + waiting, stolen, own, cores })
    }

    /// Returns the load between two moments.
    pub(crate) fn since(&self, earlier: &Self) -> ForeignLoad {
        let of = |ticks: fn(&Self) -> u64| ticks(self).saturating_sub(ticks(earlier));
        let a_core = (of(|it| it.all) as f64 / self.cores.max(1) as f64).max(1.0);
        let busy = of(|it| it.all).saturating_sub(of(|it| it.idle) + of(|it| it.stolen));
        let foreign = busy.saturating_sub(of(|it| it.own));
        ForeignLoad {
            busy: foreign as f64 / a_core,
            stolen: of(|it| it.stolen) as f64 / a_core,
        }
    }
}

/// Returns the ticks of a process and of its children that have ended, from its `stat`.
fn ticks_of_process(text: &str) -> Option<u64> {
    // The name in parentheses may hold anything; 11 numbers follow it before the times.
    let (_, rest) = text.rsplit_once(')')?;
    let times: Vec<u64> =
        rest.split_whitespace().skip(11).take(4).map_while(|it| it.parse().ok()).collect();
    (times.len() == 4).then(|| times.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_load_is_what_is_neither_idle_nor_ours() {
        let text = |user: u64, idle: u64, stolen: u64| {
            format!("cpu  {user} 0 10 {idle} 5 0 0 {stolen} 0 0\ncpu0 1 2\ncpu1 1 2\nintr 5\n")
        };
        let before = CpuTicks::parse(&text(100, 1000, 0), 40).expect("counters");
        let after = CpuTicks::parse(&text(200, 1090, 10), 120).expect("counters");
        assert_eq!((before.cores, before.all), (2, 1115));
        // 200 ticks of two cores: 100 busy, 80 of them ours, 10 stolen.
        assert_eq!(after.since(&before), ForeignLoad { busy: 0.2, stolen: 0.1 });
        assert_eq!(CpuTicks::parse("cpu  1 2 3\n", 0), None);
    }

    #[test]
    fn the_times_of_a_process_follow_its_name() {
        let text = "7 (a) b (c)) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 20 0";
        assert_eq!(ticks_of_process(text), Some(11 + 12 + 13 + 14));
        assert_eq!(ticks_of_process("7 (a) S 1"), None);
        let here = CpuTicks::now().expect("Linux has /proc");
        assert!(here.all >= here.idle + here.stolen && here.cores > 0);
    }
}
