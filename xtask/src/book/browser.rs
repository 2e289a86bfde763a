//! Opens pages of the site in a headless browser: each shows its title and misses nothing.

use std::path::Path;

use anyhow::{Result, ensure};

use crate::skips;
use crate::workspace::Workspace;

const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Opens `pages` one after the other; notes a skip if there is no browser.
pub(super) fn run(workspace: &Workspace, site: &Path, pages: &[&str]) -> Result<()> {
    let Some(browser) = NAMES.iter().find(|name| workspace.has(name)) else {
        return skips::note(workspace, "chromium", "no browser to open the site with");
    };
    for page in pages {
        open(workspace, browser, &site.join(page))?;
        println!("opened {page}");
    }
    Ok(())
}

fn open(workspace: &Workspace, browser: &str, page: &Path) -> Result<()> {
    let profile = workspace.target().join("book-browser");
    let mut command = workspace.command(browser);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]);
    command.args(["--no-first-run", "--disable-background-networking", "--disable-sync"]);
    command.args(["--dump-dom", "--enable-logging=stderr", "--virtual-time-budget=5000"]);
    command.arg(format!("--user-data-dir={}", profile.display()));
    let output = command.arg(format!("file://{}", page.display())).output()?;
    let (dom, said) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let name = page.display();
    ensure!(output.status.success(), "{browser} failed on {name}: {said}");
    let complaints = complaints(&said);
    ensure!(complaints.is_empty(), "{name}: {complaints:?}");
    let written = std::fs::read_to_string(page)?;
    let title = between(&written, "<title>", "</title>").unwrap_or_default();
    ensure!(!title.is_empty(), "{name} has no title");
    let shown = between(&dom, "<title>", "</title>");
    ensure!(shown == Some(title), "{name}: the browser shows the title {shown:?}");
    // A script writes the list of pages.
    ensure!(dom.contains("class=\"chapter\""), "{name}: the list of pages is not there");
    ensure!(
        between(&dom, "<main>", "</main>").is_some_and(|it| it.contains("<h1")),
        "{name}: no heading"
    );
    Ok(())
}

/// What the page's console says, and what could not be loaded.
fn complaints(said: &str) -> Vec<&str> {
    let is_complaint = |line: &&str| {
        line.contains("CONSOLE") || line.contains("ERR_FILE") || line.contains("net::ERR")
    };
    said.lines().filter(is_complaint).collect()
}

fn between<'t>(text: &'t str, start: &str, end: &str) -> Option<&'t str> {
    let rest = &text[text.find(start)? + start.len()..];
    Some(&rest[..rest.find(end)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_the_console_is_a_complaint() {
        let said = "[1:2:INFO:CONSOLE(0)] \"Failed to load resource: net::ERR_FILE_NOT_FOUND\"\n\
                    [3:4:ERROR:dbus] no bus\n";
        assert_eq!(complaints(said).len(), 1);
    }

    #[test]
    fn text_is_found_between_two_marks() {
        assert_eq!(between("a<b>c</b>", "<b>", "</b>"), Some("c"));
        assert_eq!(between("a<b>c", "<b>", "</b>"), None);
    }
}
