//! `swath_mpi.h`: its test and its examples, run with several ranks.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::{Bench, WARNINGS};
use crate::process::{output, run, run_quietly};
use crate::skips;
use crate::workspace::Workspace;

/// Examples that `mpirun` runs.
pub(super) const PREFIX: &str = "mpi_";
const TESTS: &str = "crates/capi/tests/mpi";
/// A single rank; and more ranks than a small machine has cores.
const RANKS: [&str; 2] = ["1", "4"];

impl Bench<'_> {
    /// Compiles the header in each language, and runs the programs that use it.
    pub(super) fn mpi(&self) -> Result<()> {
        if !self.workspace.has("mpirun") || !compiles(self.workspace) {
            let why = "no `mpirun`, or no `mpicc` that finds mpi.h";
            return skips::note(self.workspace, "mpi", why);
        }
        // As system folders: otherwise our warnings would apply to the headers of MPI.
        let folders = self.mpi_folders()?;
        for (compiler, standard, language) in
            [("cc", "c99", "c"), ("cc", "c11", "c"), ("c++", "c++17", "c++")]
        {
            if !self.workspace.has(compiler) {
                skips::note(self.workspace, compiler, "not installed")?;
                continue;
            }
            println!("swath_mpi.h: {compiler}, {standard}");
            let mut command = self.workspace.command(compiler);
            command.args(WARNINGS).arg(format!("-std={standard}")).args(&folders);
            command.args(["-fsyntax-only", "-x", language]);
            command.arg("-include").arg(self.prefix.join("include/swath_mpi.h"));
            run(command.arg("/dev/null"))?;
        }
        for source in self.workspace.sources(TESTS, "c")? {
            let program = self.compile_mpi(&source, &folders)?;
            for ranks in RANKS {
                self.run_ranks(&program, ranks)?;
            }
        }
        for source in self.workspace.sources("examples/c", "c")? {
            if is_mpi(&source) {
                println!("example {}", source.display());
                let program = self.compile_mpi(&source, &folders)?;
                self.run_ranks(&program, RANKS[1])?;
            }
        }
        Ok(())
    }

    fn mpi_folders(&self) -> Result<Vec<String>> {
        let shown = output(self.workspace.command("mpicc").arg("-show"))?;
        let folders = shown.split_whitespace().filter_map(|word| word.strip_prefix("-I"));
        Ok(folders.flat_map(|folder| [String::from("-isystem"), folder.to_owned()]).collect())
    }

    fn compile_mpi(&self, source: &Path, folders: &[String]) -> Result<PathBuf> {
        let program = self.folder.join(source.file_stem().context("a source without a name")?);
        let mut command = self.workspace.command("mpicc");
        command.args(["-std=c11", "-g", "-O1", "-D_GNU_SOURCE"]).args(WARNINGS).args(folders);
        command.arg("-I").arg(self.root("crates/capi/tests/c"));
        command.arg(source).arg("-o").arg(&program).args(self.flags()?).arg("-lpthread");
        run(&mut command)?;
        Ok(program)
    }

    /// Runs a program with ranks: more than there are cores, by root too, on the
    /// loopback interface only.
    fn run_ranks(&self, program: &Path, ranks: &str) -> Result<()> {
        self.run(Path::new("mpirun"), |mut command| {
            command
                .args(["-n", ranks])
                .arg(program)
                .env("OMPI_MCA_rmaps_base_oversubscribe", "1");
            command.env("OMPI_ALLOW_RUN_AS_ROOT", "1");
            command.env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
            command.env("OMPI_MCA_btl_tcp_if_include", "lo");
            command.env("OMPI_MCA_oob_tcp_if_include", "lo");
            // Where containers forbid it, each message would print a warning.
            command.env("OMPI_MCA_btl_vader_single_copy_mechanism", "none");
            command
        })
    }
}

/// Returns whether `mpicc` finds its headers: some packages have the compiler without
/// them.
pub(crate) fn compiles(workspace: &Workspace) -> bool {
    let words = ["-fsyntax-only", "-include", "mpi.h", "-x", "c", "/dev/null"];
    run_quietly(workspace.command("mpicc").args(words)).is_ok()
}

/// Whether an example needs MPI.
pub(super) fn is_mpi(source: &Path) -> bool {
    source.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX))
}
