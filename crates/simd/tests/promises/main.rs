//! The promises of the kernels: each level does the same as a plain loop.

mod columns_are_parsed_field_by_field;
mod every_level_agrees_with_a_plain_loop;
mod every_level_parses_alike;
mod pairs_are_those_of_plain_lines;
mod positions_are_those_of_a_plain_loop;
