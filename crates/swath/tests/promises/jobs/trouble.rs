use std::fs;
use std::io::Write;
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use swath::job::{self, Done, Form, JobOptions, Plan};
use swath::{Extent, Reason};

use crate::jobs::{Bench, all, attempt, lines, serial};

/// The file that an attempt has written.
fn file_of(plan: &Plan, done: &Done) -> PathBuf {
    let names = fs::read_dir(plan.folder()).expect("listed");
    let names = names.map(|it| it.expect("an entry").path());
    let is_it = |path: &PathBuf| path.to_str().is_some_and(|it| it.contains(&done.attempt));
    names.into_iter().find(is_it).expect("it is there")
}

#[test]
fn an_input_that_changes_is_an_error_with_part_path_and_bytes() {
    let bench = Bench::new(&lines(100));
    let plan = bench.plan(&JobOptions::new().with_parts(4));
    let len = lines(100).len() as u64;
    let part = plan.part(2).expect("it exists");
    let (done, running) = (all(&plan), part.writer().expect("begun"));
    fs::File::options()
        .write(true)
        .open(bench.input())
        .expect("there")
        .set_len(100)
        .expect("cut");
    let begun = part.writer().expect_err("it is shorter");
    let ended = running.finish().expect_err("it is shorter");
    for error in [&begun, &ended] {
        assert_eq!(error.reason(), Reason::Changed);
        assert_eq!(error.path(), bench.input());
        assert_eq!(error.extent(), Some(part.pieces()[0].extent()));
        let text = format!(
            "part 2 of the job reads it, and it had {len} bytes when the job was planned, and \
             has 100"
        );
        assert!(error.to_string().contains(&text), "{error}");
    }
    let error = plan.commit(&done).expect_err("it is shorter");
    assert_eq!(
        (error.reason(), error.extent()),
        (Reason::Changed, Some(Extent::new(0, len).expect("fits")))
    );
    assert!(!bench.output().exists());
}

#[test]
fn an_input_that_is_written_with_the_same_length_is_noticed() {
    let bench = Bench::new(&lines(100));
    let plan = bench.plan(&JobOptions::new());
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(1);
    let file = fs::File::options().write(true).open(bench.input()).expect("there");
    file.write_all_at(b"9", 0).expect("written");
    file.set_modified(later).expect("set");
    let error = plan.part(0).expect("it exists").writer().expect_err("it has changed");
    assert!(error.to_string().contains("written to or replaced"), "{error}");
    fs::remove_file(bench.input()).expect("removed");
    let error = plan.check_inputs().expect_err("it is gone");
    assert_eq!(error.io_kind(), std::io::ErrorKind::NotFound);
}

/// A neighbour puts a link, or another folder, where the output is to go.
#[test]
fn an_output_whose_path_leads_elsewhere_at_the_commit_is_refused() {
    let bench = Bench::new(&lines(10));
    let secret = bench.input().with_extension("secret");
    let folder = bench.output().with_extension("folder");
    let plan_to = |target: &Path| {
        let job = bench.input().with_extension("job");
        let _ = fs::remove_dir_all(&job);
        JobOptions::new().with_folder(job).plan([bench.input()], target).expect("planned")
    };
    for way in ["a link", "another folder", "a link to a link"] {
        fs::write(&secret, b"private").expect("written");
        fs::create_dir(&folder).expect("made");
        let target = folder.join("out");
        if way == "a link to a link" {
            symlink(folder.join("first"), &target).expect("linked");
        }
        let plan = plan_to(&target);
        let done = all(&plan);
        match way {
            "another folder" => {
                fs::rename(&folder, folder.with_extension("moved")).expect("moved");
                fs::create_dir(&folder).expect("made");
                fs::write(&target, b"private").expect("written");
            }
            "a link" => symlink(&secret, &target).expect("linked"),
            _ => {
                fs::remove_file(&target).expect("ours");
                symlink(&secret, &target).expect("linked");
            }
        }
        let error = plan.commit(&done).expect_err(way);
        assert_eq!(error.reason(), Reason::Changed, "{way}: {error}");
        assert_eq!(fs::read(&secret).expect("there"), b"private", "{way}");
        if way == "another folder" {
            assert_eq!(fs::read(&target).expect("there"), b"private");
            let _ = fs::remove_dir_all(folder.with_extension("moved"));
        }
        let _ = plan.abort();
        fs::remove_dir_all(&folder).expect("ours");
    }
    // A link that was there is followed.
    fs::create_dir(&folder).expect("made");
    let target = folder.join("out");
    symlink(folder.join("beyond"), &target).expect("linked");
    let plan = plan_to(&target);
    plan.commit(&all(&plan)).expect("as it was planned");
    assert!(target.is_symlink() && folder.join("beyond").is_file());
}

