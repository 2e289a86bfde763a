//! The folder of a job: made by one process, removed as a whole, and never another program's.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::sync::Barrier;
use std::time::Duration;

use swath::Reason;
use swath::job::{self, Division, Form, JobOptions, Plan};
use swath_reference::battery::is_full;

use crate::jobs::{Bench, all, attempt, lines, serial};

#[test]
fn of_several_plans_of_one_folder_at_once_exactly_one_is_made() {
    for form in [Form::File, Form::Segments] {
        for _ in 0..20 {
            let bench = Bench::new(&lines(10));
            let barrier = Barrier::new(4);
            let options =
                JobOptions::new().with_form(form).with_folder(bench.path("out.txt.job"));
            let plan = || {
                barrier.wait();
                options.plan([bench.input()], bench.output())
            };
            let plans: Vec<swath::Result<Plan>> = std::thread::scope(|scope| {
                let threads = [(); 4].map(|()| scope.spawn(plan));
                threads.map(|it| it.join().expect("no panic")).into()
            });
            let made: Vec<&Plan> = plans.iter().flatten().collect();
            assert_eq!(made.len(), 1);
            for error in plans.iter().filter_map(|plan| plan.as_ref().err()) {
                let kinds = [ErrorKind::AlreadyExists, ErrorKind::InvalidInput];
                assert!(kinds.contains(&error.io_kind()), "{error}");
            }
            let there = job::open(made[0].folder()).expect("it is whole");
            assert_eq!(there.id(), made[0].id());
            there.commit(&all(&there)).expect("committed");
            there.remove().expect("removed");
            assert_eq!(bench.names(), ["out.txt"]);
        }
    }
}

#[test]
fn what_another_user_has_put_there_or_may_change_is_not_obeyed() {
    if !rustix::process::geteuid().is_root() {
        return swath_reference::skip("root", "only root has another user for a neighbour");
    }
    let bench = Bench::new(&lines(10));
    let plan = bench.plan(&JobOptions::new());
    let done = all(&plan);
    let set_mode = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set");
    };
    for name in ["", "JOB"] {
        let path = plan.folder().join(name);
        let mode = fs::metadata(&path).expect("there").permissions().mode();
        let refused = |says: &str| {
            let part = plan.part(0).expect("the first");
            let mut errors = vec![job::open(plan.folder()).map(drop).expect_err("not ours")];
            if name.is_empty() {
                errors.push(plan.commit(&done).map(drop).expect_err("not ours"));
                errors.push(plan.done().map(drop).expect_err("not ours"));
                errors.push(part.writer().map(drop).expect_err("not ours"));
            }
            for error in errors {
                assert_eq!(error.io_kind(), ErrorKind::PermissionDenied, "{error:?}");
                assert!(
                    format!("{error:?} {}", error.what_to_try()).contains(says),
                    "{error:?}"
                );
            }
        };
        chown(&path, Some(65534), None).expect("as root");
        refused("it is of user 65534");
        chown(&path, Some(0), None).expect("as root");
        for others in [0o020, 0o002] {
            set_mode(&path, mode | others);
            refused("chmod go-w");
            // A user who may write to it can claim that.
            fs::write(plan.folder().join("COMMITTED"), "").expect("room");
            refused("chmod go-w");
            fs::remove_file(plan.folder().join("COMMITTED")).expect("mine");
            set_mode(&path, mode);
        }
    }
    assert!(!bench.output().exists());
    job::open(plan.folder()).and_then(|plan| plan.commit(&done)).expect("ours again");
    assert_eq!(fs::read(bench.output()).expect("there"), serial(&lines(10)));
}

/// Each is in a closed folder of its owner's, which a neighbour can move as a whole.
#[test]
fn two_jobs_whose_closed_folders_were_exchanged_are_not_obeyed() {
    let bench = Bench::new(&lines(10));
    let set_mode = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set");
    };
    let shared = bench.path("shared");
    fs::create_dir(&shared).expect("made");
    set_mode(&shared, 0o777);
    let plans = ["first", "second"].map(|name| {
        fs::create_dir(shared.join(name)).expect("made");
        set_mode(&shared.join(name), 0o700);
        let options = JobOptions::new().with_folder(shared.join(name).join("job"));
        options.plan([bench.input()], bench.path(name)).expect("planned")
    });
    for (from, to) in [("first", "apart"), ("second", "first"), ("apart", "second")] {
        fs::rename(shared.join(from), shared.join(to)).expect("moved");
    }
    for plan in plans {
        let error = job::open(plan.folder()).expect_err("another job");
        assert_eq!(error.reason(), Reason::Invalid, "{error}");
        assert!(error.to_string().contains("other users can move folders here"), "{error}");
    }
    set_mode(&shared, 0o755);
    job::open(shared.join("first/job")).expect("only its owner can have moved it");
}

