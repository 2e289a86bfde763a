//! What the study promises, one module for each promise.

mod cheerio;
mod mapped_records_are_those_that_are_read;
mod page;
mod pricing;
