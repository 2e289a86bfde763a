//! The promises of the library, a module for each. They share a program, since linking takes longer than
//! most of them; `counts` and `panics` need a process of their own.

mod append_promises;
mod append_trees;
mod before;
mod classes_come_in_order_with_the_serial_bytes;
mod copies_are_whole;
mod crash;
mod devices_that_fail;
mod every_engine_gives_the_serial_bytes;
mod faults;
mod hooked;
mod ingest;
mod jobs;
mod locks_are_removed;
mod mirrors;
mod neighbours;
mod odd_files;
mod ordered_gives_the_serial_bytes;
mod ordered_is_poisoned_not_torn;
mod profiles_change_how_not_what;
mod progress_and_limits;
mod records;
mod records_that_begin_in_an_extent;
mod refused;
mod setters_are_honoured;
mod shared_drafts;
mod sources_are_told_nothing_of_files;
mod sources_get_the_workers_that_pay;
mod sources_say_what_passes;
mod timelines_tell_what_was_done;
mod transform_leaves_what_the_serial_loop_leaves;
mod trouble;
mod what_is_refused_is_reported;
mod writers_on_two_machines;
mod written_files_hold_the_bytes;