/// A user who copies a neighbour's folder owns a plan that the neighbour has written.
#[test]
fn where_others_can_move_folders_neither_a_copy_nor_a_strangers_link_is_obeyed() {
    let bench = Bench::new(&lines(10));
    let shared = bench.path("shared");
    fs::create_dir(&shared).expect("made");
    let set_mode = |mode| {
        fs::set_permissions(&shared, fs::Permissions::from_mode(mode)).expect("set");
    };
    let plans = ["first", "second"].map(|name| {
        let options = JobOptions::new().with_folder(shared.join(name));
        options.plan([bench.input()], bench.path(name)).expect("planned")
    });
    let (first, aside) = (plans[0].folder(), shared.join("aside"));
    let refused = |says: &str| {
        for (mode, is_obeyed) in [(0o755, true), (0o777, false), (0o775, false)] {
            set_mode(mode);
            let opened = job::open(first);
            assert_eq!(opened.is_ok(), is_obeyed, "{says} {mode:o}");
            if let Err(error) = opened {
                assert_eq!(error.reason(), Reason::Invalid, "{error}");
                assert!(error.to_string().contains(says), "{error}");
            }
        }
    };
    fs::rename(first, &aside).expect("moved");
    // Where the file system keeps the times of creation.
    if fs::metadata(&aside).is_ok_and(|facts| facts.created().is_ok()) {
        fs::create_dir(first).expect("made");
        fs::set_permissions(first, fs::Permissions::from_mode(0o700)).expect("set");
        fs::copy(aside.join("JOB"), first.join("JOB")).expect("copied");
        refused("it is a copy");
        fs::remove_dir_all(first).expect("removed");
    }
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::symlink("second", first).expect("linked");
        set_mode(0o777);
        job::open(first).expect("a link of one's own");
        std::os::unix::fs::lchown(first, Some(12), None).expect("as root");
        refused("it was planned as");
        fs::remove_file(first).expect("removed");
    }
    fs::rename(&aside, first).expect("moved");
    job::open(first).expect("in its place");
}

#[test]
fn an_existing_folder_is_never_taken() {
    let bench = Bench::new(&lines(10));
    let folder = bench.path("job");
    let options = JobOptions::new().with_folder(&folder);
    fs::create_dir(&folder).expect("made");
    // Even if it is closed and empty: another process may be about to use it.
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).expect("set");
    let error = options.plan([bench.input()], bench.output()).expect_err("it exists");
    assert_eq!(error.io_kind(), ErrorKind::AlreadyExists);
    assert_eq!(error.what_to_try(), "choose a folder that does not exist");
    assert_eq!(bench.names(), ["job"]);
}

#[test]
fn what_a_planner_or_a_removal_left_that_was_killed_is_swept_and_blocks_nothing() {
    let bench = Bench::new(&lines(10));
    let committed = r#"{"bytes":1,"crc32c":2,"parts":3,"cloned":4,"copied":5}"#;
    // As their names are made: a planner, a planner at its first step, two removals.
    let left = [
        (".job.0123456789abcdef.swath-job", vec![("JOB", "{\"ver")]),
        (".job.0000456789abcdef.swath-job", vec![]),
        (".out.txt.job-12345678.0123456789abcdef.swath-job", vec![("COMMITTED", committed)]),
        (
            ".old.0123456789abcdef.swath-job",
            vec![("part-000000.5f3a9c0e12345678.1.000009ae", "x"), (".JOB.swath-lock", "")],
        ),
    ];
    let others = [
        (".of.0123456789abcdef.swath-job", vec![("notes", "mine"), ("JOB", "")]),
        (".swath-job", vec![]),
        (".of.012345678.swath-job", vec![]),
        ("empty", vec![]),
    ];
    for (name, files) in left.iter().chain(&others) {
        fs::create_dir(bench.path(name)).expect("made");
        for (file, bytes) in files {
            fs::write(bench.path(name).join(file), bytes).expect("written");
        }
    }
    let options = JobOptions::new().with_folder(bench.path("job"));
    let plan = bench.plan(&options);
    plan.commit(&all(&plan)).expect("committed");
    plan.remove().expect("removed");
    let hour = job::sweep(bench.folder.path(), Duration::from_secs(3600)).expect("swept");
    assert!(hour.removed.is_empty() && hour.failed.is_empty());
    let swept = job::sweep(bench.folder.path(), Duration::ZERO).expect("swept");
    let mut names: Vec<_> = left.iter().map(|(name, _)| bench.path(name)).collect();
    names.sort();
    assert_eq!(swept.removed.iter().map(|it| it.folder.clone()).collect::<Vec<_>>(), names);
    assert!(swept.failed.is_empty(), "{:?}", swept.failed);
    let was: Vec<bool> = swept.removed.iter().map(|it| it.was_committed).collect();
    assert_eq!(was, [false, false, false, true]);
    let mut kept: Vec<_> = others.iter().map(|(name, _)| String::from(*name)).collect();
    kept.push("out.txt".into());
    kept.sort();
    assert_eq!(bench.names(), kept);
}

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).expect("listed");
    let mut names: Vec<String> = names
        .map(|it| it.expect("an entry").file_name().into_string().expect("text"))
        .collect();
    names.sort();
    names
}

