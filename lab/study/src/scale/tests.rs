//! Compares the simulation with computed numbers, and with laws that hold for any job.

use super::*;
use swath_plan::random::{SplitMix64, fraction};

fn run(job: &Job, seed: u64) -> Simulated {
    simulate(job, seed).expect("a job that can be")
}

fn close(found: f64, expected: f64) {
    let off = (found - expected).abs() / expected.abs().max(1e-12);
    assert!(off < 1e-9, "{found} is not {expected}");
}

/// Returns a job whose storage and client take time.
fn real() -> Job {
    let mut job = Job::default();
    job.storage.read = Bandwidth { all: 1e9, each: 4e8 };
    job.storage.write = Bandwidth { all: 5e8, each: 2e8 };
    job.storage.operations_per_s = 10_000.0;
    job.storage.one_folder_per_s = 5_000.0;
    job.storage.latency_s = 0.001;
    job.client = Client { requests_per_s: 1_000.0, latency_s: 0.002, notices_s: 1.0 };
    job
}

#[test]
fn one_worker_takes_the_sum_of_all() {
    let job = real().with_workers(1).with_parts(7);
    let work = job.work;
    let names = (work.opens + work.closes) * (0.001 + 1.0 / 5_000.0);
    let part = work.bytes_in / 4e8 + 1.0 + work.bytes_out / 2e8 + names;
    // A request for each part, and the last receipt.
    let messages = 7.0 * (0.001 + 2.0 * 0.002) + 0.001;
    close(run(&job, 1).seconds, 7.0 * part + messages);
    // With a fixed share it waits for one answer only.
    let fixed = Job { strategy: Strategy::Static, ..job };
    close(run(&fixed, 1).seconds, 7.0 * part + 2.0 * (0.001 + 0.002));
}

#[test]
fn without_stragglers_the_time_is_that_of_the_scarcest_thing() {
    let mut job = Job::default().with_workers(10).with_parts(100);
    close(run(&job, 1).seconds, 10.0);
    // Reads: all ten together get 1 GB/s, and nothing else takes time.
    job.work.compute_s = 0.0;
    job.work.bytes_out = 0.0;
    job.storage.read = Bandwidth { all: 1e9, each: 4e8 };
    close(run(&job, 1).seconds, 100.0 * job.work.bytes_in / 1e9);
    job.storage.read = Bandwidth { all: f64::INFINITY, each: 4e8 };
    close(run(&job, 1).seconds, 10.0 * job.work.bytes_in / 4e8);
    // Names: nine operations for each part.
    job.work.bytes_in = 0.0;
    job.storage.operations_per_s = 90.0;
    close(run(&job, 1).seconds, 10.0);
    // Two cores for ten workers.
    job.storage.operations_per_s = f64::INFINITY;
    (job.work.compute_s, job.cores) = (1.0, Some(2.0));
    close(run(&job, 1).seconds, 50.0);
    // The client: a hundred requests, each with the receipt of the last part, and the last ten.
    (job.work.compute_s, job.cores) = (0.0, None);
    job.client.requests_per_s = 110.0;
    close(run(&job, 1).seconds, 1.0);
}

#[test]
fn pull_is_within_one_part_of_the_best_for_any_parts() {
    for seed in 0..50 {
        let mut job = Job::default().with_workers(1 + SplitMix64::new(seed).below(40));
        job.work.spread = 0.8;
        let found = run(&job, seed);
        let least = (found.useful_s / job.workers as f64).max(found.longest_s);
        let most = found.useful_s / job.workers as f64 + found.longest_s;
        assert!(found.seconds >= least * 0.999_999 && found.seconds <= most, "seed {seed}");
        let fixed = run(&Job { strategy: Strategy::Static, ..job }, seed);
        close(fixed.useful_s, found.useful_s);
        assert!(fixed.seconds >= least * 0.999_999, "seed {seed}");
    }
}

