//! The tests of the command and of the library in a folder of FUSE: bindfs, which remembers attributes for a
//! second, has no files without a name, and keeps what is removed while it is open; and sshfs, which remembers
//! them for longer, and renames as SFTP does.

use std::fs::{self, Permissions};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::nextest::{self, TestRun};
use crate::workspace::Workspace;
use crate::{process, programs, skips};

/// Tests that bindfs cannot pass, and why. Where a name ends with `::`, all tests of that module.
const NOT_HERE: [(&str, &str); 25] = [
    ("fuse::", "they mount file systems of their own"),
    ("ingest::fuse::", "they mount file systems of their own"),
    (
        "jobs_closed::a_job_in_a_folder_that_cannot_be_listed_is_durable_and_leaves_nothing",
        "it has no files without a name, which are needed to sync such a folder",
    ),
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
    (
        "locks_are_removed::locks_that_are_watched_are_removed_and_no_others",
        "the hidden file of a writer goes with its lock, since the lock alone names it",
    ),
    ("every_engine_gives_the_serial_bytes::", "they set what is cached"),
    ("ingest::calls::", "as the engines"),
    ("killed::", "as the crashes"),
];

/// Tests that sshfs cannot pass, besides those, by what it lacks.
const NOT_BY_SFTP: [(&str, &[&str]); 5] = [
    (
        "each name of a file has a number of its own",
        &[
            "compress::a_target_with_further_names_is_broken_away_from_only_if_asked_to",
            "copies_are_whole::a_file_is_not_copied_over_itself",
            "copies_are_whole::a_target_that_must_not_be_replaced_is_not",
            "mirrors::files::one_file_under_two_names_is_one_copy",
            "mirrors::heal::hard_links_and_cancelling_are_those_of_every_writer",
            "mirrors::heal::what_a_killed_run_left_beside_a_right_copy_is_removed",
            "mirrors::what_would_write_over_the_file_its_copies_or_the_manifest_is_refused",
            "refused::closed::folders_devices_and_hard_links_are_refused_in_every_way",
            "refused::in_place::what_is_read_is_not_written_in_place",
            "transform_leaves_what_the_serial_loop_leaves::the_output_may_be_the_input",
        ],
    ),
    (
        "times are in seconds",
        &[
            "append_promises::what_another_program_did_to_an_existing_file_is_not_replaced",
            "changing_files::bytes_that_are_copied_into_a_pipe_do_not_change_there",
            "copies_are_whole::a_copy_that_preserves_all_has_times_mode_and_owner_of_its_source",
            "mirrors::files::a_copy_that_is_written_while_it_is_read_gives_no_byte_any_more",
        ],
    ),
    (
        "no pipe can be made",
        &[
            "closed_pipes::a_fifo_whose_reader_leaves_is_as_standard_output",
            "exit_codes::a_pipe_of_another_user_in_a_shared_folder_is_no_output",
            "mirrors::refusals::a_copy_that_cannot_be_opened_is_left_alone_and_the_others_are_healed",
            "mirrors::refusals::a_pipe_is_no_copy_and_is_not_waited_for",
            "odd_files::a_list_of_checksums_that_names_a_pipe_does_not_wait_for_its_writer",
            "odd_files::a_named_pipe_is_read_in_order_and_not_waited_for_twice",
        ],
    ),
    (
        "the client reads no symbolic link",
        &[
            "compress::the_input_is_never_its_own_output",
            "exit_codes::a_loop_of_symbolic_links_is_2_and_says_so",
            "odd_files::standard_output_by_another_name_has_the_data_alone",
            "timeline::what_cannot_be_written_is_refused_before_anything_is_done",
        ],
    ),
    (
        "what another user makes is the server's",
        &[
            "jobs_closed::a_commit_without_permission_keeps_every_part_and_can_be_run_again",
            "refused::closed::a_closed_folder_is_an_error_of_every_way_of_writing",
            "refused::closed::a_read_only_file_is_refused_though_its_folder_is_open",
            "refused::closed::in_a_sticky_folder_the_file_of_another_is_kept_and_nothing_left",
            "jobs_closed::a_target_that_only_its_owner_may_replace_is_refused_before_anything_is_done",
            "refused::closed::without_its_owner_a_file_is_no_longer_that_of_a_privileged_user",
            "refused::in_place::a_file_in_a_closed_folder_is_written_in_place_without_a_lock",
        ],
    ),
];

/// How a folder is shown at another place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FuseKind {
    Bindfs,
    /// By a server of SFTP on this machine, without a network.
    Sshfs,
}

/// Debian's place for it.
const SFTP_SERVER: &str = "/usr/lib/openssh/sftp-server";

