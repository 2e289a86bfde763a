//! The division of inputs into parts.

use std::fs;
use std::path::PathBuf;

use swath::Reason;
use swath::job::{self, Division, JobOptions, Part, PartPiece, Plan};

use crate::jobs::{Bench, output_of, serial};

/// Inputs with and without a newline at the end, with and without bytes.
const TEXTS: [&[&str]; 9] = [
    &["one\ntwo\nthree\n"],
    &["one\ntw", "o\nthree\nfo", "ur\n"],
    &["one", "", "two\n", "\n\n", "three"],
    &["no line ends here", " nor here", " nor here"],
    &["", "\n", ""],
    &["a\n", "b\n", "c\n"],
    &["a\nb", "", "", "c", "d\ne"],
    &["", "", "end"],
    &[""],
];

fn bytes_of(pieces: &[PartPiece]) -> Vec<u8> {
    let read = |it: &PartPiece| {
        let bytes = fs::read(&it.path).expect("read");
        let from = usize::try_from(it.offset).expect("short");
        bytes[from..from + usize::try_from(it.len).expect("short")].to_vec()
    };
    pieces.iter().flat_map(read).collect()
}

/// The bytes that the plan says a part has.
fn contents(part: &Part) -> Vec<u8> {
    bytes_of(part.contents().expect("the plan says which"))
}

fn written(bench: &Bench, texts: &[&str]) -> Vec<PathBuf> {
    let write = |(index, text): (usize, &&str)| {
        let path = bench.path(&format!("{index}.txt"));
        fs::write(&path, text).expect("written");
        path
    };
    texts.iter().enumerate().map(write).collect()
}

/// A plan as another process sees it.
fn planned(bench: &Bench, inputs: &[PathBuf], division: Division, parts: usize) -> Plan {
    let options = JobOptions::new().with_division(division).with_parts(parts);
    let plan = options.plan(inputs, bench.output()).expect("planned");
    let plan = job::open(plan.folder()).expect("opened");
    assert_eq!(plan.division(), division);
    assert!(plan.parts().all(|part| part.division() == division));
    plan
}

/// Each part that a text of this length is divided into at any byte, with the lines that begin in it.
fn lines_by_part(text: &str, parts: usize) -> Vec<Vec<u8>> {
    let len = text.len();
    let count = parts.min(len.max(1));
    let mut by_part = vec![Vec::new(); count];
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let part = (0..count).rfind(|part| part * len / count <= at).expect("the first");
        by_part[part].extend(line.bytes());
        at += line.len();
    }
    by_part
}

#[test]
fn each_line_is_in_the_part_that_its_first_byte_is_in_whatever_the_inputs_are() {
    for texts in TEXTS {
        let whole = texts.concat();
        for parts in 1..=whole.len() + 2 {
            let bench = Bench::new("");
            let plan = planned(&bench, &written(&bench, texts), Division::Lines, parts);
            let found: Vec<_> = plan.parts().map(|part| contents(&part)).collect();
            let mut right = lines_by_part(&whole, parts);
            // A part that would have no line is left out.
            right.retain(|part| !part.is_empty() || whole.is_empty());
            assert_eq!(found, right, "{texts:?}, {parts} parts");
        }
    }
}

#[test]
fn lines_that_begin_in_the_pieces_of_a_part_of_lines_are_its_bytes() {
    // Where the reader takes each input alone too.
    for texts in TEXTS {
        for parts in 1..8 {
            let bench = Bench::new("");
            let plan = planned(&bench, &written(&bench, texts), Division::Lines, parts);
            for part in plan.parts() {
                let begun = part.pieces().iter().map(|piece| {
                    let lines = swath::records(&piece.path)
                        .with_starting_in(piece.extent())
                        .map_blocks(|it| -> swath::Result<Vec<u8>> {
                            Ok(it.to_bytes().to_vec())
                        });
                    lines.expect("read").concat()
                });
                assert_eq!(begun.collect::<Vec<_>>().concat(), contents(&part), "{texts:?}");
            }
        }
    }
}

