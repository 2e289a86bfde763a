use super::*;
use crate::experiments;
use crate::results::{Claimed, Holds};

fn settings(out: &Path, data: &Path, words: &[&str]) -> SessionSettings {
    let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    SessionSettings {
        extent: Extent::Smoke,
        chosen: experiments::chosen(&words).expect("known"),
        data: vec![data.to_owned()],
        out: out.to_owned(),
        resume: false,
        seed: 1,
        version: "0".into(),
        program: None,
    }
}

#[test]
fn every_experiment_runs_and_leaves_its_rows_and_nothing_else() {
    let (out, data) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let settings = settings(out.path(), data.path(), &[]);
    let mut steps = Vec::new();
    let results =
        run(&settings, &CancelToken::new(), &mut |step| steps.push(step)).expect("run");
    assert!(load(out.path()).expect("saved") == results);
    let page = fs::read_to_string(out.path().join(PAGE)).expect("left");
    assert!(page.len() < 3_000_000 && experiments::ALL.iter().all(|one| page.contains(one.id)));
    let summary = fs::read_to_string(out.path().join(SUMMARY)).expect("left");
    assert_eq!(summary, summary::render(&results));
    assert!(judged_anew(results.clone()) == results, "the same rules say the same");
    assert_eq!(results.experiments.len(), experiments::ALL.len());
    for measured in &results.experiments {
        assert_eq!(measured.state, Progress::Done, "{}", measured.id);
        let is_whole = !measured.runs.is_empty() || !measured.absent.is_empty();
        assert!(is_whole, "{}", measured.id);
        let csv = fs::read_to_string(out.path().join(format!("{}.csv", measured.id)));
        assert_eq!(csv.expect("written").lines().count(), measured.runs.len() + 1);
    }
    assert!(results.limits.iter().all(|limit| limit.value.estimate > 0.0));
    assert!(results.limits.len() >= 6, "{:?}", results.limits);
    let engines: Vec<&str> = results.timelines.iter().map(|it| it.name.as_str()).collect();
    assert!(["serial", "pool", "map"].iter().all(|name| engines.contains(name)), "{engines:?}");
    for timeline in &results.timelines {
        let read = timeline.moments.iter().filter(|it| it.activity == "read");
        assert_eq!(read.map(|it| it.bytes).sum::<u64>(), 1 << 18, "{}", timeline.name);
        assert!(timeline.moments.iter().all(|it| it.lane < timeline.lanes.len()));
    }
    let last = steps.last().expect("told");
    assert_eq!(last.run.0, last.run.1);
    assert_eq!(fs::read_dir(data.path()).expect("there").count(), 0, "something is left");
}

#[test]
fn a_study_that_was_stopped_is_resumed_where_it_was() {
    let (out, data) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let mut settings = settings(out.path(), data.path(), &["a-threads", "a-chunk-size"]);
    let cancel = CancelToken::new();
    let stopped = run(&settings, &cancel, &mut |step| {
        if step.id == "a-chunk-size" && step.run.0 == 2 {
            cancel.cancel();
        }
    });
    let stopped = stopped.expect("what is finished is kept");
    let states: Vec<&Progress> = stopped.experiments.iter().map(|one| &one.state).collect();
    assert_eq!(states, [&Progress::Done, &Progress::Stopped]);
    settings.resume = true;
    let mut seen = Vec::new();
    let whole =
        run(&settings, &CancelToken::new(), &mut |step| seen.push(step.id)).expect("run");
    assert!(seen.iter().all(|&id| id == "a-chunk-size"), "{seen:?}");
    assert_eq!(whole.experiments[0], stopped.experiments[0]);
    assert_eq!(whole.experiments[1].state, Progress::Done);
    // Other settings: the earlier results are neither used nor lost.
    settings.seed = 2;
    let error = run(&settings, &CancelToken::new(), &mut |_| {}).expect_err("another seed");
    assert!(error.to_string().contains("another extent, seed"), "{error}");
    assert!(load(out.path()).expect("still there") == whole);
}

#[test]
fn what_is_not_asked_for_again_is_kept() {
    let (out, data) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let ids = |results: &Results| -> Vec<String> {
        results.experiments.iter().map(|one| one.id.clone()).collect()
    };
    let first = settings(out.path(), data.path(), &["a-chunk-size"]);
    let before = run(&first, &CancelToken::new(), &mut |_| {}).expect("run");
    let mut more = settings(out.path(), data.path(), &["a-threads"]);
    more.resume = true;
    let both = run(&more, &CancelToken::new(), &mut |_| {}).expect("run");
    assert_eq!(ids(&both), ["a-threads", "a-chunk-size"], "in the order of the studies");
    assert_eq!(both.experiments[1], before.experiments[0]);
}

