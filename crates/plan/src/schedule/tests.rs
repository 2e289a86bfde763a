use super::*;
use alloc::vec;
use proptest::prelude::*;

fn run(offset: u64, end: u64, way: Way) -> Run {
    Run { extent: Extent::between(offset, end), way }
}

fn setup(queues: Vec<Vec<Run>>, slots: Vec<Vec<usize>>, size: u64) -> ScheduleSetup {
    let cut = LeaseCut { base: 0, size: NonZeroU64::new(size).expect("positive") };
    ScheduleSetup {
        queues,
        slots,
        cut,
        retries: 1,
        pause: Pause::default(),
        ahead: None,
        rate_bytes_per_s: None,
    }
}

fn one_queue(end: u64, size: u64) -> Scheduler {
    Scheduler::new(setup(vec![vec![run(0, end, Way::Buffered)]], vec![vec![0]; 2], size))
}

fn expect_read(action: Action) -> Lease {
    match action {
        Action::Read(lease) => lease,
        other => panic!("expected a read, got {other:?}"),
    }
}

#[test]
fn slots_pull_neighbouring_leases_until_all_is_done() {
    let mut scheduler = one_queue(10, 4);
    let ends: Vec<_> =
        (0..3).map(|turn| expect_read(scheduler.next(turn % 2, 0)).extent.end()).collect();
    assert_eq!(ends, [4, 8, 10]);
    assert_eq!(scheduler.next(0, 0), Action::Done);
    assert_eq!(scheduler.in_flight(), 3);
}

#[test]
fn a_slot_serves_its_second_queue_only_when_its_first_is_empty() {
    let queues = vec![vec![run(0, 4, Way::Buffered)], vec![run(4, 8, Way::Direct)]];
    let mut scheduler = Scheduler::new(setup(queues, vec![vec![0], vec![1, 0]], 4));
    assert_eq!(expect_read(scheduler.next(1, 0)).way, Way::Direct);
    assert_eq!(expect_read(scheduler.next(1, 0)).way, Way::Buffered);
    assert_eq!(scheduler.next(0, 0), Action::Done);
    assert_eq!(scheduler.next(7, 0), Action::Done, "no such slot");
}

#[test]
fn leases_are_cut_at_the_base_wherever_the_run_starts() {
    let mut setup = setup(vec![vec![run(3, 20, Way::Direct)]], vec![vec![0]], 8);
    setup.cut.base = 4;
    let mut scheduler = Scheduler::new(setup);
    let cuts: Vec<_> = core::iter::from_fn(|| match scheduler.next(0, 0) {
        Action::Read(lease) => Some(lease.extent.end()),
        _ => None,
    })
    .collect();
    assert_eq!(cuts, [4, 12, 20]);
}

#[test]
fn what_has_not_been_given_out_may_be_cut_anew() {
    let mut scheduler = one_queue(20, 2);
    let mut ends = Vec::new();
    for least in [8, 8, 1, 1, 1] {
        if let Action::Read(lease) = scheduler.next(0, 0) {
            ends.push(lease.extent.end());
        }
        scheduler.cut_by(NonZeroU64::new(least).expect("positive"));
    }
    assert_eq!(ends, [2, 8, 16, 18, 20]);
}

#[test]
fn a_passing_failure_is_tried_again_before_anything_else_and_only_so_often() {
    let mut scheduler = one_queue(8, 4);
    let lease = expect_read(scheduler.next(0, 0));
    assert_eq!(scheduler.completed(lease, Outcome::Passing { after: 0 }, 0), Verdict::Retry);
    let again = expect_read(scheduler.next(1, 0));
    assert_eq!((again.extent, again.tried), (lease.extent, 1));
    assert_eq!(scheduler.completed(again, Outcome::Passing { after: 0 }, 0), Verdict::Failed);
    assert_eq!(scheduler.next(0, 0), Action::Stop);
}