#[test]
fn records_that_begin_in_the_parts_are_those_of_each_input_alone() {
    for texts in TEXTS {
        let right: Vec<u8> = texts.iter().flat_map(|text| serial(text)).collect();
        for parts in 1..20 {
            let bench = Bench::new("");
            let plan = planned(&bench, &written(&bench, texts), Division::Records, parts);
            let found: Vec<u8> = plan.parts().flat_map(|part| output_of(&part)).collect();
            assert_eq!(found, right, "{texts:?}, {parts} parts");
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
            let inputs = [0, 1, 2, 0].map(|index: usize| inputs[index].clone());
            let plan = planned(&bench, &inputs, division, parts);
            assert!(plan.inputs().eq(inputs.iter()));
            let parts: Vec<Part> = plan.parts().collect();
            assert!(parts.iter().all(|part| part.pieces().iter().any(|it| it.len > 0)));
            let all: Vec<u8> = parts.iter().flat_map(contents).collect();
            assert_eq!(all, b"ab\ncd\nef\n\ng\nab\ncd\n", "{division:?}");
            let is_exact = !matches!(division, Division::Inputs | Division::Groups);
            let mut pieces = parts.iter().flat_map(Part::pieces);
            assert!(pieces.all(|piece| piece.is_exact() == is_exact), "{division:?}");
            // Those of programs that only read are the same.
            let options = JobOptions::new().with_division(division).with_parts(parts.len());
            let read = options.divide(&inputs).expect("divided");
            assert!(read.iter().map(Part::pieces).eq(parts.iter().map(Part::pieces)));
        }
    }
}

#[test]
fn bytes_are_cut_where_records_are_and_only_the_reader_knows_what_records_are() {
    let bench = Bench::new("one\ntwo\nthree\nfour\n");
    let plan = |division| planned(&bench, &[bench.input()], division, 3);
    let (records, bytes) = (plan(Division::Records), plan(Division::Bytes));
    assert_eq!(
        JobOptions::new().divide([bench.input()]).expect("divided")[0].division(),
        Division::Records
    );
    for (of_records, of_bytes) in records.parts().zip(bytes.parts()) {
        let extents =
            |part: &Part| part.pieces().iter().map(PartPiece::extent).collect::<Vec<_>>();
        assert_eq!(extents(&of_records), extents(&of_bytes));
        assert_eq!(contents(&of_bytes).len(), 6 + usize::from(of_bytes.index() == 2));
        let error = of_records.contents().expect_err("lines, or other records?");
        assert_eq!((error.reason(), error.path()), (Reason::Invalid, &*bench.input()));
        assert_eq!(error.extent(), Some(of_records.pieces()[0].extent()));
        assert!(
            error.to_string().contains("has the records that begin in these bytes"),
            "{error}"
        );
        assert!(!of_records.pieces()[0].is_exact());
    }
    // Without inputs there are no records either.
    let none = planned(&bench, &[], Division::Records, 2);
    assert!(none.part(1).expect("it exists").contents().expect("nothing").is_empty());
}

#[test]
fn lines_longer_than_a_look_are_found_and_are_one_part_each() {
    let text = format!("{}\n{}\nend\n", "x".repeat(5 << 20), "y".repeat(70_000));
    let bench = Bench::new(&text);
    let plan = bench.plan(&JobOptions::new().with_division(Division::Lines).with_parts(50));
    let lens: Vec<u64> = plan
        .parts()
        .map(|part| part.contents().expect("lines").iter().map(|it| it.len).sum())
        .collect();
    assert_eq!(lens, [(5 << 20) + 1, 70_001 + 4]);
}

#[test]
fn an_input_that_changes_after_its_lines_were_found_is_an_error_of_its_parts() {
    let bench = Bench::new("one\ntwo\nthree\nfour\n");
    let plan = bench.plan(&JobOptions::new().with_division(Division::Lines).with_parts(3));
    fs::write(bench.input(), "one and more\ntwo").expect("written");
    let error = plan.part(1).expect("it exists").writer().expect_err("other lines");
    assert_eq!((error.reason(), error.path()), (Reason::Changed, &*bench.input()));
}

#[test]
fn a_plan_names_its_division_and_one_that_does_not_is_refused() {
    let bench = Bench::new("one\ntwo\n");
    let plan = bench.plan(&JobOptions::new().with_division(Division::Lines));
    let json = plan.to_json();
    assert!(json.contains(r#""division":"lines""#), "{json}");
    let old = Plan::from_json(&json.replace(r#""division":"lines","#, ""));
    assert_eq!(old.expect_err("what do its parts have?").reason(), Reason::Corrupt);
    let part = serde_json::to_string(&plan.part(0).expect("it exists")).expect("plain data");
    let old = part.replace(r#""division":"lines","#, "");
    assert!(old != part && serde_json::from_str::<Part>(&old).is_err(), "{part}");
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