#[test]
fn two_studies_do_not_run_into_one_folder() {
    let (out, data) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let settings = settings(out.path(), data.path(), &["a-threads"]);
    let mut inner = None;
    let outer = run(&settings, &CancelToken::new(), &mut |_| {
        inner.get_or_insert_with(|| run(&settings, &CancelToken::new(), &mut |_| {}));
    });
    let error = inner.expect("begun").expect_err("the first one is writing to it");
    assert!(error.to_string().contains("writing to it"), "{error:#}");
    assert!(outer.is_ok());
}

#[test]
fn findings_of_folders_that_disagree_decide_nothing() {
    let chosen = experiments::chosen(&["a-cores".to_owned()]).expect("known")[0];
    let run = |folder, series: &str, x, round, seconds| Run {
        folder,
        series: series.into(),
        x,
        round,
        seconds,
        ..Run::default()
    };
    let mut runs = Vec::new();
    for round in 0..9 {
        for (folder, seconds) in [(0, 1.0), (1, 9.0)] {
            runs.push(run(folder, "parallel chunks", 1.0, round, 4.0));
            runs.push(run(folder, "parallel chunks", 8.0, round, seconds));
        }
    }
    let judged = |folders: &[&str]| -> Vec<Claimed> {
        let folders: Vec<String> = folders.iter().map(|&folder| folder.to_owned()).collect();
        chosen.judged(&runs, Places { folders: &folders, seed: 1, noise: None, cores: 8 })
    };
    assert_eq!(judged(&["/a"])[0].verdicts[0].verdict, Holds::Yes);
    let both = &judged(&["/a", "/b"])[0].verdicts[0];
    assert_eq!(both.verdict, Holds::Undecided);
    assert!(
        both.because.contains("/a: holds") && both.because.contains("/b: does not"),
        "{both:?}"
    );
}

#[test]
fn a_folder_that_was_measured_at_a_noisy_time_is_noise() {
    let run = |folder, round: usize, seconds| Run {
        folder,
        round,
        series: CONTROL.into(),
        state: State::None,
        seconds,
        ..Run::default()
    };
    let calm: Vec<Run> = (0..9).map(|round| run(0, round, 1.0)).collect();
    assert_eq!(noise(&calm, 1), Some(0.0));
    assert_eq!(noise(&[], 1), None);
    let rough = (0..9).map(|round| run(1, round, if round % 2 == 0 { 1.0 } else { 3.0 }));
    let both: Vec<Run> = calm.into_iter().chain(rough).collect();
    assert!(noise(&both, 2).is_some_and(|spread| spread > 0.5));
}

#[test]
fn every_folder_has_its_limits_and_the_machine_has_them_once() {
    let folders = [(); 3].map(|()| tempfile::tempdir().expect("a folder"));
    let mut settings = settings(folders[0].path(), folders[1].path(), &["d-advice"]);
    settings.data.push(folders[2].path().to_owned());
    let results = run(&settings, &CancelToken::new(), &mut |_| {}).expect("run");
    let of = |folder| results.limits.iter().filter(|limit| limit.folder == folder).count();
    assert!(of(None) >= 3 && of(Some(0)) >= 3, "{:?}", results.limits);
    assert_eq!(of(Some(0)), of(Some(1)));
    let sums = results.limits.iter().filter(|limit| limit.name == "memory sum").count();
    assert_eq!(sums, 1);
}

#[test]
fn a_folder_in_memory_is_measured_without_what_would_have_to_be_cold() {
    let Ok(data) = tempfile::tempdir_in("/dev/shm") else {
        return swath_reference::skip("tmpfs", "/dev/shm is not to be written to");
    };
    let out = tempfile::tempdir().expect("a folder");
    let settings = settings(out.path(), data.path(), &["a-engines", "a-memory"]);
    let results = run(&settings, &CancelToken::new(), &mut |_| {}).expect("run");
    let engines = &results.experiments[0];
    assert_eq!(engines.state, Progress::Done);
    assert!(
        engines.runs.iter().all(|run| run.state == State::Warm) && !engines.runs.is_empty()
    );
    assert!(engines.absent.iter().any(|(who, _)| who == "cold files"), "{:?}", engines.absent);
    assert!(!results.timelines.is_empty());
}

