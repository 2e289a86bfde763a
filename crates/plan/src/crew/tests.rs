//! Sources with a virtual clock: how long a read of this many requests takes with a crew.

use alloc::collections::BinaryHeap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::*;

const MS: Nanos = 1_000_000;
/// The time to start a thread.
const START: Nanos = 30_000;

/// A source that works on this many requests at a time; `takes` returns the time of each by its
/// number.
struct Model {
    lanes: usize,
    takes: fn(u64) -> Nanos,
}

#[derive(Debug)]
struct Seen {
    took: Nanos,
    peak: usize,
    /// Workers that ran when the last request was answered.
    left: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Foreman,
    Free(usize),
    Landed(usize, Nanos),
}

fn run(model: &Model, requests: u64, bounds: Bounds) -> Seen {
    let mut crew = Crew::new(bounds);
    let mut lanes = vec![0; model.lanes];
    let (mut events, mut next, mut landed, mut left) = (BinaryHeap::new(), 0, 0, 0);
    (0..bounds.first).for_each(|slot| events.push(Reverse((0, Event::Free(slot)))));
    while let Some(Reverse((now, event))) = events.pop() {
        match event {
            Event::Free(slot) if slot >= bounds.first && crew.leaves() => {}
            Event::Free(_) if next == requests => {}
            Event::Free(slot) => {
                if crew.asked(now) {
                    events.push(Reverse((now, Event::Foreman)));
                }
                let lane = lanes.iter_mut().min().expect("there is one");
                *lane = now.max(*lane) + (model.takes)(next);
                events.push(Reverse((*lane, Event::Landed(slot, *lane - now))));
                next += 1;
            }
            Event::Landed(slot, elapsed) => {
                crew.landed(now, Answers { count: 1, shortest: elapsed, waited: elapsed });
                (landed, left) = (landed + 1, crew.running);
                if landed == requests {
                    return Seen { took: now, peak: crew.peak(), left };
                }
                events.push(Reverse((now, Event::Free(slot))));
                events.push(Reverse((now, Event::Foreman)));
            }
            Event::Foreman => match crew.step(now) {
                CrewStep::Start(slot) => {
                    events.push(Reverse((now + START, Event::Free(slot))));
                    events.push(Reverse((now + START, Event::Foreman)));
                }
                CrewStep::WaitUntil(at) => events.push(Reverse((at, Event::Foreman))),
                CrewStep::Wait => {}
            },
        }
    }
    panic!("{landed} of {requests} came back, {left} workers left")
}

const MIB: u64 = 1 << 20;
const BOUNDS: Bounds = Bounds { first: 2, most: 64, request_size: MIB, waited_size: 4 * MIB };

#[test]
fn a_source_that_is_waited_for_has_all_requests_in_flight_within_its_first_answer() {
    for requests in [64, 256, 1024] {
        let seen = run(&Model { lanes: 1000, takes: |_| 20 * MS }, requests, BOUNDS);
        let floor = requests / 64 * 20 * MS;
        assert!(seen.took < floor + 6 * MS, "{requests}: {seen:?}, floor {floor}");
        assert_eq!(seen.peak, 64);
    }
}

#[test]
fn a_source_as_fast_as_memory_keeps_its_first_workers() {
    for takes in [|_| 20_000, |_| 200_000, |_| 700_000] {
        let seen = run(&Model { lanes: 1000, takes }, 1000, BOUNDS);
        assert_eq!((seen.peak, seen.left), (2, 2), "{seen:?}");
    }
}

#[test]
fn a_source_that_takes_one_after_the_other_sends_workers_away() {
    let seen = run(&Model { lanes: 1, takes: |_| 20 * MS }, 400, BOUNDS);
    assert_eq!(seen.took, 400 * 20 * MS, "more gain nothing and cost nothing");
    assert!(seen.left <= 4, "{seen:?}");
}

#[test]
fn at_least_twice_and_at_most_four_times_as_many_stay_as_a_source_works_on() {
    for lanes in [4_usize, 8, 16] {
        let seen = run(&Model { lanes, takes: |_| 5 * MS }, 1600, BOUNDS);
        let floor = 1600 / lanes as u64 * 5 * MS;
        assert!(seen.took < floor + floor / 20 + 5 * MS, "{lanes}: {seen:?}, floor {floor}");
        assert!((2 * lanes..=4 * lanes).contains(&seen.left), "{lanes}: {seen:?}");
    }
}

