use std::fs;
use std::path::PathBuf;

use swath::Reason;
use swath::job::{self, Division, JobOptions, PartPiece, Plan};

use crate::Bench;

fn bytes_of(pieces: &[PartPiece]) -> Vec<u8> {
    let read = |it: &PartPiece| {
        let bytes = fs::read(&it.path).expect("read");
        let from = usize::try_from(it.offset).expect("short");
        bytes[from..from + usize::try_from(it.len).expect("short")].to_vec()
    };
    pieces.iter().flat_map(read).collect()
}

/// Each line of the whole text, with the offset of its first byte.
fn lines_of(text: &[u8]) -> Vec<(usize, &[u8])> {
    let mut at = 0;
    let line = |line| {
        let start = at;
        at += <[u8]>::len(line);
        (start, line)
    };
    text.split_inclusive(|&byte| byte == b'\n').map(line).collect()
}

fn written(bench: &Bench, texts: &[&str]) -> Vec<PathBuf> {
    let write = |(index, text): (usize, &&str)| {
        let path = bench.path(&format!("{index}.txt"));
        fs::write(&path, text).expect("written");
        path
    };
    texts.iter().enumerate().map(write).collect()
}

/// The parts as extents of the whole text.
fn starts_of(plan: &Plan) -> Vec<(usize, usize)> {
    let mut at = 0;
    let extent = |part: job::Part| {
        let len: u64 = part.pieces().iter().map(|it| it.len).sum();
        let start = at;
        at += usize::try_from(len).expect("short");
        (start, at)
    };
    plan.parts().map(extent).collect()
}

#[test]
fn each_line_is_in_the_part_that_its_first_byte_is_in_whatever_the_inputs_are() {
    for texts in [
        &["one\ntwo\nthree\n"][..],
        &["one\ntw", "o\nthree\nfo", "ur\n"],
        &["one", "", "two\n", "\n\n", "three"],
        &["no line ends here", " nor here", " nor here"],
        &["", "\n", ""],
        &["a\n", "b\n", "c\n"],
        &[""],
    ] {
        let whole = texts.concat();
        for parts in 1..=whole.len() + 2 {
            let bench = Bench::new("");
            let inputs = written(&bench, texts);
            let options = JobOptions::new().with_division(Division::Lines).with_parts(parts);
            let plan = options.plan(&inputs, bench.output()).expect("planned");
            let plan = job::open(plan.folder()).expect("opened");
            assert_eq!(plan.division(), Division::Lines);
            let lines = lines_of(whole.as_bytes());
            for (index, (from, to)) in starts_of(&plan).into_iter().enumerate() {
                let begins = |(at, _): &&(usize, &[u8])| (from..to).contains(at);
                let right: Vec<u8> =
                    lines.iter().filter(begins).flat_map(|(_, line)| line.to_vec()).collect();
                let found = bytes_of(&plan.contents(index).expect("found"));
                assert_eq!(found, right, "{texts:?}, part {index} of {parts}");
            }
        }
    }
}

#[test]
fn other_divisions_consist_of_their_pieces_and_all_inputs_are_covered_once() {
    let width = Division::Width(3.try_into().expect("not 0"));
    let divisions = [Division::Bytes, Division::Lines, Division::Inputs, Division::Groups];
    for division in divisions.into_iter().chain([width]) {
        for parts in 1..20 {
            let bench = Bench::new("");
            let inputs = written(&bench, &["ab\ncd\n", "", "ef\n\ng\n"]);
            // An input may be named twice.
            let inputs = [&inputs[0], &inputs[1], &inputs[2], &inputs[0]];
            let options = JobOptions::new().with_division(division).with_parts(parts);
            let plan = options.plan(inputs, bench.output()).expect("planned");
            assert_eq!(plan.inputs().collect::<Vec<_>>(), inputs);
            let parts = plan.parts().len();
            assert!(plan.parts().all(|part| part.pieces().iter().any(|it| it.len > 0)));
            let contents = |index| plan.contents(index).expect("found");
            let all: Vec<u8> =
                (0..parts).flat_map(|index| bytes_of(&contents(index))).collect();
            assert_eq!(all, b"ab\ncd\nef\n\ng\nab\ncd\n", "{division:?}");
            if division != Division::Lines {
                let pieces = |index| plan.part(index).expect("it exists").pieces().to_vec();
                assert!((0..parts).all(|index| contents(index) == pieces(index)));
            }
        }
    }
}

#[test]
fn lines_longer_than_a_look_are_found_and_a_shorter_input_is_an_error() {
    let text = format!("{}\n{}\nend\n", "x".repeat(5 << 20), "y".repeat(70_000));
    let bench = Bench::new(&text);
    let plan = bench.plan(&JobOptions::new().with_division(Division::Lines).with_parts(50));
    let lens =
        (0..50).map(|it| plan.contents(it).expect("found").iter().map(|it| it.len).sum());
    let lens: Vec<u64> = lens.filter(|&len| len > 0).collect();
    assert_eq!(lens, [(5 << 20) + 1, 70_001 + 4]);
    fs::write(bench.input(), "short").expect("written");
    let error = plan.contents(40).expect_err("it is shorter");
    assert_eq!((error.reason(), error.path()), (Reason::Changed, &*bench.input()));
}

#[test]
fn a_plan_that_does_not_name_a_division_is_divided_at_any_byte() {
    let bench = Bench::new("one\ntwo\n");
    let plan = bench.plan(&JobOptions::new().with_division(Division::Lines));
    let json = plan.to_json();
    assert!(json.contains(r#""division":"lines""#), "{json}");
    let old = Plan::from_json(&json.replace(r#""division":"lines","#, "")).expect("a plan");
    assert_eq!(old.division(), Division::Bytes);
    assert!(plan.outcome().expect("read").is_none());
}

#[test]
fn an_output_that_is_an_input_is_refused() {
    use swath::OutputOptions;
    use swath::sink::Replace;
    let bench = Bench::new("one\n");
    let link = bench.path("link");
    std::os::unix::fs::symlink(bench.input(), &link).expect("linked");
    let options =
        JobOptions::new().with_output(OutputOptions::new().with_replace(Replace::Allowed));
    for target in [bench.input(), link] {
        let error = options.plan([bench.input()], &target).expect_err("it is the input");
        assert_eq!(error.reason(), Reason::Invalid, "{error}");
        assert!(error.to_string().contains("it is an input of the job"), "{error}");
    }
}
