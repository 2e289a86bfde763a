//! A virtual clock, scripted copies, and what comes of them.

use super::*;
use alloc::vec;
use proptest::prelude::*;

const MIB: u64 = 1 << 20;
const MS: Nanos = 1_000_000;

/// One scripted copy.
#[derive(Clone)]
struct Script {
    copy: Copy,
    /// How long it is busy with one chunk.
    busy: Nanos,
    /// How much longer a chunk takes, by its index; reads in parallel do not wait for it.
    late: fn(u64) -> Nanos,
    /// How a read of a chunk ends.
    ends: fn(u64) -> CopyOutcome,
}

fn good(device: usize, busy: Nanos) -> Script {
    let copy = Copy { device, len: Some(u64::MAX) };
    Script { copy, busy, late: |_| 0, ends: |_| CopyOutcome::Complete }
}

/// The result of a run.
struct Run {
    mirrors: Mirrors,
    /// When the last chunk was there.
    took: Nanos,
    /// The copy that each chunk came from, or `None`.
    from: Vec<Option<usize>>,
    /// Reads in the order in which they began: the chunk and the copy.
    reads: Vec<(u64, usize)>,
    /// How long each chunk took.
    times: Vec<Nanos>,
}

/// A read in flight.
struct Flying {
    lands: Nanos,
    since: Nanos,
    copy: usize,
    worker: usize,
    chunk: u64,
}

struct Worker {
    chunk: u64,
    request: Request,
    since: Nanos,
    until: Option<Nanos>,
}

fn setup(scripts: &[Script], hedging: Option<Hedging>) -> Mirrors {
    let copies = scripts.iter().map(|script| script.copy).collect();
    Mirrors::new(MirrorSetup { copies, give_up_after: 4, hedging })
}

/// Everything that happens at one time.
struct World<'s> {
    scripts: &'s [Script],
    mirrors: Mirrors,
    now: Nanos,
    chunks: u64,
    next_chunk: u64,
    busy_until: Vec<Nanos>,
    flying: Vec<Flying>,
    at_work: Vec<Option<Worker>>,
    from: Vec<Option<usize>>,
    times: Vec<Nanos>,
    reads: Vec<(u64, usize)>,
}

/// Reads `chunks` of 1 MiB by this many workers, each of which waits for its chunk.
fn run(scripts: &[Script], chunks: u64, workers: usize, hedging: Option<Hedging>) -> Run {
    let mut mirrors = setup(scripts, hedging);
    mirrors.expect(chunks * MIB, workers as u64);
    let count = usize::try_from(chunks).expect("few");
    let mut world = World {
        scripts,
        mirrors,
        now: 0,
        chunks,
        next_chunk: 0,
        busy_until: vec![0; scripts.len()],
        flying: Vec::new(),
        at_work: (0..workers).map(|_| None).collect(),
        from: vec![None; count],
        times: vec![0; count],
        reads: Vec::new(),
    };
    while world.from.iter().any(Option::is_none) {
        (0..workers).for_each(|worker| world.work(worker));
        if !world.go_on() {
            break;
        }
    }
    let World { mirrors, now, from, times, reads, .. } = world;
    Run { mirrors, took: now, from, reads, times }
}

impl World<'_> {
    /// Lets one worker do all it can do now.
    fn work(&mut self, index: usize) {
        loop {
            if self.at_work[index].is_none() {
                if self.next_chunk == self.chunks {
                    return;
                }
                let (chunk, since) = (self.next_chunk, self.now);
                self.next_chunk += 1;
                let request =
                    self.mirrors.begin(Extent::between(chunk * MIB, (chunk + 1) * MIB));
                self.at_work[index] = Some(Worker { chunk, request, since, until: None });
            }
            let Some(worker) = &mut self.at_work[index] else { return };
            let (chunk, now) = (worker.chunk, self.now);
            match self.mirrors.next(&mut worker.request, now) {
                MirrorStep::Read { copy, .. } => {
                    let busy = &mut self.busy_until[copy];
                    *busy = now.max(*busy) + self.scripts[copy].busy;
                    let lands = *busy + (self.scripts[copy].late)(chunk);
                    self.reads.push((chunk, copy));
                    self.flying.push(Flying { lands, since: now, copy, worker: index, chunk });
                }
                MirrorStep::Wait(until) => {
                    worker.until = until.filter(|&until| until > now);
                    return;
                }
                MirrorStep::Failed => self.at_work[index] = None,
            }
        }
    }

    /// Lets the next event happen; returns whether there was one.
    fn go_on(&mut self) -> bool {
        let next = (0..self.flying.len()).min_by_key(|&at| (self.flying[at].lands, at));
        let Some(at) = next else {
            assert!(self.at_work.iter().all(Option::is_none), "a worker waits for nothing");
            return false;
        };
        let alarm = self.at_work.iter().flatten().filter_map(|worker| worker.until).min();
        if let Some(alarm) = alarm.filter(|&alarm| alarm < self.flying[at].lands) {
            self.now = alarm;
            return true;
        }
        let Flying { lands, since, copy, worker, chunk } = self.flying.swap_remove(at);
        self.now = lands;
        self.mirrors.landed(copy, MIB, since, lands);
        let place = &mut self.at_work[worker];
        // Otherwise it is no longer waited for.
        if let Some(worker) = place.as_mut().filter(|worker| worker.chunk == chunk) {
            let outcome = (self.scripts[copy].ends)(chunk);
            self.mirrors.completed(&mut worker.request, copy, outcome);
            if outcome == CopyOutcome::Complete {
                let index = usize::try_from(chunk).expect("few");
                self.from[index] = Some(copy);
                self.times[index] = lands - worker.since;
                *place = None;
            }
        }
        true
    }
}