#[test]
fn a_source_that_becomes_slow_gets_more_within_some_answers() {
    let takes = |request| if request < 500 { 100_000 } else { 20 * MS };
    let seen = run(&Model { lanes: 1000, takes }, 500 + 1280, BOUNDS);
    // 20 rounds of 64, and the time of the doublings from 2 on.
    assert!(seen.took < 25 * MS + (20 + 16) * 20 * MS, "{seen:?}");
    assert_eq!(seen.peak, 64);
}

#[test]
fn a_source_of_which_half_comes_at_once_gets_more_as_long_as_that_brings_more() {
    let takes = |request: u64| if request % 5 < 2 { 100_000 } else { 20 * MS };
    let seen = run(&Model { lanes: 1000, takes }, 4000, BOUNDS);
    assert_eq!(seen.peak, 64, "{seen:?}");
    let seen = run(&Model { lanes: 2, takes }, 400, BOUNDS);
    assert!(seen.peak <= 8 && seen.left <= 4, "{seen:?}");
}

#[test]
fn a_source_that_becomes_slower_still_keeps_its_workers() {
    let takes = |request| if request < 640 { 20 * MS } else { 200 * MS };
    let seen = run(&Model { lanes: 1000, takes }, 640 + 1280, BOUNDS);
    assert!(seen.took < (10 + 200 + 40) * 20 * MS, "{seen:?}");
    assert_eq!(seen.left, 64, "{seen:?}");
}

#[test]
fn one_slow_round_sends_nobody_away() {
    let mut crew = Crew::new(BOUNDS);
    crew.asked(0);
    let fill = |crew: &mut Crew, now: Nanos| {
        while matches!(crew.step(now), CrewStep::Start(_)) {}
    };
    fill(&mut crew, 5 * MS);
    let answers = |count| Answers { count, shortest: 20 * MS, waited: count * 20 * MS };
    crew.landed(40 * MS, answers(128));
    crew.landed(80 * MS, answers(90));
    assert!(!crew.leaves(), "the round before was full");
    crew.landed(120 * MS, answers(128));
    assert_eq!((crew.leaves(), crew.running), (false, 64));
}

#[test]
fn failures_halve_what_is_in_flight_and_never_below_the_first() {
    let mut crew = Crew::new(BOUNDS);
    crew.asked(0);
    while matches!(crew.step(5 * MS), CrewStep::Start(_)) {}
    let left = |crew: &mut Crew| {
        while crew.leaves() {}
        crew.running
    };
    let mut seen = Vec::new();
    for _ in 0..7 {
        crew.failed();
        seen.push(left(&mut crew));
    }
    assert_eq!(seen, [32, 16, 8, 4, 2, 2, 2]);
}

#[test]
fn whoever_cannot_be_started_is_not_asked_for_again() {
    let mut crew = Crew::new(BOUNDS);
    crew.asked(0);
    let started =
        (0..).take_while(|_| matches!(crew.step(5 * MS), CrewStep::Start(slot) if slot < 7));
    assert_eq!(started.count(), 5, "slots 2 to 6; slot 7 is the one that is refused");
    crew.refused();
    assert_eq!((crew.step(5 * MS), crew.running, crew.peak()), (CrewStep::Wait, 7, 7));
    crew.landed(50 * MS, Answers { count: 500, shortest: 20 * MS, waited: 10_000 * MS });
    assert_eq!(crew.step(50 * MS), CrewStep::Wait);
}

#[test]
fn before_the_first_request_nothing_is_known() {
    let mut crew =
        Crew::new(Bounds { first: 0, most: 0, request_size: u64::MAX, waited_size: 0 });
    assert_eq!((crew.first(), crew.step(u64::MAX)), (1, CrewStep::Wait));
    assert!(crew.asked(0) && !crew.asked(1));
    let until = Crew::patience(u64::MAX);
    assert_eq!(crew.step(until - 1), CrewStep::WaitUntil(until));
    assert_eq!((crew.shortest(), crew.leaves()), (None, false));
}

#[test]
fn requests_are_large_as_long_as_they_are_waited_for() {
    let mut crew = Crew::new(BOUNDS);
    crew.asked(0);
    crew.step(Crew::patience(MIB) - 1);
    assert_eq!(crew.request_size(), MIB);
    crew.step(Crew::patience(MIB));
    assert_eq!(crew.request_size(), 4 * MIB);
    let mut crew = Crew::new(BOUNDS);
    crew.asked(0);
    let answers = |waited| Answers { count: 8, shortest: MS / 10, waited };
    crew.landed(MS, answers(MS));
    assert_eq!(crew.request_size(), MIB, "memory");
    crew.landed(40 * MS, answers(80 * MS));
    assert_eq!(crew.request_size(), 4 * MIB, "the cached part has ended");
    crew.landed(41 * MS, answers(MS));
    assert_eq!(crew.request_size(), MIB, "memory again");
}
