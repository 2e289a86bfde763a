use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use swath::append;
use swath::job::{self, Division, Form, JobOptions, Part, Plan};
use swath::sink::{Fs, LocalFs, Replace};
use swath::{CancelToken, OutputOptions, Reason};

use crate::before::BeforeCall;
use crate::hooked::{Call, Hook, Hooked};
use crate::jobs::{Bench, all, attempt, lines, output_of, serial};

#[test]
fn parts_in_any_order_give_the_bytes_of_the_serial_program() {
    for count in [0, 1, 2, 50, 1000] {
        let text = lines(count);
        for parts in [1, 2, 3, 16, 100] {
            for form in [Form::File, Form::Segments] {
                let bench = Bench::new(&text);
                let plan = bench.plan(&JobOptions::new().with_parts(parts).with_form(form));
                let parts = parts.min(text.len().max(1));
                assert_eq!(plan.parts().len(), parts);
                let mut done = all(&plan);
                done.reverse();
                let committed = plan.commit(&done).expect("committed");
                let mut found = Vec::new();
                let mut opened = append::open(bench.output()).expect("opened");
                opened.read_to_end(&mut found).expect("read");
                assert_eq!(found, serial(&text), "{count} lines, {parts} parts, {form}");
                assert_eq!(committed.bytes, found.len() as u64);
                assert_eq!(committed.crc32c, crc32c::crc32c(&found));
                assert_eq!(committed.parts, parts as u64);
                plan.remove().expect("removed");
                assert_eq!(bench.names(), ["out.txt"]);
            }
        }
    }
}

#[test]
fn a_last_line_without_an_end_and_several_inputs_are_one_sequence() {
    let bench = Bench::new("one\ntwo");
    let more = bench.path("more.txt");
    fs::write(&more, "three\n\nfour\n").expect("written");
    fs::write(bench.path("empty"), "").expect("written");
    for parts in 1..30 {
        let inputs = [bench.input(), bench.path("empty"), more.clone()];
        let plan = JobOptions::new().with_parts(parts).plan(inputs, bench.output());
        let plan = plan.expect("planned");
        plan.commit(&all(&plan)).expect("committed");
        plan.remove().expect("removed");
        let expected = serial("one\ntwo\nthree\n\nfour\n");
        assert_eq!(fs::read(bench.output()).expect("read"), expected, "{parts} parts");
    }
}

#[test]
fn whole_inputs_and_records_of_one_width_are_not_cut() {
    let bench = Bench::new(&"12345678".repeat(100));
    let width = Division::Width(8.try_into().expect("not 0"));
    let plan = bench.plan(&JobOptions::new().with_parts(7).with_division(width));
    for part in plan.parts() {
        assert!(part.pieces().iter().all(|it| it.offset % 8 == 0 && it.len % 8 == 0));
    }
    plan.abort().expect("aborted");
    let inputs = JobOptions::new().with_parts(3).with_division(Division::Inputs);
    let plan = bench.plan(&inputs);
    let lens: Vec<u64> =
        plan.parts().flat_map(|it| it.pieces().to_vec()).map(|it| it.len).collect();
    assert_eq!((lens, plan.parts().len()), (vec![800], 1));
}

#[test]
fn a_last_record_that_is_not_whole_is_an_error_with_its_bytes() {
    let bench = Bench::new(&"12345678".repeat(10));
    let torn = bench.path("torn");
    fs::write(&torn, "12345678123").expect("written");
    let width = Division::Width(8.try_into().expect("not 0"));
    let options = JobOptions::new().with_division(width);
    let error = options.plan([bench.input(), torn.clone()], bench.output()).expect_err("torn");
    assert_eq!((error.reason(), error.path()), (Reason::Invalid, &*torn));
    assert_eq!(error.extent(), swath::Extent::new(8, 3));
    assert!(error.to_string().contains("its last record has 3 bytes, not 8"), "{error}");
    assert_eq!(options.divide([&torn]).expect_err("torn").reason(), Reason::Invalid);
}

#[test]
fn the_default_is_a_part_for_each_64_mib_and_one_for_nothing() {
    let bench = Bench::new("");
    fs::File::create(bench.path("big")).and_then(|it| it.set_len(200 << 20)).expect("sparse");
    let plan = |name: &str| job::plan([bench.path(name)], bench.path(&format!("{name}.out")));
    assert_eq!(plan("big").expect("planned").parts().len(), 4);
    assert_eq!(plan("in.txt").expect("planned").parts().len(), 1);
    let none: [&str; 0] = [];
    let plan = JobOptions::new().with_parts(5).plan(none, bench.output()).expect("planned");
    let parts: Vec<Part> = plan.parts().collect();
    assert!(parts.len() == 5 && parts.iter().all(|part| part.pieces().is_empty()));
}

