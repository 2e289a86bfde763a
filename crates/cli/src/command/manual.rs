//! `swath completions` and `swath man`: what is generated from the definitions of the flags.

use anyhow::{Context, Result};
use clap::CommandFactory;
use clap_mangen::Man;

use super::Outcome;
use crate::args::{Cli, verbs};
use crate::failure::Refused;
use crate::output::print;

pub(super) fn completions(args: &verbs::Completions) -> Result<Outcome> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "swath", &mut text);
    print(text)?;
    Ok(Outcome::Done)
}

pub(super) fn man(args: &verbs::Man) -> Result<Outcome> {
    let mut command = Cli::command();
    command.build();
    if let Some(verb) = &args.verb {
        let found = command.find_subcommand(verb).cloned();
        command = found.ok_or_else(|| {
            Refused::new(
                format!("cannot print the page of `{verb}`: there is none"),
                "swath help",
            )
        })?;
        // Pages of subcommands are named as Git names its own: swath-read(1).
        command = command.display_name(format!("swath-{verb}"));
    }
    let mut page = Vec::new();
    Man::new(command).render(&mut page).context("cannot make the page")?;
    print(page)?;
    Ok(Outcome::Done)
}
