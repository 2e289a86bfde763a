//! `price`: an eighth of the input's size in option contracts, priced in three ways of study C.

use std::rc::Rc;

use anyhow::Result;
use swath_study::fields::contracts::Contracts;
use swath_study::pricing::Form;
use swath_study::results::State;

use super::row::{About, DemoRow, Limit};
use super::stage::Stage;

const FORMS: [(&str, &str, Form); 3] = [
    ("serial", "line by line, as PARSEC does", Form::Lines),
    ("study C", "bulk read and write", Form::Bulk),
    ("fused", "block by block, all workers", Form::Swath),
];

/// The text is this many times shorter than the input.
const SHARE: u64 = 8;
/// Approximate bytes of a line.
const LINE: u64 = 63;

pub(super) fn rows(stage: &Rc<Stage>) -> Result<Vec<DemoRow>> {
    let contracts = Contracts::new(&stage.inputs, (stage.size() / SHARE / LINE).max(1))?;
    let row = |(engine, way, form): (&'static str, &'static str, Form)| {
        let about = About {
            state: State::None,
            memory: None,
            limit: Limit::Computing,
            is_peer: form == Form::Lines,
            bytes: Some(contracts.input.made.bytes),
            ..About::warm("price", engine, way)
        };
        DemoRow::of(about, contracts.entrant(way, form, 0, State::Warm))
    };
    Ok(FORMS.into_iter().map(row).collect())
}