#[test]
fn a_refused_direct_read_turns_everything_left_into_buffered_reads() {
    let queues = vec![vec![run(0, 12, Way::Direct)]];
    let mut scheduler = Scheduler::new(setup(queues, vec![vec![0]; 2], 4));
    let (first, second) = (scheduler.next(0, 0), scheduler.next(1, 0));
    let (first, second) = (expect_read(first), expect_read(second));
    assert_eq!(scheduler.completed(first, Outcome::Refused, 0), Verdict::FellBack);
    assert_eq!(scheduler.completed(second, Outcome::Refused, 0), Verdict::FellBack);
    for _ in 0..3 {
        assert_eq!(expect_read(scheduler.next(0, 0)).way, Way::Buffered);
    }
    assert_eq!(scheduler.next(0, 0), Action::Done);
    let buffered = Lease { way: Way::Buffered, ..first };
    assert_eq!(scheduler.completed(buffered, Outcome::Refused, 0), Verdict::Failed);
}

#[test]
fn nothing_starts_further_ahead_than_the_bound() {
    let mut setup = setup(vec![vec![run(0, 16, Way::Buffered)]], vec![vec![0]; 4], 4);
    setup.ahead = NonZeroU64::new(8);
    let mut scheduler = Scheduler::new(setup);
    assert_eq!(expect_read(scheduler.next(0, 0)).extent.end(), 4);
    assert_eq!(expect_read(scheduler.next(1, 0)).extent.end(), 8);
    assert_eq!(scheduler.next(2, 0), Action::Park);
    scheduler.released(4);
    assert_eq!(expect_read(scheduler.next(2, 0)).extent.end(), 12);
    scheduler.released(0);
    assert_eq!(scheduler.next(3, 0), Action::Park, "a release is never taken back");
}

#[test]
fn a_bound_below_one_lease_still_lets_one_go() {
    let mut setup = setup(vec![vec![run(0, 8, Way::Buffered)]], vec![vec![0]; 2], 4);
    setup.ahead = NonZeroU64::new(1);
    let mut scheduler = Scheduler::new(setup);
    assert_eq!(expect_read(scheduler.next(0, 0)).extent.end(), 4);
    assert_eq!(scheduler.next(1, 0), Action::Park);
    scheduler.released(4);
    assert_eq!(expect_read(scheduler.next(1, 0)).extent.end(), 8);
}

#[test]
fn the_rate_limit_spreads_leases_over_time() {
    let mut setup = setup(vec![vec![run(0, 12, Way::Buffered)]], vec![vec![0]], 4);
    setup.rate_bytes_per_s = NonZeroU64::new(4);
    let mut scheduler = Scheduler::new(setup);
    expect_read(scheduler.next(0, 0));
    assert_eq!(scheduler.next(0, 0), Action::WaitUntil(1_000_000_000));
    expect_read(scheduler.next(0, 1_000_000_000));
    assert_eq!(scheduler.next(0, 1_999_999_999), Action::WaitUntil(2_000_000_000));
    expect_read(scheduler.next(0, 2_000_000_000));
    assert_eq!(
        scheduler.next(0, 2_500_000_000),
        Action::WaitUntil(3_000_000_000),
        "the end too"
    );
    assert_eq!(scheduler.next(0, 3_000_000_000), Action::Done);
}

#[test]
fn a_stopped_scheduler_gives_nothing() {
    let mut scheduler = one_queue(8, 4);
    scheduler.stop();
    assert_eq!(scheduler.next(0, 0), Action::Stop);
}

#[test]
fn what_is_to_be_tried_later_holds_up_nothing_else() {
    const MS: Nanos = 1_000_000;
    let mut setup = setup(vec![vec![run(0, 12, Way::Buffered)]], vec![vec![0]; 2], 4);
    setup.pause = Pause { first: 10 * MS, seed: 1 };
    let mut scheduler = Scheduler::new(setup);
    let lease = expect_read(scheduler.next(0, 0));
    let passing = Outcome::Passing { after: 100 * MS };
    assert_eq!(scheduler.completed(lease, passing, 5 * MS), Verdict::Retry);
    assert_eq!(expect_read(scheduler.next(0, 6 * MS)).extent.offset(), 4);
    assert_eq!(expect_read(scheduler.next(1, 6 * MS)).extent.offset(), 8);
    let Action::WaitUntil(at) = scheduler.next(0, 7 * MS) else {
        panic!("nothing else is left")
    };
    assert!((105 * MS..=130 * MS).contains(&at), "{at}");
    assert_eq!(scheduler.next(1, at - 1), Action::WaitUntil(at));
    let again = expect_read(scheduler.next(1, at));
    assert_eq!((again.extent, again.tried), (lease.extent, 1));
    assert_eq!(scheduler.next(0, at), Action::Done);
}

