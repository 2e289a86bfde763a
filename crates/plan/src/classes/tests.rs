use super::simulate::{Dice, Script, SimulatedRun, UNIT};
use super::*;
use crate::extent::Extent;
use proptest::prelude::*;

fn item(offset: u64, end: u64, class: u32) -> Item {
    Item { file: 0, extent: Extent::between(offset, end), class }
}

fn arranged(items: &[Item], window: usize, slots: usize) -> Arc<Arranged> {
    Arc::new(Arranged::new(items, Shape { window, slots }))
}

fn machine(items: &[Item], window: usize, slots: usize) -> Classes {
    let arranged = arranged(items, window, slots);
    let ways = vec![Way::Buffered; arranged.files()];
    Classes::new(ClassSetup {
        arranged,
        ways,
        retries: 1,
        pause: Pause::default(),
        rate_bytes_per_s: None,
    })
}

fn lease(action: Action<ClassLease>) -> ClassLease {
    match action {
        Action::Read(lease) => lease,
        other => panic!("expected a read, got {other:?}"),
    }
}

fn whole(classes: &mut Classes, lease: &ClassLease) -> Verdict {
    classes.completed(lease, lease.places.len(), Outcome::Complete, 0)
}

#[test]
fn study_as_plan_gives_what_is_left_over_to_the_last_chunk() {
    let items: Vec<_> = by_position(Extent::between(100, 110), 4, 2).collect();
    let ends: Vec<_> = items.iter().map(|item| item.extent.end()).collect();
    assert_eq!(ends, [102, 104, 106, 110]);
    assert_eq!(items.iter().map(|item| item.class).collect::<Vec<_>>(), [0, 0, 1, 1]);
    let many: Vec<_> = by_position(Extent::between(0, 3), 10, 10).collect();
    assert_eq!(many.len(), 3, "no more chunks than bytes");
    assert_eq!(many.last().map(|item| item.class), Some(2));
    let empty: Vec<_> = by_position(Extent::between(7, 7), 0, 0).collect();
    assert_eq!(empty, [item(7, 7, 0)]);
    let last = by_position(Extent::between(0, u64::MAX), 1_000_000, 1000).last();
    assert_eq!(last.map(|item| (item.extent.end(), item.class)), Some((u64::MAX, 999)));
}

#[test]
fn neighbouring_chunks_of_a_class_are_read_together() {
    // As in the study: 1.3 GB, 100,000 chunks, 1,000 classes.
    let items: Vec<_> = by_position(Extent::between(0, 1_300_000_000), 100_000, 1000).collect();
    let arranged = arranged(&items, 0, 16);
    assert_eq!((arranged.classes(), arranged.pieces().len()), (1000, 5000));
    assert_eq!(arranged.spans().len(), 1);
    assert_eq!(arranged.window(), 7, "two pieces for each of 16 slots");
    assert_eq!((arranged.len(), arranged.bytes(3)), (1_300_000_000, 1_300_000));
    assert_eq!(self::arranged(&items, 0, 2).window(), 8, "16 pieces");
    let strict = self::arranged(&items, 1, 16);
    assert!(strict.pieces().len() >= 9_000, "a class is cut so that several slots have work");
    let few: Vec<_> = by_position(Extent::between(0, 1_300_000_000), 100_000, 4).collect();
    let few = self::arranged(&few, 0, 16);
    assert_eq!((few.pieces().len(), few.window()), (1240, 2), "about 1 MiB each");
}