#[test]
fn warm_and_cold_files_have_a_verdict_each() {
    let run = |state, series: &str, x, round, seconds| Run {
        series: series.into(),
        x,
        state,
        round,
        seconds,
        ..Run::default()
    };
    let mut runs = Vec::new();
    for round in 0..9 {
        for (state, several) in [(State::Warm, 1.0), (State::Cold, 3.0)] {
            runs.push(run(state, "mirrors", 1.0, round, 2.0));
            runs.push(run(state, "mirrors", 4.0, round, several));
        }
    }
    let verdicts = |noise| -> Vec<(State, Holds)> {
        let chosen = experiments::chosen(&["a-copies".to_owned()]).expect("known")[0];
        let places = Places { folders: &["/a".to_owned()], seed: 1, noise, cores: 8 };
        let claims = chosen.judged(&runs, places);
        claims[0].verdicts.iter().map(|finding| (finding.state, finding.verdict)).collect()
    };
    assert_eq!(verdicts(None), [(State::Warm, Holds::Yes), (State::Cold, Holds::No)]);
    // A speed-up of 1.5 decides nothing if the spread of the control is as large.
    assert_eq!(
        verdicts(Some(0.6)),
        [(State::Warm, Holds::Yes), (State::Cold, Holds::Undecided)]
    );
}

#[test]
fn stopped_while_limits_are_measured_it_ends_there_and_they_are_measured_again() {
    let (out, data) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let mut settings = settings(out.path(), data.path(), &["d-block-size"]);
    let cancel = CancelToken::new();
    let mut steps = 0;
    let stopped = run(&settings, &cancel, &mut |step| {
        assert_eq!(step.id, LIMITS);
        steps += 1;
        cancel.cancel();
    });
    let stopped = stopped.expect("nothing failed");
    assert_eq!(steps, 1, "nothing more was made or tried");
    assert!(stopped.limits.is_empty() && stopped.timelines.is_empty());
    assert!(stopped.experiments.is_empty());
    settings.resume = true;
    let whole = run(&settings, &CancelToken::new(), &mut |_| {}).expect("run");
    assert!(whole.limits.len() >= 6 && !whole.timelines.is_empty());
    assert_eq!(whole.experiments[0].state, Progress::Done);
}

#[test]
fn stopped_while_files_are_made_an_experiment_is_stopped_and_not_failed() {
    let (out, data) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let settings = settings(out.path(), data.path(), &["a-threads"]);
    let cancel = CancelToken::new();
    let stopped = run(&settings, &cancel, &mut |step| {
        if step.id == "a-threads" {
            cancel.cancel();
        }
    });
    let stopped = stopped.expect("nothing failed");
    assert_eq!(stopped.experiments[0].state, Progress::Stopped);
    assert!(stopped.experiments[0].runs.is_empty());
}

#[test]
fn results_in_a_folder_that_was_moved_are_an_error() {
    let parent = tempfile::tempdir().expect("a folder");
    let (own, moved) = (parent.path().join("own"), parent.path().join("moved"));
    let folder = begin(&own).expect("made");
    folder.check_place().expect("still there");
    fs::rename(&own, &moved).expect("mine");
    folder.check_place().expect_err("gone");
    fs::create_dir(&own).expect("made");
    folder.check_place().expect_err("another one");
}

#[test]
fn results_are_not_written_through_another_users_link_or_into_his_folder() {
    let parent = tempfile::tempdir().expect("a folder");
    let (own, link) = (parent.path().join("own"), parent.path().join("link"));
    fs::create_dir(&own).expect("made");
    std::os::unix::fs::symlink(&own, &link).expect("made");
    begin(&link).expect("one's own link leads to one's own folder");
    // Only root can give files away.
    if !rustix::process::geteuid().is_root() {
        return;
    }
    std::os::unix::fs::lchown(&link, Some(65_534), None).expect("root");
    begin(&link).expect_err("another user's link");
    std::os::unix::fs::chown(&own, Some(65_534), None).expect("root");
    begin(&own).expect_err("another user's folder");
}

/// A record can be anyone's.
#[test]
fn a_compressed_study_of_endless_blanks_is_refused_before_it_fills_the_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let (plain, kept) = (folder.path().join("blanks"), folder.path().join(KEPT));
    fs::write(&plain, vec![b' '; LEAST_BOUND + (4 << 20)]).expect("room");
    swath_formats::compressed::compress(&plain, &*kept).expect("compressed");
    let error = format!("{:#}", load(folder.path()).expect_err("too long"));
    assert!(error.contains("its text is too long for a study"), "{error}");
    fs::write(&plain, b"{}").expect("room");
    fs::remove_file(&kept).expect("mine");
    swath_formats::compressed::compress(&plain, &*kept).expect("compressed");
    let error = format!("{:#}", load(folder.path()).expect_err("no study"));
    assert!(!error.contains("too long"), "{error}");
}
