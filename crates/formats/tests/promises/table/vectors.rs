//! The tables of `vectors/table.json` have their answers.

use swath_reference::vectors::{Verdict, vectors};

use super::arrays::options;

#[test]
fn valid_and_permissive_tables_have_their_values() {
    let all =
        [vectors("table", Verdict::Valid), vectors("table", Verdict::Permissive)].concat();
    assert!(all.len() > 15, "{} files", all.len());
    let folder = tempfile::tempdir().expect("a folder");
    for vector in all {
        let path = vector.put(folder.path());
        let mut lines = vector.answer.lines();
        let size: Vec<usize> = lines
            .next()
            .expect("a size")
            .split(' ')
            .map(|size| size.parse().expect("a size"))
            .collect();
        let names = lines.next().expect("names").strip_prefix("names ");
        let names = names.map(|it| it.split('|').map(String::from).collect::<Vec<_>>());
        let wanted: Vec<f64> = lines
            .flat_map(|line| line.split(' '))
            .map(|value| value.parse().expect("a double"))
            .collect();
        for block_size in (1..40).chain([1 << 20]) {
            let shown = path.display();
            let table = options(2, block_size).read_array::<f64>(&path);
            let table = table.unwrap_or_else(|error| panic!("{shown}: {error}"));
            assert_eq!([table.rows, table.columns], size[..], "{shown}");
            assert_eq!(table.names, names, "{shown}");
            let same = |(one, other): (&f64, &f64)| {
                one.to_bits() == other.to_bits() || (one.is_nan() && other.is_nan())
            };
            assert_eq!(table.values.len(), wanted.len(), "{shown}");
            assert!(table.values.iter().zip(&wanted).all(same), "{shown}: {:?}", table.values);
        }
    }
}

#[test]
fn invalid_tables_are_refused_at_their_line_and_byte() {
    let all = vectors("table", Verdict::Invalid);
    assert!(all.len() > 10, "{} files", all.len());
    let folder = tempfile::tempdir().expect("a folder");
    for vector in all {
        let path = vector.put(folder.path());
        for block_size in (1..40).chain([1 << 20]) {
            let error = options(2, block_size).read_array::<f64>(&path).expect_err("wrong");
            let (line, offset) = (error.line().unwrap_or(0), error.offset().expect("a byte"));
            let got = format!("line {line} byte {offset} {:?}\n", error.reason());
            assert_eq!(got, vector.answer, "{}: {error}", path.display());
        }
    }
}
