//! Records in a map: without a copy, if the caller promises that the file does not change.

use swath_os::map::Map;
use swath_plan::fallback::Fallback;
use swath_plan::policy::Engine;

use crate::blocks::Records;
use crate::error::{Error, Operation, Result};
use crate::planned::Mapping;
use crate::source::Source;

/// A map, if one is to be used.
#[derive(Default)]
pub(crate) struct Mapped<'f> {
    pub(crate) map: Option<Map<'f>>,
    pub(crate) fallbacks: Vec<Fallback>,
}

/// Maps the file that `records` has a permit for, if that is faster or requested; otherwise the
/// file is read like any other source.
pub(crate) fn open<'f>(records: &mut Records<'f>) -> Result<Mapped<'f>> {
    let Some((permit, name)) = records.permit.take() else { return Ok(Mapped::default()) };
    let file = permit.file().try_clone();
    let file = file.map_err(|error| Error::io(Operation::Open, &name, error))?;
    records.sources = vec![Source::file(file, &*name)];
    let mut mapped = Mapped::default();
    let wanted = records.options.wishes.engine == Engine::Map;
    if records.starting_in.is_some() {
        let why = "records that begin in an extent are read, not mapped";
        mapped.fallbacks.extend(wanted.then_some(Fallback::NotMapped { why }));
    } else if let Some(Mapping { map, .. }) =
        records.options.map_to_consume(permit, &name, |_, _| true)?
    {
        match map.frozen_bytes() {
            Some(_) => mapped.map = Some(map),
            None => {
                let why = "a guarded map may change under its reader: read instead";
                mapped.fallbacks.push(Fallback::NotMapped { why });
            }
        }
    }
    if wanted && mapped.map.is_none() {
        records.options.wishes.engine = Engine::Auto;
    }
    Ok(mapped)
}