impl FuseKind {
    fn name(self) -> &'static str {
        match self {
            Self::Bindfs => "bindfs",
            Self::Sshfs => "sshfs",
        }
    }

    /// Returns the services that this machine lacks to mount it.
    fn lack(self, workspace: &Workspace) -> Option<String> {
        if !workspace.has(self.name()) {
            return Some(format!("{}: not installed", self.name()));
        }
        let lacks_server = self == Self::Sshfs && !Path::new(SFTP_SERVER).exists();
        lacks_server.then(|| format!("{SFTP_SERVER}: not installed"))
    }

    /// Shows the first folder at the second; returns what serves it as long as it is shown.
    fn mount(self, workspace: &Workspace, [below, seen]: [&Path; 2]) -> Result<Vec<Child>> {
        if self == Self::Bindfs {
            process::run_quietly(workspace.command("bindfs").args([below, seen]))?;
            return Ok(Vec::new());
        }
        let (ours, theirs) = UnixStream::pair().context("no pair of sockets")?;
        let both = |end: &UnixStream| -> Result<[Stdio; 2]> {
            let end = || end.try_clone().map(|end| Stdio::from(OwnedFd::from(end)));
            Ok([end()?, end()?])
        };
        let ([from, to], [client_from, client_to]) = (both(&ours)?, both(&theirs)?);
        let server = Command::new(SFTP_SERVER).stdin(from).stdout(to).spawn()?;
        let mut client = Command::new("sshfs");
        client.arg(format!(":{}", below.display())).arg(seen);
        client.args(["-f", "-o", "passive,allow_other,default_permissions"]);
        let client = client.stdin(client_from).stdout(client_to).spawn()?;
        let served = vec![client, server];
        let before = fs::metadata(below)?.dev();
        for _ in 0..100 {
            if fs::metadata(seen)?.dev() != before {
                return Ok(served);
            }
            thread::sleep(Duration::from_millis(100));
        }
        bail!("sshfs shows nothing at {}", seen.display())
    }
}

/// A folder of FUSE; unmounted when it is dropped.
struct FuseMount {
    seen: PathBuf,
    served: Vec<Child>,
}

impl FuseMount {
    fn new(workspace: &Workspace, kind: FuseKind) -> Result<FuseMount> {
        let folder = workspace.target().join("fuse").join(kind.name());
        let (below, seen) = (folder.join("below"), folder.join("seen"));
        for path in [&below, &seen] {
            fs::create_dir_all(path)
                .with_context(|| format!("cannot create {}", path.display()))?;
        }
        // As /tmp: tests become other users.
        fs::set_permissions(&below, Permissions::from_mode(0o1777))?;
        let served = kind.mount(workspace, [&below, &seen])?;
        Ok(FuseMount { seen, served })
    }
}

impl Drop for FuseMount {
    fn drop(&mut self) {
        // Lazily: a test that failed may have left something open.
        let mut end = Command::new("fusermount3");
        let _ = process::run_quietly(end.arg("-uz").arg(&self.seen));
        for served in &mut self.served {
            let _ = served.kill();
            let _ = served.wait();
        }
    }
}

/// Runs the tests; returns how many, or `None` without any of these file systems.
pub(super) fn run(workspace: &Workspace) -> Result<Option<u64>> {
    let refused = if fs::File::open("/dev/fuse").is_err() {
        Some("/dev/fuse cannot be opened")
    } else {
        let has_nextest = programs::path(workspace, "cargo-nextest").is_some();
        (!has_nextest).then_some("no nextest to choose tests with")
    };
    if let Some(why) = refused {
        skips::note(workspace, "fuse", why)?;
        return Ok(None);
    }
    let mut cases = None;
    for kind in [FuseKind::Bindfs, FuseKind::Sshfs] {
        if let Some(why) = kind.lack(workspace) {
            skips::note(workspace, "fuse", &why)?;
            continue;
        }
        let mounted = FuseMount::new(workspace, kind)?;
        let variables = vec![("TMPDIR", mounted.seen.display().to_string())];
        let filter = filter(kind);
        // As a push has built them.
        let workspace = &Workspace::find()?.linted()?;
        let run = TestRun { filter: &filter, profile: "torture", variables };
        *cases.get_or_insert(0) += nextest::run(workspace, &run)?;
    }
    Ok(cases)
}

fn filter(kind: FuseKind) -> String {
    let further = if kind == FuseKind::Sshfs { &NOT_BY_SFTP[..] } else { &[] };
    let further = further.iter().flat_map(|(_, names)| *names);
    let names = NOT_HERE.iter().map(|(name, _)| name).chain(further);
    let not = names.map(|name| match name.strip_suffix("::") {
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
        let filter = filter(FuseKind::Bindfs);
        assert!(filter.contains("test(/^fuse::/)") && !filter.contains("test(=fuse::"));
        assert!(filter.contains("| test(=copies_are_whole::holes_stay_holes)"), "{filter}");
    }
}
