//! The tests of the command and of the library in a folder of FUSE: bindfs, which remembers attributes for a
//! second, has no files without a name, and keeps what is removed while it is open.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::nextest::{self, TestRun};
use crate::workspace::Workspace;
use crate::{process, programs, skips};

/// Tests that bindfs cannot pass, and why. Where a name ends with `::`, all tests of that module.
const NOT_HERE: [(&str, &str); 22] = [
    ("fuse::", "they mount file systems of their own"),
    ("study::", "bindfs forgets what is cached when a file is opened"),
    ("demo::", "as the study"),
    ("json_guide::", "as the study"),
    ("neighbours::", "a link to the mounted folder deadlocks bindfs, which asks itself"),
    (
        "cp::a_strangers_link_to_a_folder_in_a_folder_as_tmp_is_not_followed",
        "as the neighbours",
    ),
    ("crash::", "they simulate a file system, or kill within a time that bindfs exceeds"),
    ("cp::times_and_mode_are_kept_if_requested", "bindfs ignores a change of one time alone"),
    ("compress::the_output_has_the_time_of_the_last_write_of_its_input", "as times and modes"),
    (
        "compress::zeros_become_holes_in_a_file_and_are_written_to_anything_else",
        "bindfs makes no named pipe for users",
    ),
    ("few_resources::a_codec_without_memory_is_an_error_and_no_panic", "it needs other limits"),
    (
        "timeline::what_is_copied_or_piped_on_is_in_the_spans_at_both_ends",
        "the kernel copies, in one step",
    ),
    ("copies_are_whole::holes_stay_holes", "bindfs does not report holes"),
    ("mirrors::files::made_copies_are_equal_and_share_nothing", "it counts links at once"),
    (
        "append_promises::a_fork_of_an_output_that_is_gone_says_so_and_holds_nothing",
        "what is open stays in the folder until it is closed",
    ),
    ("append_trees::the_committed_order_is_the_serial_order", "as the forks"),
    (
        "ordered_is_poisoned_not_torn::a_ticket_may_outlive_its_writer_and_is_refused",
        "as the forks",
    ),
    (
        "ordered_is_poisoned_not_torn::commit_says_how_many_tickets_are_open_and_does_not_wait",
        "as the forks",
    ),
    (
        "what_is_refused_is_reported::without_linkat_a_hidden_file_is_renamed",
        "bindfs cannot rename without replacing either",
    ),
    ("every_engine_gives_the_serial_bytes::", "they set what is cached"),
    ("ingest::calls::", "as the engines"),
    ("killed::", "as the crashes"),
];

/// A folder of FUSE; unmounted when it is dropped.
struct BindMount(PathBuf);

impl BindMount {
    fn new(workspace: &Workspace) -> Result<BindMount> {
        let folder = workspace.target().join("fuse");
        let (below, seen) = (folder.join("below"), folder.join("seen"));
        for path in [&below, &seen] {
            fs::create_dir_all(path)
                .with_context(|| format!("cannot create {}", path.display()))?;
        }
        // As /tmp: tests become other users.
        fs::set_permissions(&below, Permissions::from_mode(0o1777))?;
        process::run_quietly(workspace.command("bindfs").args([&below, &seen]))?;
        Ok(BindMount(seen))
    }
}

impl Drop for BindMount {
    fn drop(&mut self) {
        // Lazily: a test that failed may have left something open.
        let mut end = std::process::Command::new("fusermount3");
        let _ = process::run_quietly(end.arg("-uz").arg(&self.0));
    }
}

/// Runs the tests; returns how many, or `None` without bindfs.
pub(super) fn run(workspace: &Workspace) -> Result<Option<u64>> {
    let lacks = [
        (!workspace.has("bindfs"), "bindfs: not installed"),
        (fs::File::open("/dev/fuse").is_err(), "/dev/fuse cannot be opened"),
        (
            programs::path(workspace, "cargo-nextest").is_none(),
            "no nextest to choose tests with",
        ),
    ];
    if let Some((_, why)) = lacks.into_iter().find(|(is_lacking, _)| *is_lacking) {
        skips::note(workspace, "fuse", why)?;
        return Ok(None);
    }
    let mounted = BindMount::new(workspace)?;
    let variables = vec![("TMPDIR", mounted.0.display().to_string())];
    let filter = filter();
    // As a push has built them.
    let workspace = &Workspace::find()?.linted()?;
    nextest::run(workspace, &TestRun { filter: &filter, profile: "torture", variables })
        .map(Some)
}

fn filter() -> String {
    let not = NOT_HERE.iter().map(|(name, _)| match name.strip_suffix("::") {
        Some(module) => format!("test(/^{module}::/)"),
        None => format!("test(={name})"),
    });
    format!(
        "(binary_id(swath-cli::command) | binary_id(swath::promises)) & not ({})",
        not.collect::<Vec<_>>().join(" | ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_test_that_is_left_out_is_in_the_expression() {
        let filter = filter();
        assert!(filter.contains("test(/^fuse::/)") && !filter.contains("test(=fuse::"));
        assert!(filter.contains("| test(=copies_are_whole::holes_stay_holes)"), "{filter}");
    }
}
