//! What the `swath` command promises: a file for each promise.

mod append;
mod changing_files;
mod checksums;
mod child;
mod classes;
mod closed_pipes;
mod compress;
mod convert;
mod cp;
mod demo;
mod exit_codes;
mod few_resources;
mod generated;
mod help;
mod ingest;
mod json;
mod killed;
mod mirrors;
mod names;
mod odd_files;
mod price;
mod study;
mod timeline;
mod trees;
mod tune;
mod verified;