#[test]
fn nothing_is_removed_where_a_file_is_that_is_not_of_the_job() {
    let bench = Bench::new(&lines(10));
    let planned = |name: &str| {
        let plan = JobOptions::new().with_parts(3).plan([bench.input()], bench.path(name));
        plan.expect("planned")
    };
    let (mine, over, dead) = (planned("a"), planned("b"), planned("c"));
    attempt(&mine.part(1).expect("it exists"));
    fs::write(mine.folder().join("notes.txt"), "mine").expect("written");
    fs::create_dir(mine.folder().join("zoo")).expect("made");
    over.commit(&all(&over)).expect("committed");
    fs::write(over.folder().join("notes.txt"), "mine").expect("written");
    let before = (names(mine.folder()), names(over.folder()));
    let abort = mine.abort().expect_err("a file of the user");
    let remove = over.remove().expect_err("a file of the user");
    assert_eq!((names(mine.folder()), names(over.folder())), before);
    // The others go, and both failures are reported with what was removed.
    let swept = job::sweep(bench.folder.path(), Duration::ZERO).expect("swept");
    let removed: Vec<_> = swept.removed.iter().map(|it| it.folder.as_path()).collect();
    assert_eq!(removed, [dead.folder()]);
    assert_eq!(swept.failed.len(), 2);
    for error in swept.failed.iter().chain([&abort, &remove]) {
        assert!(error.to_string().contains("in it is not of the job"), "{error}");
    }
    assert_eq!((names(mine.folder()), names(over.folder())), before);
}

#[test]
fn a_folder_that_is_the_target_or_around_it_is_refused() {
    let bench = Bench::new(&lines(10));
    let link = bench.path("link");
    std::os::unix::fs::symlink(bench.folder.path(), &link).expect("linked");
    let input = bench.input();
    for (target, folder, wanted) in [
        ("o", "o", "it is the output too"),
        ("o", "link/o", "it is the output too"),
        ("o", "o/j", "it is inside the output"),
        ("j/o", "j", "the output is in it"),
        ("o", "in.txt", ""),
    ] {
        let options = JobOptions::new().with_folder(bench.path(folder));
        let error = options.plan([&input], bench.path(target)).expect_err(folder);
        assert!(error.to_string().contains(wanted), "{target} {folder}: {error}");
        assert!(!error.what_to_try().is_empty(), "{error}");
    }
    fs::create_dir(bench.path("d")).expect("made");
    fs::write(bench.path("d/in"), "a\n").expect("written");
    let options = JobOptions::new().with_folder(bench.path("d"));
    let error = options.plan([bench.path("d/in")], bench.output()).expect_err("it is in it");
    assert_eq!(error.reason(), Reason::Invalid);
    assert!(error.to_string().contains("an input is in it"), "{error}");
    assert_eq!(bench.names(), ["d", "link"]);
}

#[test]
fn a_hundred_thousand_inputs_and_parts_are_planned_and_read() {
    // Half a minute for as many as `torture` plans.
    let count = if is_full() { 100_000 } else { 20_000 };
    let bench = Bench::new("line\n");
    let input = bench.input();
    let options = JobOptions::new().with_division(Division::Lines).with_parts(count);
    let plan = options.plan(std::iter::repeat_n(&input, count), bench.output());
    let plan = job::open(plan.expect("planned").folder()).expect("opened");
    assert_eq!((plan.inputs().len(), plan.parts().len()), (count, count));
    for index in (0..count).step_by(20) {
        let part = plan.part(index).expect("it exists");
        let contents = part.contents().expect("lines");
        assert_eq!(contents.iter().map(|it| it.len).sum::<u64>(), 5, "{index}");
    }
    plan.check_inputs().expect("they are the same");
    plan.abort().expect("aborted");
}

#[test]
fn each_input_is_a_part_and_inputs_without_bytes_are_in_none() {
    let bench = Bench::new("a\nb\n");
    let (empty, long) = (bench.path("empty"), bench.path("long"));
    fs::write(&empty, "").expect("written");
    fs::write(&long, lines(1000)).expect("written");
    let inputs = [&bench.input(), &empty, &long, &bench.input()];
    for parts in [0, 1, 2, 100] {
        let options = JobOptions::new().with_division(Division::Inputs).with_parts(parts);
        let plan = options.plan(inputs, bench.output()).expect("planned");
        let paths: Vec<_> = plan
            .parts()
            .map(|part| part.pieces().iter().map(|it| it.path.clone()).collect())
            .collect::<Vec<Vec<_>>>();
        assert_eq!(paths, [[bench.input()], [long.clone()], [bench.input()]]);
        plan.commit(&all(&plan)).expect("committed");
        let right = [serial("a\nb\n"), serial(&lines(1000)), serial("a\nb\n")].concat();
        assert_eq!(fs::read(bench.output()).expect("read"), right);
        plan.remove().expect("removed");
        fs::remove_file(bench.output()).expect("there");
    }
    let groups = JobOptions::new().with_division(Division::Groups).with_parts(2);
    let groups = groups.divide(inputs).expect("divided");
    assert_eq!(groups.iter().map(|part| part.pieces().len()).sum::<usize>(), 4);
}
