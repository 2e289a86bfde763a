//! Where records end.

use swath::{Cut, Extent};

use crate::failure::{Failure, Result};

/// Where records end, and how long they may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordOptions {
    pub(crate) delimiter: u8,
    pub(crate) quote: Option<u8>,
    /// Bytes of each record; 0 if delimiters end records.
    pub(crate) width: u64,
    pub(crate) block_size: u64,
    pub(crate) record_limit: u64,
    pub(crate) starting_in: Option<Extent>,
}

impl Default for RecordOptions {
    fn default() -> Self {
        let (delimiter, width, block_size, record_limit) = (b'\n', 0, 0, 0);
        Self { delimiter, quote: None, width, block_size, record_limit, starting_in: None }
    }
}

impl RecordOptions {
    /// Returns where records end.
    pub(crate) fn cut(self) -> Result<Cut> {
        let Self { delimiter, quote, width, .. } = self;
        match quote {
            _ if width > 0 && (quote.is_some() || delimiter != b'\n') => Err(Failure::invalid(
                "records of one width have neither delimiters nor quotes; try: set `width` alone",
            )),
            _ if width > 0 => Ok(Cut::Fixed(width)),
            Some(quote) => Ok(Cut::Quoted { quote, delimiter }),
            None => Ok(Cut::Byte(delimiter)),
        }
    }
}
