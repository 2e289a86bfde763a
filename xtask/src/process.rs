//! Runs other programs, and names the program when one fails.

use std::process::Command;

use anyhow::{Context, Result, bail};

/// Runs `command` and passes its output on.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let line = shown(command);
    let status = command.status().with_context(|| format!("cannot start `{line}`"))?;
    if !status.success() {
        bail!("`{line}` failed: {status}");
    }
    Ok(())
}

/// Runs `command` without output; an error ends with the last line that it wrote to stderr.
pub(crate) fn run_quietly(command: &mut Command) -> Result<()> {
    output(command).map(drop)
}

/// Runs `command` and returns what it wrote to stdout; otherwise like [`run_quietly`].
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let line = shown(command);
    let output = command.output().with_context(|| format!("cannot start `{line}`"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("`{line}` failed: {}", last_line(&said).unwrap_or("no message"));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn last_line(text: &str) -> Option<&str> {
    text.lines().map(str::trim).rfind(|line| !line.is_empty())
}

fn shown(command: &Command) -> String {
    let program = command.get_program();
    let name = std::path::Path::new(program).file_name().unwrap_or(program);
    let mut line = name.to_string_lossy().into_owned();
    for word in command.get_args() {
        line.push(' ');
        line.push_str(&word.to_string_lossy());
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quiet_failure_tells_the_last_line() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo first >&2; echo the cause >&2; exit 3"]);
        let error = run_quietly(&mut command).expect_err("it exits 3");
        assert!(error.to_string().ends_with("failed: the cause"), "{error}");
    }

    #[test]
    fn what_cannot_be_started_is_named() {
        let error = run(&mut Command::new("/no/such/program")).expect_err("it is not there");
        assert_eq!(error.to_string(), "cannot start `program`");
    }
}