#[test]
fn a_slow_worker_holds_up_fixed_shares_and_not_those_that_pull() {
    let mut job = Job::default().with_workers(10).with_parts(1_000);
    (job.trouble.slow_share, job.trouble.slow_factor) = (0.1, 5.0);
    let of = |strategy| run(&Job { strategy, ..job.clone() }, 1).seconds;
    close(of(Strategy::Static), 500.0);
    // The work of nine workers and a fifth.
    assert!((of(Strategy::Pull) - 1_000.0 / 9.2).abs() < 5.0, "{}", of(Strategy::Pull));
    // The last part runs on the slow worker, and a second attempt begins.
    let hedged = run(&Job { strategy: Strategy::Hedged { late: 1.5 }, ..job.clone() }, 1);
    assert!(hedged.hedges > 0 && hedged.seconds <= of(Strategy::Pull));
}

#[test]
fn a_line_of_random_requests_is_as_long_as_theory_says() {
    // Deterministic service, exponential arrivals: the mean wait is ρ / (2 (1 − ρ)) of a service.
    let mut line = ServerLine::new(1.0);
    let (mut now, mut waits, count) = (0.0, 0.0, 400_000_u64);
    for index in 0..count {
        now += -(1.0 - fraction(5, index)).ln() / 0.7;
        waits += line.serve(now, 1.0) - now - 1.0;
    }
    let mean = waits / count as f64;
    let expected = 0.7 / (2.0 * 0.3);
    assert!((mean / expected - 1.0).abs() < 0.03, "{mean}, not {expected}");
}

#[test]
fn a_pool_gives_what_small_steps_give() {
    for seed in 0..20 {
        let mut random = SplitMix64::new(seed);
        let rate = Bandwidth { all: 10.0, each: 3.0 };
        let users: Vec<(f64, f64)> = (0..12)
            .map(|_| (random.below(100) as f64 / 20.0, 1.0 + random.below(90) as f64 / 10.0))
            .collect();
        let mut sorted: Vec<usize> = (0..users.len()).collect();
        sorted.sort_by(|&left, &right| users[left].0.total_cmp(&users[right].0));
        let (mut pool, epochs) = (Pool::new(rate), vec![0; users.len()]);
        let mut ends = vec![0.0; users.len()];
        let mut coming = sorted.iter().copied().peekable();
        loop {
            let end = pool.next(&epochs).unwrap_or(f64::INFINITY);
            match coming.next_if(|&user| users[user].0 <= end) {
                Some(user) => {
                    let number = u32::try_from(user).expect("twelve");
                    pool.join(users[user].0, users[user].1, number, 0);
                }
                None if end.is_infinite() => break,
                None => ends[pool.leave(end) as usize] = end,
            }
        }
        for (user, slow) in in_small_steps(&users, rate).into_iter().enumerate() {
            assert!((ends[user] - slow).abs() < 0.02, "seed {seed}: {} {slow}", ends[user]);
        }
    }
}

/// Computes the ends of users in small steps: each gives every user its share of a millisecond.
fn in_small_steps(users: &[(f64, f64)], rate: Bandwidth) -> Vec<f64> {
    const STEP: f64 = 0.001;
    let mut left: Vec<f64> = users.iter().map(|user| user.1).collect();
    let mut ends = vec![0.0; users.len()];
    let mut step = 0_u32;
    while left.iter().any(|&left| left > 0.0) {
        let now = f64::from(step) * STEP;
        let is_here = |index: usize, left: &[f64]| users[index].0 <= now && left[index] > 0.0;
        let count = (0..users.len()).filter(|&index| is_here(index, &left)).count();
        let share = rate.each.min(rate.all / count.max(1) as f64) * STEP;
        for index in 0..users.len() {
            if is_here(index, &left) {
                left[index] -= share;
                ends[index] = now + STEP;
            }
        }
        step += 1;
    }
    ends
}

/// Returns a random job with all kinds of faults.
fn troubled(random: &mut SplitMix64) -> Job {
    let mut job = real().with_workers(1 + random.below(30)).with_parts(1 + random.below(200));
    job.work.spread = random.below(10) as f64 / 8.0;
    job.work.wait_s = random.below(2) as f64;
    job.cores = [None, Some(2.0)][random.below(2)];
    job.folders = 1 + random.below(3);
    job.trouble = Trouble {
        slow_share: random.below(5) as f64 / 10.0,
        slow_factor: 1.0 + random.below(8) as f64,
        failures_per_hour: [0.0, 40.0, 200.0][random.below(3)],
        restart_s: random.below(20) as f64,
        client_failures_per_hour: [0.0, 30.0][random.below(2)],
        client_restart_s: random.below(9) as f64,
        deaths: Vec::new(),
    };
    let dying = job.workers.min(1 + random.below(4)) - 1;
    for worker in (1_u32..).take(dying) {
        job.trouble.deaths.push(Death { worker, at_s: random.below(30) as f64 });
    }
    job
}

