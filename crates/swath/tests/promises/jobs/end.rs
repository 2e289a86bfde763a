use std::fs;
use std::io::{ErrorKind, Write};
use std::time::Duration;

use swath::job::{self, Form, JobOptions, State};
use swath::{Extent, Reason};

use crate::jobs::{Bench, all, attempt, lines, serial};

#[test]
fn an_aborted_job_leaves_the_target_and_nothing_else() {
    let bench = Bench::new(&lines(10));
    fs::write(bench.output(), "old").expect("written");
    let plan = bench.plan(&JobOptions::new().with_parts(2));
    let part = plan.part(0).expect("it exists");
    attempt(&part);
    let mut running = part.writer().expect("begun");
    plan.abort().expect("aborted");
    assert_eq!(bench.names(), ["out.txt"]);
    assert_eq!(fs::read(bench.output()).expect("read"), b"old");
    running.write_all(b"more").expect("it has a file");
    assert_eq!(running.finish().expect_err("gone").io_kind(), ErrorKind::NotFound);
    assert_eq!(part.writer().expect_err("gone").io_kind(), ErrorKind::NotFound);
    assert_eq!(plan.commit(&[]).expect_err("gone").io_kind(), ErrorKind::NotFound);
}

#[test]
fn abort_and_remove_refuse_what_is_not_theirs() {
    let bench = Bench::new(&lines(10));
    let plan = bench.plan(&JobOptions::new());
    assert_eq!(plan.remove().expect_err("not committed").reason(), Reason::Invalid);
    fs::write(plan.folder().join("notes.txt"), "mine").expect("written");
    let error = plan.abort().expect_err("a file of the user");
    assert!(error.to_string().contains("notes.txt in it is not of the job"), "{error}");
    assert!(plan.folder().join("notes.txt").exists());

    let plan = JobOptions::new().plan([bench.input()], bench.path("other")).expect("planned");
    plan.commit(&all(&plan)).expect("committed");
    assert_eq!(plan.abort().expect_err("committed").reason(), Reason::Invalid);
    plan.remove().expect("removed");
    assert!(bench.path("other").exists() && !plan.folder().exists());

    let segments = JobOptions::new().with_form(Form::Segments);
    let plan = segments.plan([bench.input()], bench.path("parts")).expect("planned");
    plan.commit(&all(&plan)).expect("committed");
    plan.remove().expect("nothing to remove");
    assert_eq!(plan.abort().expect_err("committed").reason(), Reason::Invalid);
    assert!(swath::append::open(bench.path("parts")).is_ok());
}

#[test]
fn a_commit_removes_what_attempts_wrote_and_no_other_file() {
    let bench = Bench::new(&lines(10));
    for form in [Form::File, Form::Segments] {
        let target = bench.path(if form == Form::File { "file" } else { "segments" });
        let options = JobOptions::new().with_parts(2).with_form(form);
        let plan = options.plan([bench.input()], target).expect("planned");
        // Names that are nearly those of attempts.
        let foreign = ["notes.txt", "part-1", "part-000000.txt", ".part-000000.kept"];
        for name in foreign {
            fs::write(plan.folder().join(name), "mine").expect("room");
        }
        let first = all(&plan);
        all(&plan);
        plan.commit(&first).expect("committed");
        let names = fs::read_dir(plan.folder()).expect("there");
        let mut names: Vec<_> = names.map(|it| it.expect("an entry").file_name()).collect();
        names.retain(|name| name.to_str() != Some(".JOB.swath-lock"));
        let kept = |name: &std::ffi::OsString| foreign.iter().any(|it| name == it);
        assert_eq!(names.iter().filter(|name| kept(name)).count(), foreign.len(), "{names:?}");
        // The plan, and that it is committed; or the plan, the manifest and two segments.
        let of_job = if form == Form::File { 2 } else { 4 };
        assert_eq!(names.len(), foreign.len() + of_job, "{names:?}");
        let removed = plan.remove();
        assert_eq!(removed.is_ok(), form == Form::Segments, "{removed:?}");
        assert!(plan.folder().join("JOB").exists());
    }
}

#[test]
fn a_sweep_removes_old_jobs_and_keeps_outputs_and_others() {
    let bench = Bench::new(&lines(10));
    let planned = |name: &str, form| {
        let options = JobOptions::new().with_form(form);
        options.plan([bench.input()], bench.path(name)).expect("planned")
    };
    let dead = planned("dead", Form::File);
    attempt(&dead.part(0).expect("it exists"));
    let over = planned("over", Form::File);
    over.commit(&all(&over)).expect("committed");
    let output = planned("segments", Form::Segments);
    output.commit(&all(&output)).expect("committed");
    let begun = planned("begun", Form::Segments);
    fs::create_dir(bench.path("folder")).expect("made");
    fs::write(bench.path("folder/JOB"), "my notes on a job").expect("written");

    let hour = job::sweep(bench.folder.path(), Duration::from_secs(3600)).expect("swept");
    assert_eq!(hour.removed, []);
    let swept = job::sweep(bench.folder.path(), Duration::ZERO).expect("swept");
    assert!(swept.failed.is_empty(), "{:?}", swept.failed);
    let swept: Vec<_> =
        swept.removed.iter().map(|it| (&*it.folder, it.was_committed)).collect();
    let mut expected = [(dead.folder(), false), (over.folder(), true), (begun.folder(), false)];
    expected.sort();
    assert_eq!(swept, expected);
    assert_eq!(bench.names(), ["folder", "over", "segments"]);
    assert!(bench.path("folder/JOB").exists());
    assert!(swath::append::open(bench.path("segments")).is_ok());
}