/// Its length and time are those of the plan.
#[test]
fn an_input_that_is_replaced_by_one_of_its_length_and_time_is_noticed() {
    let bench = Bench::new(&lines(100));
    let plan = bench.plan(&JobOptions::new().with_parts(2));
    let other = bench.input().with_extension("other");
    fs::write(&other, lines(100).replace('1', "7")).expect("written");
    let planned = fs::metadata(bench.input()).expect("there");
    let file = fs::File::options().write(true).open(&other).expect("ours");
    file.set_modified(planned.modified().expect("known")).expect("set");
    let part = plan.part(1).expect("it exists");
    let running = part.writer().expect("begun");
    fs::rename(&other, bench.input()).expect("moved");
    for error in [
        part.pieces()[0].open().expect_err("another file"),
        part.writer().map(drop).expect_err("another file"),
        running.finish().map(drop).expect_err("another file"),
        plan.check_inputs().expect_err("another file"),
    ] {
        assert_eq!(error.reason(), Reason::Changed);
        assert!(error.to_string().contains("it is another file than"), "{error}");
    }
}

/// The name of an input may lead to a secret for a moment: its bytes never get into an output that all may read.
#[test]
fn what_a_piece_opens_is_the_file_of_the_plan_and_as_public() {
    let bench = Bench::new(&lines(100));
    let mode = |mode| fs::Permissions::from_mode(mode);
    fs::set_permissions(bench.input(), mode(0o644)).expect("ours");
    let plan = bench.plan(&JobOptions::new());
    let part = plan.part(0).expect("it exists");
    let piece = &part.pieces()[0];
    let opened = piece.open().expect("as it was planned");
    assert_eq!(opened.len(), Some(lines(100).len() as u64));
    let secret = bench.input().with_extension("secret");
    fs::write(&secret, "s".repeat(lines(100).len())).expect("written");
    let planned = fs::metadata(bench.input()).expect("there");
    let file = fs::File::options().write(true).open(&secret).expect("ours");
    file.set_modified(planned.modified().expect("known")).expect("set");
    fs::set_permissions(&secret, mode(0o600)).expect("ours");
    fs::rename(bench.input(), bench.input().with_extension("public")).expect("moved");
    fs::rename(&secret, bench.input()).expect("moved");
    for error in [
        piece.open().expect_err("fewer users may read it"),
        part.writer().map(drop).expect_err("the same"),
        plan.check_inputs().expect_err("the same"),
    ] {
        assert_eq!(error.reason(), Reason::Changed);
        assert!(error.to_string().contains("fewer users may read it"), "{error}");
    }
    fs::rename(bench.input().with_extension("public"), bench.input()).expect("moved back");
    fs::set_permissions(bench.input(), mode(0o666)).expect("ours");
    let done = all(&plan);
    plan.commit(&done).expect("more users may read it now");
    let made = fs::metadata(bench.output()).expect("there").permissions().mode();
    assert_eq!(made & 0o022, 0, "not more than when the job was planned");
}

#[test]
fn damaged_bytes_of_a_part_are_found_and_the_part_is_done_again() {
    for form in [Form::File, Form::Segments] {
        for shorter in [false, true] {
            let bench = Bench::new(&lines(100));
            let plan = bench.plan(&JobOptions::new().with_parts(3).with_form(form));
            let mut done = all(&plan);
            let path = file_of(&plan, &done[1]);
            let file = fs::File::options().write(true).open(&path).expect("there");
            match shorter {
                true => file.set_len(done[1].len - 1).expect("cut"),
                false => file.write_all_at(b"?", 5).expect("written"),
            }
            if form == Form::Segments && !shorter {
                // Nothing is read at the commit; readers find it.
                plan.commit(&done).expect("committed");
                let opened = swath::append::open(bench.output()).expect("opened");
                assert_eq!(opened.verify().expect_err("damaged").reason(), Reason::Corrupt);
                continue;
            }
            let error = plan.commit(&done).expect_err("damaged");
            assert_eq!(error.reason(), Reason::Corrupt, "{error}");
            assert_eq!(error.path(), path);
            assert!(error.to_string().contains("of part 1 wrote"), "{error}");
            assert!(form == Form::Segments || !bench.output().exists());
            done[1] = attempt(&plan.part(1).expect("it exists"));
            plan.commit(&done).expect("it was done again");
            let bytes = swath::append::open(bench.output()).map(|mut it| {
                let mut bytes = Vec::new();
                std::io::Read::read_to_end(&mut it, &mut bytes).expect("read");
                bytes
            });
            assert_eq!(bytes.expect("opened"), serial(&lines(100)));
        }
    }
}

