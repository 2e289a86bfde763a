//! The tables of `vectors/typed.json` have their answers.

use swath_reference::battery::Battery;
use swath_reference::json::Json;
use swath_reference::typed::{Wrong, answer, options_of, show_fault};
use swath_reference::vectors::{Verdict, vectors};

use crate::typed::oracle::{self, How};

#[test]
fn tables_of_the_vectors_have_their_answers() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut wrong = Vec::new();
    for vector in Verdict::ALL.into_iter().flat_map(|verdict| vectors("typed", verdict)) {
        let path = vector.put(folder.path());
        let json = vector.options.unwrap_or(Json::Object(Vec::new()));
        let options = oracle::options(&options_of(&json).expect("options"));
        let hows = [(1, 0), (1, 1), (2, 2), (3, 5), (4, 16), (2, 64)];
        for (workers, block_size) in Battery::of_list("combinations", 3, hows) {
            for is_stream in [false, true] {
                let how = How { workers, block_size, is_stream };
                let found = match oracle::read(&path, &options, how) {
                    Ok(table) => answer(&table),
                    Err(fault) if fault.wrong == Wrong::Empty => {
                        // Where nothing is has no line.
                        let line = vector.answer.split(" byte").next().expect("a line");
                        show_fault(&fault).replacen("line 0", line, 1)
                    }
                    Err(fault) => show_fault(&fault),
                };
                if found != vector.answer {
                    let (name, wanted) = (&vector.name, &vector.answer);
                    wrong.push(format!("{name} {how:?}\n{found}instead of\n{wanted}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}
