//! The promises of the study, a module for each.

mod cheerio;
mod mapped_records_are_those_that_are_read;
mod page;
mod pricing;
