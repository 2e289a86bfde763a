//! The promises of the formats, a module for each. They share a program, since linking takes longer than
//! most of them; two measure the memory of theirs.

mod compressed;
mod every_format_reads_every_source;
mod matrix;
mod options_are_those_of_the_reference;
mod options_vectors;
mod safetensors;
mod table;
mod typed;
mod typed_write;