#[test]
fn four_equal_copies_are_four_times_as_fast_as_one() {
    let one = run(&[good(0, 10 * MS)], 64, 2, None);
    assert_eq!(one.took, 640 * MS);
    let scripts: Vec<_> = (0..4).map(|device| good(device, 10 * MS)).collect();
    let four = run(&scripts, 64, 8, None);
    assert_eq!(four.took, 160 * MS);
    assert!((0..4).all(|copy| four.mirrors.tally(copy).chunks == 16));
}

#[test]
fn a_slow_copy_gets_less_and_nothing_that_it_would_be_last_with() {
    for slots in [1, 2, 4] {
        let mut scripts: Vec<_> = (0..4).map(|device| good(device, 5 * MS)).collect();
        scripts[2].busy = 25 * MS;
        let run = run(&scripts, 256, slots * 4, None);
        // Together 3.2 times the speed of one.
        let ideal = 256 * 5 * MS * 10 / 32;
        assert!(run.took * 90 <= ideal * 100, "{slots}: {} against {ideal}", run.took);
        let slow = run.mirrors.tally(2).chunks;
        assert!((10..=18).contains(&slow), "{slots}: {slow} chunks of the slow copy");
    }
}

#[test]
fn copies_of_one_device_are_read_one_at_a_time() {
    let scripts = [good(7, MS), good(3, MS), good(7, MS)];
    let run = run(&scripts, 40, 4, None);
    let chunks: Vec<u64> = (0..3).map(|copy| run.mirrors.tally(copy).chunks).collect();
    assert_eq!((chunks[2], chunks[0] + chunks[1]), (0, 40));
    assert_eq!(run.mirrors.active_count(), 2);
}

#[test]
fn a_spare_takes_the_place_of_a_copy_that_is_given_up() {
    let mut scripts = [good(0, MS), good(0, MS)];
    scripts[0].ends = |_| CopyOutcome::Failed;
    let run = run(&scripts, 20, 1, None);
    assert!(run.from.iter().all(|&from| from == Some(1)));
    assert_eq!(run.mirrors.standing(0), Standing::GivenUp);
    assert_eq!(run.mirrors.tally(0).errors, 4, "a dead copy is not tried again");
    assert_eq!(run.mirrors.tally(0).fail_overs, 4);
    assert!(run.mirrors.is_active(1));
}

#[test]
fn a_copy_that_was_given_up_is_asked_for_what_no_other_has() {
    let mut scripts = [good(0, MS), good(1, MS)];
    scripts[0].ends = |chunk| match chunk {
        15 => CopyOutcome::Complete,
        _ => CopyOutcome::Wrong,
    };
    scripts[1].ends = |chunk| match chunk {
        15 => CopyOutcome::Failed,
        _ => CopyOutcome::Complete,
    };
    let run = run(&scripts, 16, 1, None);
    assert_eq!(run.mirrors.standing(0), Standing::GivenUp);
    assert_eq!(run.from[15], Some(0));
    assert!(run.from[..15].iter().all(|&from| from == Some(1)));
}

#[test]
fn what_lies_before_the_end_of_a_short_copy_is_read_from_it() {
    let mut scripts = [good(0, MS), good(1, MS)];
    scripts[0].ends = |chunk| match chunk {
        0..10 => CopyOutcome::Complete,
        _ => CopyOutcome::EndsAt(10 * MIB),
    };
    let run = run(&scripts, 20, 2, None);
    assert!(run.from.iter().all(Option::is_some));
    assert!(run.mirrors.tally(0).errors <= 2, "its end is remembered");
    assert_eq!(run.mirrors.standing(0), Standing::Good);
    assert!(run.from[..10].contains(&Some(0)));
}

#[test]
fn a_copy_that_changed_is_never_asked_again() {
    let mut scripts = [good(0, MS), good(1, MS)];
    scripts[0].ends = |_| CopyOutcome::Changed;
    scripts[1].ends =
        |chunk| if chunk == 9 { CopyOutcome::Failed } else { CopyOutcome::Complete };
    let run = run(&scripts, 10, 1, None);
    assert_eq!(run.mirrors.standing(0), Standing::Gone);
    assert_eq!(run.reads.iter().filter(|&&(_, copy)| copy == 0).count(), 1);
    assert_eq!((run.from[8], run.from[9]), (Some(1), None));
}

