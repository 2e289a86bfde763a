use super::*;
use crate::window::WINDOW_SIZE;
use proptest::prelude::*;

fn facts(len: u64) -> Facts {
    let extent = Extent::between(0, len);
    Facts {
        extent,
        storage: Storage::Local,
        residency: window::windows(extent).map(|_| Residency::Resident).collect(),
        direct: NonZeroU64::new(512),
        ring: true,
        readahead: 128 << 10,
        cores: 2,
        processes: false,
        memory: 1 << 40,
        copies: 0,
        tuning: Tuning::default(),
        hints: Hints::default(),
    }
}

fn cold(len: u64) -> Facts {
    let mut facts = facts(len);
    facts.residency.fill(Residency::Absent);
    facts
}

fn ways(decision: &Decision) -> (u64, u64) {
    let bytes = |way| {
        let runs = decision.queues.iter().flatten().filter(|run| run.way == way);
        runs.map(|run| run.extent.len()).sum()
    };
    (bytes(Way::Buffered), bytes(Way::Direct))
}

const BIG: u64 = 64 * WINDOW_SIZE;

#[test]
fn small_files_take_one_read_and_no_thread() {
    for len in [0, 1, SMALL] {
        let decision = decide(&cold(len), &Wishes::default());
        assert_eq!((decision.engine, decision.workers.len()), (Engine::Serial, 1), "{len}");
    }
    let decision = decide(&cold(SMALL + 1), &Wishes::default());
    assert!(!decision.reason.contains("one read"), "{}", decision.reason);
}

#[test]
fn no_worker_is_started_for_which_there_is_no_lease() {
    let workers = |facts: Facts, wishes: Wishes| {
        let mut decision = decide(&facts, &wishes);
        decision.leave_out_idle();
        decision.workers.len()
    };
    let many = Wishes { workers: 256, ..Wishes::default() };
    for (len, wanted) in
        [(64 << 20, 32), ((64 << 20) + 1, 33), (256 << 20, 128), (1 << 30, 256)]
    {
        assert_eq!(workers(facts(len), many), wanted, "{len} bytes");
        let pool = Wishes { engine: Engine::Pool, ..many };
        assert_eq!(workers(facts(len), pool), wanted, "{len} bytes, pool");
        let apart = Wishes { schedule: Schedule::Static, chunk_size: 256 << 10, ..pool };
        assert_eq!(workers(facts(len), apart), 256, "each has a share of its own");
        let direct = Wishes { page_cache: PageCache::Bypass, ..pool };
        let leases = u64::div_ceil(len, 1 << 20).min(256);
        assert_eq!(workers(facts(len), direct) as u64, leases, "leases of direct reads");
    }
    let mut middle = facts(0);
    middle.extent = Extent::between(1 << 20, (1 << 20) + (5 << 20));
    middle.residency = window::windows(middle.extent).map(|_| Residency::Resident).collect();
    assert_eq!(workers(middle, many), 3, "leases begin where the extent does");
}

#[test]
fn resident_files_are_read_by_a_worker_for_each_core() {
    let decision = decide(&facts(BIG), &Wishes::default());
    assert_eq!((decision.engine, decision.page_cache), (Engine::Pool, PageCache::Keep));
    assert_eq!((decision.workers.len(), ways(&decision)), (2, (BIG, 0)));
    assert!(decision.reason.contains("100 % in the page cache"), "{}", decision.reason);
}

#[test]
fn absent_files_are_read_through_the_page_cache_by_default_with_more_in_flight() {
    let decision = decide(&cold(BIG), &Wishes::default());
    assert_eq!((decision.engine, decision.page_cache), (Engine::Pool, PageCache::Keep));
    assert_eq!((decision.workers.len(), ways(&decision)), (4, (BIG, 0)));
}

