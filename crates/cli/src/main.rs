//! See the library `swath_cli`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    swath_cli::run::run(std::env::args_os())
}