#[test]
fn two_attempts_at_once_leave_one_output_and_the_first_receipt_counts() {
    let bench = Bench::new(&lines(10));
    let plan = bench.plan(&JobOptions::new().with_parts(2));
    let (barrier, part) = (Barrier::new(2), plan.part(0).expect("it exists"));
    let mut twice = Vec::new();
    std::thread::scope(|scope| {
        let attempts = [b"first", b"other"].map(|bytes| {
            let (barrier, part) = (&barrier, &part);
            scope.spawn(move || {
                let mut out = part.writer().expect("begun");
                barrier.wait();
                out.write_all(bytes).expect("written");
                barrier.wait();
                out.finish().expect("finished")
            })
        });
        twice.extend(attempts.map(|it| it.join().expect("no panic")));
    });
    assert_ne!(twice[0].attempt, twice[1].attempt);
    let last = attempt(&plan.part(1).expect("it exists"));
    plan.commit(&[last.clone(), twice[1].clone(), twice[0].clone()]).expect("committed");
    let expected = [&b"other"[..], &output_of(&plan.part(1).expect("it exists"))].concat();
    assert_eq!(fs::read(bench.output()).expect("read"), expected);
}

#[test]
fn a_commit_that_is_run_again_returns_the_same() {
    for form in [Form::File, Form::Segments] {
        let bench = Bench::new(&lines(100));
        let plan = bench.plan(&JobOptions::new().with_parts(4).with_form(form));
        let done = all(&plan);
        let first = plan.commit(&done).expect("committed");
        // Also from another process, and without receipts.
        let again = job::open(plan.folder()).expect("opened");
        for receipts in [&done[..], &[]] {
            let second = again.commit(receipts).expect("the same");
            assert_eq!((first.bytes, first.crc32c), (second.bytes, second.crc32c), "{form}");
        }
        let names = fs::read_dir(plan.folder()).expect("listed").count();
        assert_eq!(names, if form == Form::File { 2 } else { 6 });
    }
}

#[test]
fn a_client_that_lost_its_receipts_finds_them() {
    let bench = Bench::new(&lines(100));
    let plan = bench.plan(&JobOptions::new().with_parts(4));
    let (mut done, second) = (all(&plan), attempt(&plan.part(1).expect("it exists")));
    let found = job::open(plan.folder()).expect("opened").done().expect("listed");
    assert_eq!(found.iter().map(|it| it.part).collect::<Vec<_>>(), [0, 1, 1, 2, 3]);
    done.push(second);
    assert!(done.iter().all(|it| found.contains(it)));
    plan.commit(&found).expect("committed");
    assert_eq!(fs::read(bench.output()).expect("read"), serial(&lines(100)));
}

#[test]
fn missing_parts_and_receipts_of_another_job_are_refused() {
    let bench = Bench::new(&lines(100));
    let plan = bench.plan(&JobOptions::new().with_parts(4));
    let done = all(&plan);
    let error = plan.commit(&done[1..3]).expect_err("two are missing");
    assert_eq!(error.reason(), Reason::Invalid);
    assert!(error.to_string().contains("parts 0 and 3 are not done"), "{error}");
    let options = JobOptions::new().with_parts(5);
    let other = options.plan([bench.input()], bench.path("other")).expect("planned");
    let foreign = all(&other);
    let error = plan.commit(&foreign).expect_err("part 4 is not of this job");
    assert!(error.to_string().contains("of part 4 is not of this job"), "{error}");
    let error = plan.commit(&foreign[..4]).expect_err("they are elsewhere");
    assert_eq!(error.reason(), Reason::Corrupt);
    assert!(error.to_string().contains("of part 0 wrote is not there"), "{error}");
    let mut sly = done.clone();
    sly[2].attempt = String::from("../../etc/passwd");
    assert_eq!(plan.commit(&sly).expect_err("not a name").reason(), Reason::Invalid);
    assert!(!bench.output().exists());
    plan.commit(&done).expect("nothing was harmed");
    // It has an outcome now, which is not that of these receipts.
    for wrong in [&foreign, &sly] {
        let error = plan.commit(wrong).expect_err("not of this job");
        assert!(error.to_string().contains("is not of this job"), "{error}");
    }
}