#[test]
fn one_thread_is_enough_for_a_short_cold_read_where_the_kernel_reads_far_ahead() {
    let workers = |len, readahead, known| {
        let mut facts = Facts { readahead, ..cold(len) };
        facts.residency[0] = known;
        decide(&facts, &Wishes::default()).workers.len()
    };
    assert_eq!(workers(LONG - 1, FAR_AHEAD, Residency::Absent), 1);
    assert_eq!(workers(LONG, FAR_AHEAD, Residency::Absent), 4);
    assert_eq!(workers(LONG - 1, FAR_AHEAD - 1, Residency::Absent), 4);
    assert_eq!(workers(LONG - 1, FAR_AHEAD, Residency::Unknown), 4, "it may be resident");
}

#[test]
fn where_workers_process_what_they_read_each_core_has_one() {
    let workers = |len, processes| {
        let facts = Facts { readahead: FAR_AHEAD, processes, cores: 3, ..cold(len) };
        decide(&facts, &Wishes::default()).workers.len()
    };
    assert_eq!([workers(LONG - 1, false), workers(LONG - 1, true)], [1, 3]);
    assert_eq!([workers(LONG, false), workers(LONG, true)], [4, 4]);
}

#[test]
fn a_file_above_a_quarter_of_memory_or_read_once_bypasses_the_page_cache() {
    let once = Wishes { reuse: Reuse::Once, ..Wishes::default() };
    let mut tight = cold(BIG);
    tight.memory = BIG * 4 - 1;
    for (facts, wishes) in [(tight, Wishes::default()), (cold(BIG), once)] {
        let decision = decide(&facts, &wishes);
        assert_eq!((decision.engine, decision.page_cache), (Engine::Ring, PageCache::Bypass));
        assert_eq!((decision.ring_depth, ways(&decision)), (16, (0, BIG)));
        assert!(decision.workers.is_empty());
    }
    let mut enough = cold(BIG);
    enough.memory = BIG * 4;
    assert_eq!(decide(&enough, &Wishes::default()).page_cache, PageCache::Keep);
}

#[test]
fn each_window_of_a_half_resident_file_is_read_the_right_way() {
    let mut facts = facts(BIG + 100);
    for residency in facts.residency.iter_mut().step_by(2) {
        *residency = Residency::Absent;
    }
    facts.residency[64] = Residency::Partial;
    let wishes = Wishes { page_cache: PageCache::Bypass, ..Wishes::default() };
    let decision = decide(&facts, &wishes);
    assert_eq!(ways(&decision), (BIG / 2 + 100, BIG / 2), "the tail is not a whole unit");
    assert_eq!((decision.engine, decision.workers.len()), (Engine::Ring, 2));
    facts.ring = false;
    let decision = decide(&facts, &wishes);
    assert_eq!((decision.engine, decision.workers.len()), (Engine::Pool, 2 + 16));
    assert_eq!(decision.workers[17], [1, 0]);
    let three = decide(&facts, &Wishes { workers: 3, ..wishes });
    assert_eq!(three.workers, [[1, 0]; 3], "workers are threads, whatever they do");
}

#[test]
fn bypassing_a_resident_file_takes_it_from_the_page_cache() {
    let wishes = Wishes { page_cache: PageCache::Bypass, ..Wishes::default() };
    assert_eq!(ways(&decide(&facts(BIG), &wishes)), (BIG, 0));
    let ring = Wishes { engine: Engine::Ring, ..wishes };
    assert_eq!(ways(&decide(&facts(BIG), &ring)), (0, BIG), "unless an engine was requested");
}

#[test]
fn a_requested_engine_too_takes_from_the_page_cache_what_is_there() {
    let mut tight = facts(BIG);
    tight.memory = BIG;
    for engine in [Engine::Pool, Engine::Serial, Engine::Ring] {
        for schedule in [Schedule::Dynamic, Schedule::Static] {
            let wishes = Wishes { engine, schedule, ..Wishes::default() };
            let decision = decide(&tight, &wishes);
            assert_eq!(ways(&decision), (BIG, 0), "{engine} {schedule}");
            assert!(decision.workers.len() <= 2, "{engine} {schedule}");
            let mut half = tight.clone();
            half.residency[..32].fill(Residency::Absent);
            assert_eq!(
                ways(&decide(&half, &wishes)),
                (BIG / 2, BIG / 2),
                "{engine} {schedule}"
            );
        }
    }
}