#[test]
fn bytes_listed_twice_are_read_once_and_count_for_both_classes() {
    let items = [item(0, 30, 5), item(10, 20, 9), item(30, 40, 5), item(10, 20, 9)];
    let arranged = arranged(&items, 0, 1);
    let pieces: Vec<_> = arranged
        .pieces()
        .iter()
        .map(|piece| (piece.extent.end(), arranged.classes_of(piece).to_vec()))
        .collect();
    assert_eq!(pieces, [(10, vec![0]), (20, vec![0, 1]), (40, vec![0])]);
    assert_eq!((arranged.bytes(0), arranged.bytes(1), arranged.len()), (40, 10, 40));
    let mut classes = machine(&items, 1, 1);
    let lease = lease(classes.next(0));
    assert_eq!((lease.class, lease.places.len()), (0, 3));
    whole(&mut classes, &lease);
    assert_eq!((classes.next_complete(), classes.next_complete()), (Some(1), Some(0)));
    assert_eq!(classes.next(0), Action::Done);
}

#[test]
fn holes_take_no_memory_and_files_start_at_a_cache_line() {
    let mut items = vec![item(1000, 1010, 0), item(5000, 5010, 1)];
    items.push(Item { file: 2, ..item(7, 9, 0) });
    let arranged = arranged(&items, 0, 1);
    assert_eq!(arranged.place(0, Extent::between(1002, 1010)), Some(2));
    assert_eq!(arranged.place(0, Extent::between(5000, 5010)), Some(10));
    assert_eq!(arranged.place(2, Extent::between(8, 9)), Some(65));
    assert_eq!((arranged.len(), arranged.files()), (66, 3));
    for nowhere in [(999, 1001), (1009, 1011), (1010, 5000), (5009, 5011)] {
        let extent = Extent::between(nowhere.0, nowhere.1);
        assert_eq!(arranged.place(0, extent), None, "{extent}");
    }
    assert_eq!(arranged.place(1, Extent::between(0, 1)), None);
    assert!(arranged.spans_of(1).is_empty());
}

#[test]
fn an_empty_plan_is_done_and_empty_classes_are_complete_at_once() {
    let mut none = machine(&[], 1, 4);
    assert_eq!((none.next(0), none.all_complete()), (Action::Done, true));
    let mut classes = machine(&[item(5, 5, 3), item(0, 1, 7)], 1, 4);
    assert_eq!(classes.next_complete(), Some(0));
    assert_eq!(lease(classes.next(0)).class, 1);
}

#[test]
fn strict_slots_park_until_the_class_before_is_complete() {
    let mut classes = machine(&[item(0, 10, 0), item(10, 20, 1)], 1, 2);
    let first = lease(classes.next(0));
    assert_eq!(classes.next(0), Action::Park);
    assert!(!classes.has_more(0));
    whole(&mut classes, &first);
    assert!(classes.has_more(0));
    assert_eq!(lease(classes.next(0)).class, 1);
    assert_eq!((classes.next(0), classes.max_skew()), (Action::Done, 1));
}

#[test]
fn a_failed_piece_is_tried_again_alone_and_only_so_often() {
    // Scattered, so that one lease has three pieces.
    let items = [item(0, 1, 0), item(2, 3, 0), item(4, 5, 0)];
    let mut classes = machine(&items, 1, 1);
    let all = lease(classes.next(0));
    assert_eq!(all.places, 0..3);
    assert_eq!(classes.completed(&all, 1, Outcome::Passing { after: 0 }, 0), Verdict::Retry);
    let again = lease(classes.next(0));
    assert_eq!((again.places.clone(), again.tried), (1..2, 1));
    let rest = lease(classes.next(0));
    assert_eq!((rest.places.clone(), rest.tried), (2..3, 0));
    assert_eq!(whole(&mut classes, &rest), Verdict::Continue);
    assert_eq!(classes.completed(&again, 0, Outcome::Passing { after: 0 }, 0), Verdict::Failed);
    assert_eq!((classes.next(0), classes.all_complete()), (Action::Stop, false));
}