#[test]
fn a_file_with_the_name_of_another_jobs_attempt_does_not_stop_the_commit() {
    let bench = Bench::new(&lines(100));
    let plan = bench.plan(&JobOptions::new().with_parts(4));
    attempt(&plan.part(0).expect("it exists"));
    fs::write(plan.folder().join("part-000007.0123456789abcdef.3.01234567"), "abc")
        .expect("written");
    all(&plan);
    let found = plan.done().expect("listed");
    assert!(found.iter().all(|it| it.part < 4), "{found:?}");
    assert_eq!(plan.status().expect("read").attempts, 5);
    plan.commit(&found).expect("committed");
    assert_eq!(fs::read(bench.output()).expect("read"), serial(&lines(100)));
}

#[test]
fn plans_parts_and_receipts_are_plain_data() {
    let bench = Bench::new(&lines(100));
    let odd = bench.path("x").with_file_name(std::ffi::OsString::from_vec(b"in\xff".to_vec()));
    fs::write(&odd, lines(3)).expect("written");
    let inputs = [bench.input(), odd];
    let plan = JobOptions::new().with_parts(3).plan(inputs, bench.output()).expect("planned");
    let there = Plan::from_json(&plan.to_json()).expect("its own text");
    let mut done = Vec::new();
    for part in there.parts() {
        let json = serde_json::to_string(&part).expect("plain data");
        let part: Part = serde_json::from_str(&json).expect("its own text");
        let json = serde_json::to_string(&attempt(&part)).expect("plain data");
        done.push(serde_json::from_str(&json).expect("its own text"));
    }
    there.commit(&done).expect("committed");
    let expected = [serial(&lines(100)), serial(&lines(3))].concat();
    assert_eq!(fs::read(bench.output()).expect("read"), expected);
}

#[test]
fn only_what_may_be_replaced_is_and_keeps_its_mode() {
    let bench = Bench::new(&lines(10));
    fs::write(bench.output(), "old").expect("written");
    fs::set_permissions(bench.output(), fs::Permissions::from_mode(0o640)).expect("set");
    let refused = OutputOptions::new().with_replace(Replace::Refused);
    let options = JobOptions::new().with_output(refused);
    let error = options.plan([bench.input()], bench.output()).expect_err("it is there");
    assert_eq!(error.io_kind(), std::io::ErrorKind::AlreadyExists);
    assert_eq!(bench.names(), ["out.txt"]);
    let plan = bench.plan(&JobOptions::new());
    plan.commit(&all(&plan)).expect("committed");
    assert_eq!(fs::read(bench.output()).expect("read"), serial(&lines(10)));
    let mode = fs::metadata(bench.output()).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    // What appears during the job is not replaced either.
    let (other, options) = (bench.path("other"), options);
    let plan = options.plan([bench.input()], &other).expect("planned");
    let done = all(&plan);
    fs::write(&other, "of another program").expect("written");
    for plan in [&plan, &job::open(plan.folder()).expect("opened")] {
        let error = plan.commit(&done).expect_err("it is there");
        assert_eq!(error.io_kind(), std::io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&other).expect("read"), b"of another program");
    }
}

#[test]
fn the_folder_is_its_owners_until_segments_are_committed() {
    // FUSE and NFS have only files with names.
    for fs in [Arc::new(LocalFs) as Arc<dyn Fs>, Arc::new(Hooked(Arc::new(NAMED)))] {
        folder_is_its_owners_until_the_commit(fs);
    }
}