#[test]
fn spinning_disks_and_networks_get_few_large_ordered_requests() {
    for storage in [Storage::Rotational, Storage::Network] {
        let facts = Facts { storage, ..cold(BIG) };
        let decision = decide(&facts, &Wishes::default());
        assert_eq!((decision.workers.len(), decision.chunk_size.get()), (2, 4 << 20));
        let facts = Facts { storage, ..self::facts(BIG) };
        assert_eq!(decide(&facts, &Wishes::default()).chunk_size.get(), 1 << 20);
    }
}

#[test]
fn what_cannot_be_granted_is_said() {
    let facts = Facts { direct: None, ring: false, ..cold(BIG) };
    let bypass = Wishes { page_cache: PageCache::Bypass, ..Wishes::default() };
    let decision = decide(&facts, &bypass);
    assert_eq!((decision.page_cache, decision.fallbacks.len()), (PageCache::Drop, 1));
    let once = Wishes { reuse: Reuse::Once, ..Wishes::default() };
    assert_eq!(decide(&facts, &once).page_cache, PageCache::Drop);
    let ring = Wishes { engine: Engine::Ring, ..Wishes::default() };
    let lone = Wishes { workers: 3, ..ring };
    assert_eq!(decide(&cold(BIG), &lone).fallbacks.len(), 1, "a ring has no workers");
    let decision = decide(&facts, &ring);
    assert_eq!((decision.engine, decision.fallbacks.len()), (Engine::Pool, 1));
    let many = Wishes { workers: u64::MAX, queue_depth: u64::MAX, chunk_size: 512, ..bypass };
    let decision = decide(&cold(BIG), &Wishes { engine: Engine::Pool, ..many });
    assert_eq!((decision.workers.len(), decision.fallbacks.len()), (1024, 2));
    let odd = Wishes { chunk_size: 511, ..bypass };
    let decision = decide(&cold(BIG), &odd);
    assert_eq!((decision.chunk_size.get(), decision.fallbacks.len()), (512, 1));
    assert!(decide(&cold(BIG), &bypass).fallbacks.is_empty());
}

#[test]
fn static_shares_belong_to_one_worker_each() {
    let wishes = Wishes {
        engine: Engine::Pool,
        schedule: Schedule::Static,
        workers: 3,
        chunk_size: 4,
        ..Wishes::default()
    };
    let decision = decide(&facts(10), &wishes);
    let ends: Vec<_> = decision.queues.iter().map(|queue| queue[0].extent.end()).collect();
    assert_eq!(ends, [4, 8, 10]);
    assert_eq!(decision.workers, [[0], [1], [2]]);
}

/// Any tuning at all, in range and out of it.
fn tunings() -> impl Strategy<Value = Tuning> {
    let number = || prop::sample::select(&[0, 1, 3, 511, 4096, 70_000, 5 << 20, u64::MAX][..]);
    let words = (0..Engine::WORDS.len(), 0..PageCache::WORDS.len());
    (prop::array::uniform7(number()), words).prop_map(|(numbers, (engine, once))| {
        let [warm_workers, warm_chunk_size, cold_workers, cold_chunk_size, rest @ ..] = numbers;
        let [direct_depth, direct_chunk_size, small] = rest;
        Tuning {
            warm_workers,
            warm_chunk_size,
            cold_workers,
            cold_chunk_size,
            direct_depth,
            direct_chunk_size,
            direct_engine: Engine::WORDS[engine].1,
            once: PageCache::WORDS[once].1,
            small,
        }
    })
}

/// A value for each setting that no default has.
const TUNED: Tuning = Tuning {
    warm_workers: 5,
    warm_chunk_size: 3 << 20,
    cold_workers: 7,
    cold_chunk_size: 5 << 20,
    direct_depth: 9,
    direct_chunk_size: 256 << 10,
    direct_engine: Engine::Pool,
    once: PageCache::Drop,
    small: 128 << 10,
};