#[test]
fn where_leases_are_taken_in_turn_what_is_tried_later_comes_before_what_is_behind_it() {
    const MS: Nanos = 1_000_000;
    let mut setup = setup(vec![vec![run(0, 12, Way::Buffered)]], vec![vec![0]; 2], 4);
    setup.pause = Pause { first: 10 * MS, seed: 1 };
    let mut scheduler = Scheduler::new(setup);
    scheduler.keep_order();
    let lease = expect_read(scheduler.next(0, 0));
    let passing = Outcome::Passing { after: 0 };
    assert_eq!(scheduler.completed(lease, passing, 5 * MS), Verdict::Retry);
    let Action::WaitUntil(at) = scheduler.next(0, 6 * MS) else {
        panic!("the failed lease has to be retried")
    };
    assert_eq!(expect_read(scheduler.next(0, at)).extent, lease.extent);
    assert_eq!(expect_read(scheduler.next(1, at)).extent.offset(), 4);
}

#[test]
fn pauses_double_differ_and_are_never_shorter_than_asked() {
    const MS: Nanos = 1_000_000;
    let mut pause = Pause { first: 10 * MS, seed: 3 };
    for tried in 0..4 {
        let drawn: Vec<_> = (0..100).map(|_| pause.draw(tried, 0)).collect();
        let full = (10 * MS) << tried;
        assert!(drawn.iter().all(|&pause| pause >= full / 2 && pause <= full), "{drawn:?}");
        assert!(drawn.iter().any(|&pause| pause != drawn[0]), "they differ");
    }
    assert!((1000 * MS..=2000 * MS).contains(&pause.draw(u32::MAX, 0)), "bounded");
    assert!((0..100).all(|_| pause.draw(0, 3000 * MS) >= 3000 * MS));
    assert_eq!(pause.draw(0, Nanos::MAX), Nanos::MAX);
    assert_eq!(Pause::default().draw(9, 0), 0, "no pause is requested");
}

proptest! {
    /// Whatever the runs, slots, cuts and transient failures: every byte completes exactly once.
    #[test]
    fn every_byte_is_read_exactly_once(
        ends in prop::collection::vec(0_u64..50, 1..6),
        size in 1_u64..20, base in 0_u64..30, slots in 1_usize..5,
        order in prop::collection::vec(0_usize..100, 1..60),
    ) {
        let mut queues = vec![Vec::new(), Vec::new()];
        let mut at = 0;
        for (index, len) in ends.iter().enumerate() {
            let way = if index % 2 == 0 { Way::Buffered } else { Way::Direct };
            queues[index % 2].push(run(at, at + len, way));
            at += len;
        }
        let mut setup = setup(queues, vec![vec![0, 1]; slots], size);
        setup.cut.base = base;
        let mut scheduler = Scheduler::new(setup);
        let mut seen = vec![0; usize::try_from(at).expect("small")];
        let mut turns = order.iter().cycle();
        loop {
            let turn = *turns.next().expect("endless");
            match scheduler.next(turn % slots, 0) {
                Action::Read(lease) if turn % 3 == 0 && lease.tried == 0 => {
                    prop_assert_eq!(scheduler.completed(lease, Outcome::Passing { after: 0 }, 0), Verdict::Retry);
                }
                Action::Read(lease) => {
                    for offset in lease.extent.offset()..lease.extent.end() {
                        seen[usize::try_from(offset).expect("small")] += 1;
                    }
                    scheduler.completed(lease, Outcome::Complete, 0);
                }
                Action::Done => break,
                other => prop_assert!(false, "{:?}", other),
            }
        }
        prop_assert!(seen.iter().all(|&times| times == 1), "{:?}", seen);
    }
}