#[test]
fn what_is_to_be_tried_later_holds_up_no_other_class() {
    let mut classes = machine(&[item(0, 1, 0), item(2, 3, 1)], 2, 1);
    let first = lease(classes.next(0));
    let passing = Outcome::Passing { after: 1000 };
    assert_eq!(classes.completed(&first, 0, passing, 10), Verdict::Retry);
    let second = lease(classes.next(11));
    assert_eq!((second.class, classes.has_more(11)), (1, false));
    whole(&mut classes, &second);
    let Action::WaitUntil(at) = classes.next(12) else { panic!("nothing else is left") };
    assert!((1010..=1260).contains(&at), "{at}");
    assert!(!classes.has_more(at - 1) && classes.has_more(at));
    assert_eq!(lease(classes.next(at)).class, 0);
}

#[test]
fn a_refused_direct_read_turns_the_rest_of_its_file_into_buffered_ones() {
    let mut items = vec![item(0, 1, 0), item(2, 3, 1)];
    items.push(Item { file: 1, ..item(0, 1, 2) });
    let arranged = arranged(&items, 3, 1);
    let ways = vec![Way::Direct; 2];
    let setup = ClassSetup {
        arranged,
        ways,
        retries: 0,
        pause: Pause::default(),
        rate_bytes_per_s: None,
    };
    let mut classes = Classes::new(setup);
    let first = lease(classes.next(0));
    assert_eq!(classes.completed(&first, 0, Outcome::Refused, 0), Verdict::FellBack);
    let ways: Vec<_> = (0..3).map(|_| lease(classes.next(0)).way).collect();
    assert_eq!(ways, [Way::Buffered, Way::Buffered, Way::Direct]);
}

#[test]
fn a_class_that_is_asked_for_begins_next_but_never_before_one_that_has_begun() {
    let apart = |class: u32| item(u64::from(class) * 10, u64::from(class) * 10 + 5, class);
    let items: Vec<_> = (0..5).map(apart).collect();
    let mut classes = machine(&items, 5, 5);
    assert_eq!(lease(classes.next(0)).class, 0);
    assert!(classes.promote(3) && classes.promote(4));
    assert!(!classes.promote(0), "it has begun");
    assert!(!classes.promote(17), "there is no such class");
    assert_eq!(classes.order(), [0, 4, 3, 1, 2]);
    let order: Vec<_> = (0..4).map(|_| lease(classes.next(0)).class).collect();
    assert_eq!(order, [4, 3, 1, 2]);
}

#[test]
fn the_rate_limit_and_stop_hold_here_too() {
    let arranged = arranged(&[item(0, 4, 0), item(4, 8, 1)], 2, 1);
    let rate_bytes_per_s = NonZeroU64::new(4);
    let ways = vec![Way::Buffered];
    let mut classes = Classes::new(ClassSetup {
        arranged,
        ways,
        retries: 0,
        pause: Pause::default(),
        rate_bytes_per_s,
    });
    lease(classes.next(0));
    assert_eq!(classes.next(0), Action::WaitUntil(1_000_000_000));
    lease(classes.next(1_000_000_000));
    assert_eq!(classes.in_flight(), 2);
    classes.stop();
    assert_eq!(classes.next(u64::MAX), Action::Stop);
}

#[test]
fn every_line_comes_up_once_with_its_last_piece() {
    let mut dice = Dice(7);
    for seed in 0..300 {
        let script = Script::random(dice.roll(u64::MAX), 2);
        let arranged = Arranged::new(&script.items, script.shape);
        let mut chunks = Chunks::new(&script.items, &arranged);
        let (mut there, mut seen) = (vec![false; arranged.pieces().len()], Vec::new());
        let mut left: Vec<_> = (0..there.len()).collect();
        while !left.is_empty() {
            let piece = left.swap_remove(dice.index(left.len()));
            there[piece] = true;
            let before = seen.len();
            chunks.done(piece, &mut seen);
            for &line in &seen[before..] {
                let Item { file, extent, .. } = script.items[line];
                let over = arranged.pieces().iter().zip(&there).filter(|(piece, _)| {
                    piece.file == file && !piece.extent.intersect(extent).is_empty()
                });
                assert!(over.into_iter().all(|(_, &there)| there), "seed {seed}");
            }
        }
        seen.sort_unstable();
        let all = (0..script.items.len()).filter(|&line| !script.items[line].extent.is_empty());
        assert_eq!(seen, all.collect::<Vec<_>>(), "seed {seed}");
    }
}