fn tuned(facts: Facts, wishes: &Wishes, tuning: Tuning) -> Decision {
    decide(&Facts { tuning, ..facts }, wishes)
}

#[test]
fn what_was_measured_is_used_where_it_was_measured_and_said() {
    let auto = Wishes::default();
    let warm = tuned(facts(BIG), &auto, TUNED);
    assert_eq!((warm.workers.len(), warm.chunk_size.get()), (5, 3 << 20));
    assert!(warm.reason.ends_with("; as tuned: chunk size, workers"), "{}", warm.reason);
    let absent = tuned(cold(BIG), &auto, TUNED);
    assert_eq!((absent.workers.len(), absent.chunk_size.get()), (7, 5 << 20));
    let once = Wishes { reuse: Reuse::Once, ..auto };
    let dropped = tuned(cold(BIG), &once, TUNED);
    assert_eq!((dropped.page_cache, ways(&dropped)), (PageCache::Drop, (BIG, 0)));
    assert!(dropped.reason.contains("as tuned: no O_DIRECT"), "{}", dropped.reason);
    assert!(dropped.fallbacks.is_empty(), "every request was honoured");
    let bypass = Wishes { page_cache: PageCache::Bypass, ..auto };
    let by_threads = tuned(cold(BIG), &bypass, TUNED);
    assert_eq!((by_threads.engine, by_threads.workers.len()), (Engine::Pool, 9));
    assert_eq!((by_threads.page_cache, by_threads.ring_depth), (PageCache::Bypass, 0));
    let by_ring = Tuning { direct_engine: Engine::Ring, ..TUNED };
    let by_ring = tuned(cold(BIG), &bypass, by_ring);
    assert_eq!((by_ring.ring_depth, by_ring.chunk_size.get()), (9, 256 << 10));
    assert!(by_ring.reason.ends_with("; as tuned: chunk size, depth"), "{}", by_ring.reason);
}

#[test]
fn files_are_small_up_to_the_length_that_was_measured() {
    let small = tuned(facts(128 << 10), &Wishes::default(), TUNED);
    assert_eq!((small.engine, small.workers.len()), (Engine::Serial, 1));
    assert_eq!(small.reason, "at most 128 KiB, as tuned: one read, no thread");
    let above = tuned(facts((128 << 10) + 1), &Wishes::default(), TUNED);
    assert!(!above.reason.contains("one read"), "{}", above.reason);
    let never = Tuning { small: 4096, ..Tuning::default() };
    let above = tuned(facts(4097), &Wishes::default(), never);
    assert!(!above.reason.contains("one read"), "{}", above.reason);
}

#[test]
fn a_wish_comes_before_what_was_measured() {
    let wishes =
        Wishes { workers: 3, chunk_size: 1 << 20, queue_depth: 4, ..Wishes::default() };
    for page_cache in [PageCache::Keep, PageCache::Bypass] {
        let tuning = Tuning { direct_engine: Engine::Auto, ..TUNED };
        let wishes = Wishes { page_cache, ..wishes };
        let plain = decide(&cold(BIG), &wishes);
        assert_eq!(format!("{:?}", tuned(cold(BIG), &wishes, tuning)), format!("{plain:?}"));
    }
    let bypass =
        Wishes { page_cache: PageCache::Bypass, reuse: Reuse::Once, ..Wishes::default() };
    assert_eq!(tuned(cold(BIG), &bypass, TUNED).page_cache, PageCache::Bypass);
}

#[test]
fn a_measurement_says_nothing_where_it_was_not_made() {
    // The kernel alone may have been enough for the shorter file that was measured.
    let long = Facts { readahead: FAR_AHEAD, ..cold(LONG) };
    assert_eq!(tuned(long, &Wishes::default(), TUNED).workers.len(), 4);
    let short = Facts { readahead: FAR_AHEAD, ..cold(LONG - 1) };
    assert_eq!(tuned(short, &Wishes::default(), TUNED).workers.len(), 7);
    let mut unknown = cold(BIG);
    unknown.residency[3] = Residency::Unknown;
    let unknown = tuned(unknown, &Wishes::default(), TUNED);
    assert_eq!((unknown.workers.len(), unknown.chunk_size.get()), (4, READ_SIZE));
    assert!(!unknown.reason.contains("tuned"), "{}", unknown.reason);
    // A worker for less than 4 MiB gains nothing.
    assert_eq!(tuned(facts(WORKER_SHARE + 1), &Wishes::default(), TUNED).workers.len(), 2);
}

