//! Examples, those in the header included, and a program that ignores a status.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::mpi::is_mpi;
use super::{Bench, STANDARDS};
use crate::header;

const IGNORED: &str = "crates/capi/tests/ignored";

impl Bench<'_> {
    /// Compiles and runs every example.
    pub(super) fn examples(&self) -> Result<()> {
        for source in self.workspace.sources("examples/c", "c")? {
            if is_mpi(&source) {
                continue;
            }
            for standard in STANDARDS {
                self.check_as(&source, standard)?;
            }
            let program = self.compile(&source, "examples", &["-fopenmp"])?;
            println!("example {}", source.display());
            self.run(&program, |command| command)?;
        }
        self.header_examples()
    }

    /// Compiles and runs the examples of the header, each as a program of its own.
    fn header_examples(&self) -> Result<()> {
        let groups = header::groups(self.workspace)?;
        let folder = self.folder.join("header-examples");
        fs::create_dir_all(&folder)?;
        let check = groups.iter().map(header::HeaderGroup::functions);
        let check =
            check.into_iter().find(|lines| lines.iter().any(|it| it.contains(" check(")));
        let check = check.context("no example in the header defines `check`")?;
        for (index, group) in groups.iter().enumerate() {
            let has_own = group.functions() == check;
            let source = folder.join(format!("group-{}.c", index + 1));
            fs::write(&source, group.program(if has_own { &[] } else { &check }))?;
            for standard in STANDARDS {
                self.check_as(&source, standard)?;
            }
            let program = self.compile(&source, "header-examples", &[])?;
            println!("example of the header: {}", group.title);
            self.run(&program, with_inputs)?;
        }
        Ok(())
    }

    /// Checks that compilers warn of an ignored status, in every language of the
    /// header.
    pub(super) fn ignored(&self) -> Result<()> {
        for source in self.workspace.sources(IGNORED, "c")? {
            for standard in STANDARDS {
                if !self.workspace.has(standard.compiler) {
                    continue;
                }
                let mut command = self.workspace.command(standard.compiler);
                // Compiled, not only parsed: GCC warns when it compiles.
                command.args(["-Wall", "-Werror=unused-result", "-c", "-o", "/dev/null", "-I"]);
                command.arg(self.prefix.join("include"));
                command.args(["-x", standard.language]).arg(format!("-std={}", standard.name));
                let output = command.arg(&source).output()?;
                let said = String::from_utf8_lossy(&output.stderr);
                if output.status.success() || !said.contains("unused-result") {
                    bail!("no warning of an ignored status: {}: {said}", standard.name);
                }
            }
        }
        Ok(())
    }
}

/// Creates the files that examples of the header read, in the working folder of the
/// program.
fn with_inputs(command: Command) -> Command {
    let made = command.get_current_dir().context("no folder").and_then(make_inputs);
    // A program that finds no input fails, and says which.
    if let Err(error) = made {
        println!("cannot make the input of an example: {error:#}");
    }
    command
}

fn make_inputs(folder: &Path) -> Result<()> {
    let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(100_000).collect();
    fs::write(folder.join("data.bin"), &bytes)?;
    fs::write(folder.join("copy.bin"), &bytes)?;
    fs::write(folder.join("points.csv"), "x,y\n1,2\n3,4\n")?;
    let images = folder.join("images");
    fs::create_dir(&images)?;
    fs::write(images.join("a.png"), "first")?;
    fs::write(images.join("b.png"), "second")?;
    Ok(())
}