#[test]
fn what_is_not_a_plan_is_refused() {
    let bench = Bench::new(&lines(10));
    let plan = bench.plan(&JobOptions::new().with_parts(2));
    let json = plan.to_json();
    let path = plan.folder().join("JOB");
    for (from, to) in [
        ("{", ""),
        ("\"version\":5", "\"version\":2"),
        ("\"parts\":[[[0,0", "\"parts\":[[[1,0"),
        ("\"parts\":[[[0,0", "\"parts\":[[[0,18446744073709551615"),
        ("\"parts\":[[[0,0", "\"parts\":[[[0,-1"),
        // Bytes that no part reads, or that two do.
        ("\"parts\":[[[0,0", "\"parts\":[[[0,1"),
        ("\"parts\":[", "\"parts\":[[[0,0,1]],"),
        ("\"parts\":[[[0,0", "\"parts\":[[[0,0,0],[0,0"),
        ("\"input_len\":", "\"input_len\":1"),
        ("]]],", "]]],\"x\":0}{"),
        ("\"target\":\"/", "\"target\":\""),
        ("\"folder\":\"/", "\"folder\":\""),
        ("\"path\":\"/", "\"path\":\""),
        ("\"id\":\"", "\"id\":\"../"),
        ("\"division\":\"records\"", "\"division\":{\"width\":7}"),
        ("\"division\":\"records\"", "\"division\":\"inputs\""),
        ("\"division\":\"records\"", "\"division\":\"words\""),
        ("\"division\":\"records\",", ""),
        // What only the checksum finds.
        ("\"division\":\"records\"", "\"division\":\"lines\""),
        (plan.id(), "0123456789abcdef"),
        ("in.txt\"", "on.txt\""),
        ("\"durable\":true", "\"durable\":false"),
        ("\"crc32c\":\"", "\"crc32c\":\"0"),
        ("\"crc32c\":", "\"crc\":"),
    ] {
        let bad = json.replacen(from, to, 1);
        assert_ne!(bad, json);
        fs::write(&path, &bad).expect("written");
        let error = job::open(plan.folder()).expect_err("it is damaged");
        assert_eq!((error.reason(), error.path()), (Reason::Corrupt, path.as_path()), "{bad}");
        let told = "it is not the plan of a job, or was changed after it was planned: ";
        assert!(error.to_string().contains(told), "{error}");
        // Not in the words of a parser.
        assert!(
            !["expected", "missing field", "line 1"]
                .iter()
                .any(|it| error.to_string().contains(it))
        );
        assert_eq!(Plan::from_json(&bad).expect_err("the same").reason(), Reason::Corrupt);
    }
    fs::remove_file(&path).expect("removed");
    let error = job::open(plan.folder()).expect_err("there is no plan");
    assert_eq!(error.io_kind(), std::io::ErrorKind::NotFound);
    let chain = format!("{}", std::error::Error::source(&error).expect("the kernel's"));
    assert!(chain.contains("No such file or directory"), "{chain}");
    let error = plan.part(0).expect("it exists").writer().expect_err("there is no plan");
    assert_eq!(error.reason(), Reason::Invalid);
}

#[test]
fn a_plan_of_more_parts_than_a_job_can_have_is_refused() {
    let bench = Bench::new("");
    let plan = bench.plan(&JobOptions::new());
    let parts = vec!["[]"; 1_000_001].join(",");
    let json = plan.to_json().replace("\"parts\":[[]]", &format!("\"parts\":[{parts}]"));
    let error = Plan::from_json(&json).expect_err("too many");
    assert!(error.to_string().contains("it has 1000001 parts"), "{error}");
}