/// A file system that has no such calls, or allows none.
#[derive(Debug)]
struct LackingFs(&'static [(Call, io::ErrorKind)]);

const NAMED: LackingFs = LackingFs(&[(Call::CreateNameless, io::ErrorKind::Unsupported)]);

impl Hook for LackingFs {
    fn before(&self, call: Call) -> io::Result<()> {
        let lacking = self.0.iter().find(|&&(lacking, _)| lacking == call);
        lacking.map_or(Ok(()), |&(_, kind)| Err(kind.into()))
    }
}

#[test]
fn a_new_file_that_could_get_no_name_is_refused_before_the_parts() {
    // sshfs without hard links.
    let lacking = LackingFs(&[
        (Call::CreateNameless, io::ErrorKind::Unsupported),
        (Call::RenameNew, io::ErrorKind::Unsupported),
        (Call::Link, io::ErrorKind::PermissionDenied),
    ]);
    let output = OutputOptions::new().with_fs(Arc::new(Hooked(Arc::new(lacking))));
    let bench = Bench::new(&lines(10));
    let new = output.clone().with_replace(Replace::Refused);
    let options = JobOptions::new().with_output(new);
    let error = options.plan([bench.input()], bench.output()).expect_err("no free name");
    assert!(error.what_to_try().contains("--force"), "{error}");
    assert!(bench.names().is_empty());
    let options = options.with_output(output);
    let plan = bench.plan(&options);
    plan.commit(&all(&plan)).expect("committed");
    assert_eq!(fs::read(bench.output()).expect("read"), serial(&lines(10)));
}

#[test]
fn a_folder_of_another_job_in_place_of_its_own_is_refused() {
    for form in [Form::File, Form::Segments] {
        let (bench, other) = (Bench::new(&lines(10)), Bench::new(&lines(12)));
        let options = JobOptions::new().with_form(form).with_parts(2);
        let (plan, others) = (bench.plan(&options), other.plan(&options));
        let (done, of_other) = (all(&plan), all(&others));
        let aside = bench.path("aside");
        for (from, to) in [
            (plan.folder(), &*aside),
            (others.folder(), plan.folder()),
            (&*aside, others.folder()),
        ] {
            fs::rename(from, to).expect("mine");
        }
        for refused in [
            plan.commit(&done).map(drop),
            plan.commit(&of_other).map(drop),
            plan.abort(),
            plan.remove(),
            plan.status().map(drop),
            plan.outcome().map(drop),
            plan.done().map(drop),
        ] {
            assert_eq!(refused.expect_err("of another job").reason(), Reason::Invalid);
        }
        if form == Form::File {
            // Under other names they are whole.
            for (plan, name) in [(&plan, "moved"), (&others, "also moved")] {
                let moved = bench.path(name);
                fs::rename(plan.folder(), &moved).expect("mine");
                job::open(&moved).expect("a job");
                fs::rename(&moved, plan.folder()).expect("mine");
            }
            continue;
        }
        for (folder, done) in [(plan.folder(), &of_other), (others.folder(), &done)] {
            job::open(folder).expect("a job").commit(done).expect("committed");
        }
    }
}

#[test]
fn a_swept_folder_loses_no_file_that_is_not_of_a_job() {
    let bench = Bench::new(&lines(10));
    let rest = bench.path(".r.0123456789abcdef.swath-job");
    fs::create_dir(&rest).expect("room");
    // It gets a file after it was looked at.
    let letter = rest.join("letter");
    let path = letter.clone();
    let put = move || drop(fs::write(&path, "dear"));
    let fs_of = Arc::new(Hooked(Arc::new(BeforeCall(Call::Lock, put))));
    let output = OutputOptions::new().with_fs(fs_of);
    let sweep = job::Sweep::run(rest.parent().expect("one"), Duration::ZERO, &output);
    assert_eq!(sweep.expect("listed").failed.len(), 1);
    assert_eq!(fs::read(letter).expect("kept"), b"dear");
}

#[test]
fn where_others_can_move_folders_a_job_is_where_it_was_planned() {
    let (bench, other) = (Bench::new(&lines(10)), Bench::new(&lines(12)));
    let shared = bench.path("shared");
    fs::create_dir(&shared).expect("room");
    let mode =
        |mode| fs::set_permissions(&shared, fs::Permissions::from_mode(mode)).expect("mine");
    let named = |name: &str| JobOptions::new().with_folder(shared.join(name));
    let plans = [bench.plan(&named("one")), other.plan(&named("two"))];
    for (from, to) in [("one", "aside"), ("two", "one"), ("aside", "two")] {
        fs::rename(shared.join(from), shared.join(to)).expect("mine");
    }
    for (is_closed, bits) in [(true, 0o755), (false, 0o777), (false, 0o775), (true, 0o1777)] {
        mode(bits);
        for plan in &plans {
            let opened = job::open(plan.folder());
            assert_eq!(opened.is_ok(), is_closed, "{bits:o}");
        }
    }
    mode(0o777);
    for (from, to) in [("one", "aside"), ("two", "one"), ("aside", "two")] {
        fs::rename(shared.join(from), shared.join(to)).expect("mine");
    }
    for plan in &plans {
        job::open(plan.folder()).expect("in its place");
    }
    // One's own link leads to it.
    std::os::unix::fs::symlink("one", shared.join("latest")).expect("room");
    job::open(shared.join("latest")).expect("a link to it");
    // Where they can move a folder above it, too.
    let (above, aside) = (shared.join("above"), shared.join("aside"));
    fs::create_dir(&above).expect("room");
    let deep = bench.plan(&JobOptions::new().with_folder(above.join("job")));
    fs::rename(&above, &aside).expect("mine");
    assert!(job::open(aside.join("job")).is_err(), "it was planned in another folder");
    fs::rename(&aside, &above).expect("mine");
    job::open(deep.folder()).expect("in its place");
    // Elsewhere, as on another machine, it has its name.
    let moved = bench.path("one");
    fs::rename(shared.join("one"), &moved).expect("mine");
    job::open(&moved).expect("nobody else can move it here");
}

#[test]
fn a_folder_of_any_name_that_was_asked_for_is_the_jobs() {
    let bench = Bench::new(&lines(10));
    let plan = bench.plan(&JobOptions::new().with_folder(bench.path("out.txt.job-12345678")));
    let opened = job::open(plan.folder()).expect("its own name");
    opened.commit(&all(&plan)).expect("committed");
    assert_eq!(fs::read(bench.output()).expect("read"), serial(&lines(10)));
}

#[test]
fn segments_are_refused_where_no_permissions_can_be_changed() {
    let lacking = LackingFs(&[(Call::FolderMode, io::ErrorKind::PermissionDenied)]);
    let output = OutputOptions::new().with_fs(Arc::new(Hooked(Arc::new(lacking))));
    let bench = Bench::new(&lines(10));
    let options = JobOptions::new().with_output(output).with_form(Form::Segments);
    let error = options.plan([bench.input()], bench.output()).expect_err("it stays closed");
    assert_eq!(error.io_kind(), io::ErrorKind::PermissionDenied);
    assert!(bench.names().is_empty());
}

fn folder_is_its_owners_until_the_commit(fs: Arc<dyn Fs>) {
    let bench = Bench::new(&lines(10));
    let output = OutputOptions::new().with_fs(fs);
    let plan = bench.plan(&JobOptions::new().with_form(Form::Segments).with_output(output));
    let mode = || fs::metadata(bench.output()).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode(), 0o700);
    plan.commit(&all(&plan)).expect("committed");
    assert_ne!(mode() & 0o055, 0);
    append::open(bench.output()).expect("opened").verify().expect("checksums are right");
}