#[test]
fn a_removal_gives_the_name_up_first_and_what_it_cannot_remove_is_swept() {
    use crate::hooked::{Call, Hook, Hooked};
    /// Removes no file.
    #[derive(Debug)]
    struct Stuck;
    impl Hook for Stuck {
        fn before(&self, call: Call) -> std::io::Result<()> {
            if call == Call::Remove { Err(ErrorKind::Other.into()) } else { Ok(()) }
        }
    }
    let bench = Bench::new(&lines(10));
    let plan = bench.plan(&JobOptions::new());
    plan.commit(&all(&plan)).expect("committed");
    let fs = std::sync::Arc::new(Hooked(std::sync::Arc::new(Stuck)));
    let stuck = plan.clone().with_output(swath::OutputOptions::new().with_fs(fs));
    let error = stuck.remove().expect_err("it is stuck");
    assert!(error.path().to_string_lossy().contains(".swath-job/"), "{error}");
    assert_eq!(bench.names().len(), 2);
    for gone in [plan.commit(&[]).map(drop), plan.abort(), plan.status().map(drop)] {
        let error = gone.expect_err("its name is gone");
        assert_eq!(error.io_kind(), ErrorKind::NotFound);
        assert!(
            error.what_to_try().contains("the folder of a finished job is removed"),
            "{error}"
        );
    }
    let swept = job::sweep(bench.folder.path(), Duration::ZERO).expect("swept");
    assert!(swept.removed.iter().all(|it| it.was_committed) && swept.removed.len() == 1);
    assert_eq!(bench.names(), ["out.txt"]);
}

#[test]
fn the_folder_tells_how_far_the_job_is() {
    for form in [Form::File, Form::Segments] {
        let bench = Bench::new(&lines(100));
        let plan = bench.plan(&JobOptions::new().with_parts(5).with_form(form));
        let status = || job::status(plan.folder()).expect("read");
        let between = |offset, len| Extent::new(offset, len).expect("fits");
        assert_eq!((status().state, status().done, status().bytes), (State::Running, 0, 0));
        assert_eq!(status().missing, [between(0, 5)]);
        for part in [1, 1, 4] {
            attempt(&plan.part(part).expect("it exists"));
        }
        assert_eq!((status().done, status().attempts, status().parts), (2, 3, 5));
        assert_eq!(status().missing, [between(0, 1), between(2, 2)]);
        assert!(status().changed.is_some());
        let done = all(&plan);
        assert_eq!((status().state, status().missing), (State::Complete, vec![]));
        assert_eq!(status().bytes, serial(&lines(100)).len() as u64);
        if form == Form::File {
            let chosen = serde_json::to_string(&done).expect("plain data");
            fs::write(plan.folder().join("CHOSEN"), chosen).expect("written");
            assert_eq!(status().state, State::Committing);
        }
        plan.commit(&done).expect("committed");
        assert_eq!((status().state, status().done), (State::Committed, 5));
        assert_eq!(status().bytes, serial(&lines(100)).len() as u64);
        assert_eq!(status().target, bench.output());
    }
}

#[test]
fn a_commit_that_was_killed_goes_on_with_the_attempts_it_chose() {
    for replace in [true, false] {
        let bench = Bench::new(&lines(100));
        let output = swath::OutputOptions::new().with_replace(match replace {
            true => swath::sink::Replace::Allowed,
            false => swath::sink::Replace::Refused,
        });
        let plan = bench.plan(&JobOptions::new().with_parts(2).with_output(output));
        let done = all(&plan);
        let chosen = serde_json::to_string(&done).expect("plain data");
        fs::write(plan.folder().join("CHOSEN"), chosen).expect("written");
        // Killed after the rename: the output is there, and nothing says so.
        fs::write(bench.output(), serial(&lines(100))).expect("written");
        let mut other = plan.part(0).expect("it exists").writer().expect("begun");
        other.write_all(b"of a function that is not deterministic").expect("written");
        let other = [other.finish().expect("finished"), done[1].clone()];
        let again = job::open(plan.folder()).expect("opened").commit(&other);
        assert_eq!(again.expect("committed").bytes, serial(&lines(100)).len() as u64);
        assert_eq!(fs::read(bench.output()).expect("read"), serial(&lines(100)));
        assert_eq!(job::status(plan.folder()).expect("read").state, State::Committed);
    }
}

#[test]
fn the_lock_of_a_commit_that_was_killed_after_the_name_was_given_is_removed_by_the_next() {
    for replace in [swath::sink::Replace::Allowed, swath::sink::Replace::Refused] {
        let bench = Bench::new(&lines(100));
        let output = swath::OutputOptions::new().with_replace(replace);
        let plan = bench.plan(&JobOptions::new().with_parts(2).with_output(output));
        let done = all(&plan);
        let chosen = serde_json::to_string(&done).expect("plain data");
        fs::write(plan.folder().join("CHOSEN"), chosen).expect("written");
        fs::write(bench.output(), serial(&lines(100))).expect("written");
        let lock = bench.path(".out.txt.swath-lock");
        fs::write(&lock, "").expect("written");
        plan.commit(&done).expect("committed");
        assert!(!lock.exists(), "{replace:?}");
        // One that is held is of another writer, whose file comes later.
        plan.remove().expect("removed");
        let plan = JobOptions::new().with_parts(2).plan([bench.input()], bench.path("more"));
        let plan = plan.expect("planned");
        let held = swath::append::create(bench.path("more")).expect("begun");
        let error = plan.commit(&all(&plan)).expect_err("it is written");
        assert_eq!(error.reason(), Reason::Busy, "{error}");
        drop(held);
    }
}