#[test]
fn whatever_happens_each_part_counts_once_and_every_second_is_somebodys() {
    for seed in 0..300 {
        let job = troubled(&mut SplitMix64::new(seed));
        for strategy in [Strategy::Static, Strategy::Pull, Strategy::Hedged { late: 1.5 }] {
            let job = Job { strategy, ..job.clone() };
            let found = run(&job, seed);
            assert_eq!(found.parts, job.work.parts, "seed {seed}");
            assert!(found.attempts >= found.parts + found.lost, "seed {seed}");
            // Further attempts are hedges, or repeat one whose worker only seemed to be gone.
            let more = found.attempts - found.parts - found.lost;
            assert!(more <= found.hedges, "seed {seed}: {found:?}");
            let worked = found.useful_s + found.lost_s + found.extra_s;
            let most = found.seconds * job.workers as f64;
            let Spent { asking, naming, reading, computing, writing } = found.spent;
            let steps = asking + naming + reading + computing + writing;
            assert!(steps <= worked * 1.000_001, "seed {seed}: {found:?}");
            // An attempt that was cut off misses its last step.
            assert!(steps >= found.useful_s * 0.999_999, "seed {seed}: {found:?}");
            assert!(worked <= most * 1.000_001, "seed {seed}: {found:?}");
            let Use { client, names, read, write } = found.busy;
            for share in [client, names, read, write] {
                assert!((0.0..=1.000_001).contains(&share), "seed {seed}: {found:?}");
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_numbers_and_another_one_others() {
    for seed in 0..20 {
        let mut job = troubled(&mut SplitMix64::new(seed));
        job.work.spread = 0.5;
        assert_eq!(run(&job, seed), run(&job, seed));
        assert_ne!(run(&job, seed).seconds, run(&job, seed + 1).seconds);
    }
}

#[test]
fn failures_repeat_as_much_work_as_their_rate_says() {
    let mut job = Job::default().with_workers(20).with_parts(20_000);
    job.trouble.failures_per_hour = 360.0;
    let found = run(&job, 3);
    // A part of one second fails with probability 1 − e^−0.1; given a failure, it loses on average
    // 1/λ − 1/(e^λ − 1) of the second.
    let rate: f64 = 0.1;
    let lost = 20_000.0 * (rate.exp() - 1.0);
    let lost_s = lost * (1.0 / rate - 1.0 / (rate.exp() - 1.0));
    assert!((found.lost as f64 / lost - 1.0).abs() < 0.06, "{} of {lost}", found.lost);
    assert!((found.lost_s / lost_s - 1.0).abs() < 0.08, "{} of {lost_s}", found.lost_s);
}

#[test]
fn a_worker_that_dies_takes_only_its_part_with_it() {
    let mut job = Job::default().with_workers(4).with_parts(40);
    job.client.notices_s = 0.25;
    job.trouble.deaths = vec![Death { worker: 2, at_s: 3.5 }];
    let found = run(&job, 1);
    assert_eq!((found.lost, found.attempts), (1, 41));
    close(found.lost_s, 0.5);
    // Three whole rounds of four, then 28 parts for three workers; the lost part comes late.
    assert!(found.seconds >= 3.0 + 28.0 / 3.0 && found.seconds <= 14.0, "{}", found.seconds);
    let fixed = run(&Job { strategy: Strategy::Static, ..job }, 1);
    assert_eq!((fixed.parts, fixed.lost), (40, 1));
}

#[test]
fn a_client_that_is_away_holds_up_requests_and_loses_no_part() {
    let mut job = real().with_workers(4).with_parts(400);
    let calm = run(&job, 1);
    job.trouble.client_failures_per_hour = 60.0;
    job.trouble.client_restart_s = 20.0;
    let found = run(&job, 1);
    assert!(found.seconds >= calm.seconds + 20.0 && found.lost == 0 && found.attempts == 400);
    // It lists the folder and looks at each segment.
    close(distant().relist_s(1_000), 0.02 + 1.12);
    close(distant().relist_s(0), 0.0);
    job.storage.names_per_s = 1.0;
    assert!(run(&job, 1).seconds >= found.seconds + 20.0);
}

#[test]
fn jobs_that_cannot_be_are_refused_and_those_that_never_end_are_noticed() {
    let why = |job: &Job| simulate(job, 1).expect_err("refused").to_string();
    assert!(why(&Job::default().with_workers(0)).contains("at least one worker"));
    assert!(why(&Job::default().with_parts(0)).contains("at least one part"));
    assert!(why(&Job { folders: 0, ..Job::default() }).contains("folder"));
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        let mut job = Job::default();
        job.work.compute_s = bad;
        assert!(why(&job).contains("compute time"), "{bad}");
        let mut job = Job::default();
        job.trouble.slow_factor = bad;
        assert!(why(&job).contains("slow workers"), "{bad}");
    }
    let mut job = Job::default();
    job.storage.read.all = 0.0;
    assert!(why(&job).contains("read bandwidth"));
    assert!(
        why(&Job { strategy: Strategy::Hedged { late: 0.0 }, ..Job::default() })
            .contains("late")
    );
    let mut job = Job::default();
    job.trouble.failures_per_hour = 3_600_000.0;
    assert!(why(&job).contains("never ends: workers fail"));
    let mut job = Job::default().with_workers(2);
    job.trouble.deaths = (0..2).map(|worker| Death { worker, at_s: 1.0 }).collect();
    assert!(why(&job).contains("no worker is left"));
}

#[test]
fn calls_on_names_are_made_as_the_library_makes_them() {
    use super::calls::{GROUP, THREADS, in_turn};
    let right = [
        (0, 0),
        (1, 1),
        (16, 16),
        // Two to ten groups at the same time.
        (17, 16),
        (160, 16),
        // A second round: of one call, of a whole group, of more groups.
        (161, 17),
        (176, 32),
        (177, 32),
        (1_000, 112),
        (100_000, 10_000),
    ];
    for (count, calls) in right {
        assert_eq!(in_turn(count, THREADS), calls, "{count}");
        assert_eq!(in_turn(count, 1), count);
    }
    let library = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/swath/src/job/files.rs");
    let library = std::fs::read_to_string(library).expect("the library's source");
    for (name, value) in [("GROUP", GROUP), ("THREADS", THREADS)] {
        assert!(library.contains(&format!("const {name}: usize = {value};")), "{name}");
    }
}

/// Returns a job in which latency limits few callers, and the folder limits many.
fn distant() -> Job {
    let mut job = real();
    (job.storage.latency_s, job.storage.names_per_s) = (0.0099, 50_000.0);
    job
}

fn processes(processes: usize) -> Callers {
    Callers { processes, ..ONE_PROCESS }
}

#[test]
fn calls_are_limited_by_the_latency_of_few_and_the_rate_of_many() {
    // Each call takes 10 ms; one folder allows 5,000 a second, all of them 10,000.
    let job = distant();
    close(job.calls_s(1, processes(1)), 0.01);
    close(job.calls_s(1_000, processes(1)), 1.12);
    // One call after the other; the rate does not matter.
    close(job.calls_s(1_000, Callers { threads: 1, ..ONE_PROCESS }), 10.0);
    // More processes need more folders.
    close(job.calls_s(1_000, processes(10)), 1.12);
    let sharded = Job { folders: 10, ..job.clone() };
    // Each process has a folder of 100 segments: seven groups, at the same time.
    close(sharded.calls_s(1_000, processes(10)), 0.16);
    close(sharded.calls_s(1_000, processes(1)), 1.6);
    // Of four processes, two have three folders.
    close(sharded.calls_s(1_000, processes(4)), 0.48);
    close(Job { folders: 1_000, ..job }.calls_s(1_000, processes(1_000)), 0.1);
    // Ten callers of 1.1 ms would make 9,000 a second in the folder.
    close(real().calls_s(100_000, processes(1)), 20.0);
}

#[test]
fn the_commit_is_the_sum_of_its_waits() {
    let job = distant().with_parts(1_000);
    let how = Committing {
        output: OutputForm::Segments,
        callers: ONE_PROCESS,
        threads: 2,
        bytes_each: 100.0,
        encode_s: 1e-6,
        sync_s: 0.01,
    };
    let of = |job: &Job, how: Committing| commit(job, &how).expect("a commit");
    let found = of(&job, how);
    close(found.look_s, 1.12);
    close(found.list_s, 0.001 + 100_000.0 / 2e8 + 0.01);
    assert!(found.place_s == 0.0);
    let alone = Callers { threads: 1, ..ONE_PROCESS };
    close(of(&job, Committing { callers: alone, ..how }).look_s, 10.0);
    // It lists the folder, which may have attempts that were not chosen.
    close(found.remove_s, 0.02);
    let copied = of(&job, Committing { output: OutputForm::Copied, ..how });
    let bytes = 1_000.0 * job.work.bytes_out;
    close(copied.place_s, bytes / 4e8 + bytes / 2e8 + 0.02);
    close(copied.remove_s, 0.02 + 1.12);
    // Four pieces of 16 MiB in each, opened and shared by two threads.
    let shared = Committing { output: OutputForm::Shared, ..how };
    close(of(&job, shared).place_s, 4_000.0 / 2.0 * 2.0 * 0.01 + 0.02);
    let mut empty = job.clone();
    empty.work.bytes_out = 0.0;
    close(of(&empty, shared).place_s, 0.02);
    // Ten folders, ten committers, then the cores of one machine.
    let sharded = Job { folders: 10, ..job };
    let ten = Committing { callers: processes(10), ..how };
    let found = of(&sharded, ten);
    close(found.look_s, 0.16);
    close(found.list_s, 0.0001 + 10_000.0 / 2e8 + 0.02);
    close(found.remove_s, 0.002);
    let here = Job { cores: Some(2.0), ..sharded };
    close(of(&here, ten).list_s, 0.0005 + 10_000.0 / 2e8 + 0.02);
}

#[test]
fn a_commit_here_takes_as_long_as_it_was_measured() {
    let costs = costs::Costs {
        names: 1_000,
        segment_s: 30e-6,
        names_s: 0.2e-6,
        look_s: 1.2e-6,
        list_s: 2e-6,
        commit_s: 3e-6,
        manifest_bytes: 50.0,
        read_per_s: 2e9,
        write_per_s: 1e9,
        ..costs::Costs::default()
    };
    let how = costs.committing(OutputForm::Segments, 2.0).expect("a commit");
    // Two cores look, one lists and encodes.
    close(how.encode_s, 3e-6 - 0.6e-6 - 0.2e-6 - 50.0 / 1e9);
    let storage = costs.storage_of_commit(2.0);
    let job = Job { storage, cores: Some(2.0), ..Job::default().with_parts(1_000) };
    close(commit(&job, &how).expect("a commit").seconds(), 1_000.0 * 3e-6);
}

#[test]
fn a_part_is_handed_out_again_only_if_nobody_does_it() {
    use super::parts::{Next, Parts};
    let mut parts = Parts::new(2, 3, Strategy::Hedged { late: 2.0 });
    assert_eq!((parts.next(0.0), parts.next(0.0)), (Next::Part(0), Next::Part(1)));
    parts.begin(0, 0.0);
    parts.begin(1, 0.0);
    assert!(parts.end(1, 1.0));
    assert_eq!(parts.next(1.0), Next::Wait(Some(2.0)));
    assert_eq!(parts.next(2.0), Next::Late(0));
    parts.begin(0, 2.0);
    // One of two attempts is lost: the other continues, and there is no third.
    parts.lose(0);
    assert!(!parts.miss(0));
    assert_eq!(parts.next(9.0), Next::Wait(None));
    // Both are lost: another worker does it.
    parts.lose(0);
    assert!(parts.miss(0));
    assert_eq!(parts.next(9.0), Next::Part(0));
    parts.begin(0, 9.0);
    assert!(parts.end(0, 1.0) && parts.done == 2);
    // The part is done: the loss of a worker later changes nothing.
    assert!(!parts.miss(0));
    assert_eq!(parts.next(10.0), Next::Wait(None));
}