#[test]
fn a_commit_reports_progress_and_can_be_cancelled() {
    let bench = Bench::new(&lines(100_000));
    let token = CancelToken::new();
    let output = OutputOptions::new().with_cancel(token.clone());
    let plan = bench.plan(&JobOptions::new().with_parts(3).with_output(output));
    let done = all(&plan);
    token.cancel();
    let error = plan.commit(&done).expect_err("cancelled");
    assert_eq!(error.reason(), Reason::Cancelled);
    assert!(!bench.output().exists());
    let most = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&most);
    let output = OutputOptions::new().with_progress(move |progress| {
        seen.fetch_max(progress.bytes, Ordering::Relaxed);
    });
    let plan = Plan::open_with(plan.folder(), OutputOptions::new()).expect("opened");
    let committed = plan.with_output(output).commit(&done).expect("committed");
    assert_eq!(most.load(Ordering::Relaxed), committed.bytes);
}

#[test]
fn parts_that_are_only_read_are_those_of_a_job() {
    let bench = Bench::new(&lines(1000));
    let options = JobOptions::new().with_parts(7);
    let (plan, parts) =
        (bench.plan(&options), options.divide([bench.input()]).expect("divided"));
    assert!(
        plan.parts()
            .map(|part| part.pieces().to_vec())
            .eq(parts.iter().map(|part| part.pieces()))
    );
    let read: Vec<u8> = parts.iter().flat_map(output_of).collect();
    assert_eq!(read, serial(&lines(1000)));
    let error = parts[3].writer().expect_err("there is no folder to write to");
    assert_eq!(error.reason(), Reason::Invalid);
    assert!(error.to_string().contains("part 3 belongs to no job"), "{error}");
    fs::write(bench.input(), "changed").expect("written");
    let error = parts[3].check_inputs().expect_err("it has changed");
    assert_eq!(error.reason(), Reason::Changed);
    assert!(error.to_string().contains("part 3 of the job reads it"), "{error}");
}