#[test]
fn a_missing_copy_is_never_asked() {
    let mut scripts = [good(0, MS), good(1, MS)];
    scripts[0].copy.len = None;
    let run = run(&scripts, 10, 2, None);
    assert!(run.reads.iter().all(|&(_, copy)| copy == 1));
    assert_eq!(run.mirrors.standing(0), Standing::Gone);
}

const HEDGING: Hedging = Hedging { permille: 50, burst: 4 };

/// Two copies, one of which takes two hundred times as long for every 41st chunk.
fn stalling() -> [Script; 2] {
    let mut scripts = [good(0, MS), good(1, MS)];
    scripts[0].late = |chunk| if chunk % 41 == 40 { 200 * MS } else { 0 };
    scripts
}

#[test]
fn a_second_read_overtakes_a_late_one() {
    let slowest = |hedging| {
        let run = run(&stalling(), 1000, 2, hedging);
        assert!(run.from.iter().all(Option::is_some));
        (run.times.iter().copied().max().expect("some"), run)
    };
    let (plain, _) = slowest(None);
    let (hedged, run) = slowest(Some(HEDGING));
    assert!(plain >= 200 * MS && hedged < 50 * MS, "{plain} {hedged}");
    let (won, lost) = (run.mirrors.tally(1).hedges_won, run.mirrors.tally(1).hedges_lost);
    assert!(won > 0 && run.mirrors.hedges >= won + lost, "{won} {lost}");
}

#[test]
fn the_budget_of_second_reads_is_hard() {
    let mut scripts = [good(0, MS), good(1, MS)];
    // Every third chunk is late: far more than the budget has second reads for.
    scripts[0].late = |chunk| if chunk % 3 == 0 { 50 * MS } else { 0 };
    scripts[1].late = scripts[0].late;
    for burst in [0, 3] {
        let hedging = Hedging { permille: 20, burst };
        let run = run(&scripts, 1000, 4, Some(hedging));
        let most = u64::from(burst) + 20;
        assert!(run.mirrors.hedges <= most, "{} > {most}", run.mirrors.hedges);
        assert_eq!(run.reads.len() as u64, 1000 + run.mirrors.hedges);
    }
    assert_eq!(run(&scripts, 100, 4, None).reads.len(), 100, "off by default");
}

#[test]
fn a_copy_that_hangs_does_not_hang_a_hedged_read() {
    let mut scripts = [good(0, MS), good(1, MS)];
    scripts[0].late = |chunk| if chunk >= 100 { 1_000_000 * MS } else { 0 };
    let hedging = Hedging { permille: 20, burst: 8 };
    let run = run(&scripts, 400, 4, Some(hedging));
    assert!(run.took < 1000 * MS, "{}", run.took);
    assert!(run.from[100..].iter().all(|&from| from == Some(1)));
}

#[test]
fn an_outvoted_copy_did_not_deliver() {
    let mut mirrors = setup(&[good(0, MS), good(1, MS), good(2, MS)], None);
    let mut request = mirrors.begin(Extent::between(0, 10));
    for _ in 0..3 {
        let MirrorStep::Read { copy, .. } = mirrors.next(&mut request, 0) else {
            panic!("each copy is tried once");
        };
        mirrors.landed(copy, 10, 0, 1);
        mirrors.completed(&mut request, copy, CopyOutcome::Complete);
    }
    assert_eq!(mirrors.next(&mut request, 0), MirrorStep::Failed);
    mirrors.outvoted(&mut request, 1);
    let tally = mirrors.tally(1);
    assert_eq!((tally.bytes, tally.chunks, tally.errors, tally.fail_overs), (0, 0, 1, 1));
    assert_eq!(mirrors.tally(0).bytes, 10);
}

proptest! {
    /// Chunks that are good in some copy are delivered from there, whatever else is wrong.
    #[test]
    fn a_chunk_that_any_copy_has_is_delivered(
        faults in proptest::collection::vec(0_u64..64, 1..5), workers in 1_usize..9,
    ) {
        // Bit `n` of a copy's number: whether it fails at chunks with index % 6 == n.
        let mut mirrors = setup(&vec![good(0, MS); faults.len()], None);
        mirrors.expect(48 * MIB, workers as u64);
        for chunk in 0..48_u64 {
            let mut request = mirrors.begin(Extent::between(chunk * MIB, (chunk + 1) * MIB));
            let is_good = |copy: usize| faults[copy] & (1 << (chunk % 6)) == 0;
            let mut from = None;
            while let MirrorStep::Read { copy, .. } = mirrors.next(&mut request, chunk) {
                mirrors.landed(copy, MIB, chunk, chunk + 1);
                let outcome = if is_good(copy) { CopyOutcome::Complete } else { CopyOutcome::Wrong };
                mirrors.completed(&mut request, copy, outcome);
                if outcome == CopyOutcome::Complete {
                    from = Some(copy);
                    break;
                }
            }
            prop_assert_eq!(from.is_some(), (0..faults.len()).any(is_good));
        }
    }
}