proptest! {
    /// A requested engine decides as without any measurement; and a profile that measured
    /// nothing changes nothing.
    #[test]
    fn an_engine_that_was_asked_for_is_not_tuned(
        len in 0_u64..3 * WINDOW_SIZE, engine in 1_usize..5, page_cache in 0_usize..4,
        workers in 0_u64..9,
    ) {
        let wishes = Wishes {
            engine: Engine::WORDS[engine].1,
            page_cache: PageCache::WORDS[page_cache].1,
            workers, ..Wishes::default()
        };
        for facts in [cold(len), facts(len)] {
            let plain = format!("{:?}", decide(&facts, &wishes));
            prop_assert_eq!(format!("{:?}", tuned(facts, &wishes, TUNED)), plain);
        }
    }

    /// Whatever the facts and options, the runs tile the extent and direct ones are whole units.
    #[test]
    fn the_runs_of_a_decision_tile_the_extent(
        offset in 0_u64..5_000, len in 0_u64..3 * WINDOW_SIZE, known in 0_usize..5,
        engine in 0_usize..4, page_cache in 0_usize..4, workers in 0_u64..9,
        chunk_size in prop::sample::select(&[0_u64, 1, 511, 4096, 1 << 20, u64::MAX][..]),
        unit in prop::sample::select(&[0_u64, 512, 4096][..]), fixed in any::<bool>(),
        tuning in tunings(),
    ) {
        let all = [
            Residency::Resident, Residency::Partial, Residency::Absent, Residency::Unknown,
        ];
        let extent = Extent::between(offset, offset + len);
        let residency = all.iter().cycle().skip(known).take(known).copied().collect();
        let facts = Facts { extent, residency, direct: NonZeroU64::new(unit), tuning, ..facts(0) };
        let schedule = if fixed { Schedule::Static } else { Schedule::Dynamic };
        let wishes = Wishes {
            engine: Engine::WORDS[engine].1,
            page_cache: PageCache::WORDS[page_cache].1,
            schedule, workers, chunk_size, ..Wishes::default()
        };
        let decision = decide(&facts, &wishes);
        let mut runs: Vec<_> = decision.queues.iter().flatten().copied().collect();
        runs.sort_by_key(|run| run.extent);
        let mut at = offset;
        for run in runs.iter().filter(|run| !run.extent.is_empty()) {
            prop_assert_eq!(run.extent.offset(), at);
            at = run.extent.end();
            if run.way == Way::Direct {
                prop_assert_eq!(run.extent.offset() % unit, 0);
                prop_assert_eq!(run.extent.end() % unit, 0);
            }
        }
        prop_assert_eq!(at, offset + len);
        let served = decision.workers.iter().flatten().copied().collect::<Vec<_>>();
        for (queue, runs) in decision.queues.iter().enumerate() {
            let by_ring = decision.ring_depth > 0;
            prop_assert!(by_ring || runs.is_empty() || served.contains(&queue), "{:?}", decision);
        }
        let ordered = in_order(decision.clone(), extent);
        let mut at = offset;
        for run in &ordered.queues[0] {
            prop_assert_eq!(run.extent.offset(), at);
            let whole = (at - offset).is_multiple_of(ordered.cut.size.get());
            prop_assert!(whole, "{:?}", ordered);
            at = run.extent.end();
        }
        prop_assert!(at == offset + len && !ordered.workers.is_empty(), "{:?}", ordered);
        prop_assert!(decision.engine != Engine::Auto && decision.page_cache != PageCache::Auto);
    }
}