#[test]
fn inputs_that_are_not_files_and_targets_that_are_not_are_refused() {
    let bench = Bench::new("");
    let error = job::plan([bench.folder.path()], bench.output()).expect_err("a folder");
    assert_eq!((error.reason(), error.path()), (Reason::Invalid, bench.folder.path()));
    let error = job::plan(["/dev/null"], bench.output()).expect_err("a device");
    assert_eq!(error.reason(), Reason::Invalid);
    let error = job::plan([bench.path("nosuch")], bench.output()).expect_err("absent");
    assert_eq!(error.io_kind(), std::io::ErrorKind::NotFound);
    let error = job::plan([bench.input()], bench.folder.path()).expect_err("a folder");
    assert_eq!(error.io_kind(), std::io::ErrorKind::IsADirectory);
    for target in ["/".into(), "..".into(), bench.path("..")] {
        let error = job::plan([bench.input()], &target).expect_err("a folder");
        assert_eq!((error.reason(), error.path()), (Reason::Invalid, &*target));
        assert!(error.to_string().contains("the output needs a name of its own"), "{error}");
    }
    let error = job::plan([bench.input()], "/dev/null").expect_err("a device");
    assert_eq!(error.reason(), Reason::Invalid);
    let error = job::plan([bench.input()], bench.path("no/such/out")).expect_err("absent");
    assert_eq!(error.io_kind(), std::io::ErrorKind::NotFound);
    // Files of /proc have no length, and bytes.
    let error = job::plan(["/proc/self/status"], bench.output()).expect_err("it has bytes");
    assert_eq!(error.reason(), Reason::Invalid);
    assert!(error.to_string().contains("reports a length of 0 bytes"), "{error}");
    assert!(error.what_to_try().starts_with("copy it with cat(1)"), "{error}");
    let many = JobOptions::new().with_parts(1_000_001).plan([bench.input()], bench.output());
    assert_eq!(many.expect_err("too many").reason(), Reason::Invalid);
    let segments = JobOptions::new().with_form(Form::Segments);
    let error = segments.plan([bench.input()], bench.input()).expect_err("it exists");
    assert_eq!(error.reason(), Reason::Invalid);
    assert!(bench.names().is_empty());
}

#[test]
fn a_late_attempt_does_not_write_into_the_folder_of_another_job() {
    let bench = Bench::new(&lines(10));
    let options = JobOptions::new().with_folder(bench.path("job"));
    let plan = bench.plan(&options);
    let part = plan.part(0).expect("it exists");
    plan.abort().expect("aborted");
    let other = bench.plan(&options);
    let error = part.writer().expect_err("another job is there");
    assert_eq!(error.reason(), Reason::Invalid, "{error}");
    assert!(other.done().expect("listed").is_empty());
    attempt(&other.part(0).expect("it exists"));
}

#[test]
fn a_writer_that_is_dropped_leaves_nothing() {
    let bench = Bench::new(&lines(10));
    let plan = bench.plan(&JobOptions::new());
    let mut out = plan.part(0).expect("it exists").writer().expect("begun");
    out.write_all(&vec![1; 5 << 20]).expect("written");
    drop(out);
    assert_eq!(fs::read_dir(plan.folder()).expect("listed").count(), 1);
    assert!(plan.done().expect("listed").is_empty());
}

#[test]
fn two_commits_at_once_are_one_or_the_other_is_told() {
    let bench = Bench::new(&lines(50_000));
    let plan = bench.plan(&JobOptions::new().with_parts(8));
    let done = all(&plan);
    let barrier = std::sync::Barrier::new(4);
    let ended: Vec<_> = std::thread::scope(|scope| {
        let commit = || {
            barrier.wait();
            plan.commit(&done)
        };
        let threads = [(); 4].map(|()| scope.spawn(commit));
        threads.map(|it| it.join().expect("no panic")).into()
    });
    let first = ended.iter().flatten().next().expect("one of them commits");
    for end in &ended {
        match end {
            Ok(committed) => assert_eq!(committed.crc32c, first.crc32c),
            Err(error) => assert_eq!(error.reason(), Reason::Busy, "{error}"),
        }
    }
    assert_eq!(fs::read(bench.output()).expect("read"), serial(&lines(50_000)));
}