#[test]
fn strict_mode_has_no_violation_in_10_000_scheduled_runs() {
    let mut parked = 0;
    for seed in 0..10_000 {
        let seen = SimulatedRun::new(Script::random(seed, 1)).go();
        assert!(seen.violations.is_empty(), "seed {seed}: {:?}", seen.violations);
        assert!(seen.max_skew <= 1, "seed {seed}: {}", seen.max_skew);
        parked += seen.parked;
    }
    assert!(parked > 10_000, "the window was put to the test: {parked}");
}

#[test]
fn the_skew_is_never_above_the_window() {
    let mut reached = [0; 6];
    for seed in 0..4_000 {
        let window = 2 + usize::try_from(seed % 4).expect("small");
        let seen = SimulatedRun::new(Script::random(seed, window)).go();
        assert!(seen.violations.is_empty(), "seed {seed}: {:?}", seen.violations);
        assert!(seen.max_skew <= window, "seed {seed}: {} of {window}", seen.max_skew);
        reached[window] += usize::from(seen.max_skew == window);
    }
    assert!(reached[2..].iter().all(|&times| times > 0), "and it is used: {reached:?}");
}

#[test]
fn a_window_that_is_one_too_wide_is_found() {
    let mut found = 0;
    for seed in 0..200 {
        let script = Script { promised: 1, ..Script::random(seed, 2) };
        found += usize::from(!SimulatedRun::new(script).go().violations.is_empty());
    }
    assert!(found > 20, "the checker finds the planted faults: {found}");
}

#[test]
fn strict_classes_are_announced_in_order() {
    for seed in 0..500 {
        let script = Script { promotions: 0, ..Script::random(seed, 1) };
        let arranged = Arranged::new(&script.items, script.shape);
        if arranged.is_shared() {
            continue;
        }
        let empty = |&class: &usize| arranged.bytes(class) == 0;
        let seen = SimulatedRun::new(script).go();
        let announced: Vec<_> = seen.announced.iter().copied().filter(|c| !empty(c)).collect();
        assert!(announced.is_sorted(), "seed {seed}: {announced:?}");
    }
}

proptest! {
    #[test]
    fn pieces_tile_what_is_listed_and_their_places_do_not_overlap(
        seed in any::<u64>(), window in 0_usize..4,
    ) {
        let script = Script::random(seed, window);
        let arranged = Arranged::new(&script.items, script.shape);
        let mut end = 0;
        for piece in arranged.pieces() {
            prop_assert!(!piece.extent.is_empty() && piece.place >= end);
            end = piece.place + piece.extent.len();
            prop_assert_eq!(arranged.place(piece.file, piece.extent), Some(piece.place));
            let classes = arranged.classes_of(piece);
            for unit in (piece.extent.offset()..piece.extent.end()).step_by(4096) {
                let unit = Extent::between(unit, unit + UNIT);
                let over = script.items.iter().filter(|item| {
                    item.file == piece.file && !item.extent.intersect(unit).is_empty()
                });
                let listed = over.map(|item| arranged.index(item.class).expect("listed"));
                let mut listed: Vec<_> = listed.collect();
                listed.sort_unstable();
                listed.dedup();
                prop_assert_eq!(&listed, classes);
            }
        }
        prop_assert_eq!(end, arranged.len());
        for item in script.items.iter().filter(|item| !item.extent.is_empty()) {
            prop_assert!(arranged.place(item.file, item.extent).is_some());
            prop_assert_eq!(item.extent.offset() % UNIT, 0);
        }
    }
}
