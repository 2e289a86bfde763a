//! What the kernels promise: each level does what a plain loop does.

mod columns_are_parsed_field_by_field;
mod every_level_agrees_with_a_plain_loop;
mod every_level_parses_alike;
mod pairs_are_those_of_plain_lines;
mod positions_are_those_of_a_plain_loop;
