//! Parts of a file: the entries that begin in an extent, and the bytes that options select.

use swath::{Extent, ReadOptions};
use swath_formats::matrix::{AnyCoo, MatrixOptions, SymmetricHalf};
use swath_reference::battery::Battery;

use crate::matrix::texts::{Scratch, bits, entries_of, size_of};

/// Small files with everything that may stand where a cut falls.
const FILES: [(&str, &str); 9] = [
    (
        "a.mtx",
        "%%MatrixMarket matrix coordinate real general\n% c\n\n3 4 3\n1 2 .5\n\n% c\n3 4 -1e3\n2 2 7",
    ),
    (
        "a.mtx",
        "%%MatrixMarket matrix coordinate integer symmetric\r\n3 3 3\r\n1 1 5\r\n2 1 6\r\n3 2 7\r\n",
    ),
    (
        "a.mtx",
        "%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 2\n2 1 6\n%\n3 2 7\n",
    ),
    ("a.mtx", "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 5 0\n2 1 6 -2\n"),
    ("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 0\n"),
    ("a.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n9 9 2\n 3 2 \n\n9 9\n\n"),
    ("a.el", "# c\n0 1\n1 2\n\n% c\n5 0\n2 2"),
    ("a.el", "0 1 0.5\r\n1\t2\t3\r\n"),
    ("a.el", "0 1"),
];

#[test]
fn every_cut_gives_each_entry_once() {
    for (name, text) in FILES {
        let file = Scratch::new(name, text.as_bytes());
        for half in [SymmetricHalf::Expanded, SymmetricHalf::Stored] {
            let options = MatrixOptions::new().with_symmetric_half(half);
            let whole = options.read(file.path()).expect("a matrix");
            let len = text.len() as u64;
            for first in Battery::of_list("combinations", 20, 0..=len + 1) {
                for second in [first, (first + len).div_ceil(2), len].map(|at| at.max(first)) {
                    let bounds = [0, first, second, len + 9];
                    let parts: Vec<_> = bounds
                        .windows(2)
                        .flat_map(|pair| {
                            let part = Extent::between(pair[0], pair[1]);
                            let part = options.clone().with_starting_in(part);
                            let part = part.read(file.path()).expect("a part");
                            check_kind(&part, &whole);
                            entries_of(&part)
                        })
                        .collect();
                    assert_eq!(bits(parts), bits(entries_of(&whole)), "{text} at {first}");
                }
            }
        }
    }
}

/// A part of a Matrix Market file has the shape and symmetry of the whole.
fn check_kind(part: &AnyCoo, whole: &AnyCoo) {
    let (AnyCoo::U32(part_coo), AnyCoo::U32(whole_coo)) = (part, whole) else {
        panic!("ids are small");
    };
    assert_eq!(part_coo.symmetry, whole_coo.symmetry);
    let (rows, columns) = size_of(part);
    let (most_rows, most_columns) = size_of(whole);
    assert!(rows <= most_rows && columns <= most_columns);
}

#[test]
fn bytes_that_the_options_select_are_a_matrix() {
    let (_, text) = FILES[0];
    let file = Scratch::new("a.tar", format!("before\n{text}\nafter").as_bytes());
    let read = ReadOptions::new().with_offset(7).with_len(text.len() as u64);
    let options = MatrixOptions::new().with_read(read);
    let matrix = options.read(file.path()).expect("a matrix");
    assert_eq!((size_of(&matrix), entries_of(&matrix).len()), ((3, 4), 3));
    let last = Extent::between(text.len() as u64 - 3, u64::MAX);
    let last = options.with_starting_in(last).read(file.path()).expect("a part");
    assert_eq!(entries_of(&last).len(), 0, "it begins one byte before");
}
