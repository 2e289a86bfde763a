//! Opens pages of the site in a headless browser: each shows its title and loads all its files.
//!
//! The browser opens a copy next to the page, with a script in front that records in the page what
//! could not be loaded. The fault of a planted copy must be found, too.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use crate::skips;
use crate::workspace::Workspace;

const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
const COPY: &str = "opened-by-the-tests.html";

/// Records every script, picture and style sheet that cannot be loaded, and every exception.
const LISTENER: &str = "<head><script>addEventListener('error', (event) => {\
    const what = event.target.src || event.target.href || event.message;\
    document.documentElement.setAttribute('data-failed', what);\
    }, true);</script>";

/// Opens `pages` one after the other; notes a skip if there is no browser.
pub(super) fn run(workspace: &Workspace, site: &Path, pages: &[&str]) -> Result<()> {
    let Some(browser) = NAMES.iter().find(|name| workspace.has(name)) else {
        return skips::note(workspace, "chromium", "no browser to open the site with");
    };
    for page in pages {
        let page = site.join(page);
        let html = fs::read_to_string(&page)?;
        check(&html, &open(workspace, browser, &page, &html)?)
            .with_context(|| format!("{} in {browser}", page.display()))?;
        println!("opened {}", page.display());
        let planted = html.replacen("</head>", "<script src=\"gone.js\"></script></head>", 1);
        if check(&html, &open(workspace, browser, &page, &planted)?).is_ok() {
            bail!("{browser} did not see that a script of {} is missing", page.display());
        }
    }
    Ok(())
}

/// Returns the browser's document for `html`, opened in the place of `page`.
fn open(workspace: &Workspace, browser: &str, page: &Path, html: &str) -> Result<String> {
    let copy = page.with_file_name(COPY);
    fs::write(&copy, html.replacen("<head>", LISTENER, 1))?;
    let profile = workspace.target().join("book-browser");
    let mut command = workspace.command(browser);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]);
    command.args(["--no-first-run", "--disable-background-networking", "--disable-sync"]);
    command.args(["--dump-dom", "--virtual-time-budget=5000"]);
    command.arg(format!("--user-data-dir={}", profile.display()));
    let output = command.arg(format!("file://{}", copy.display())).output()?;
    fs::remove_file(&copy)?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{browser} failed: {said}");
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Compares the page as it was written with the browser's document.
fn check(html: &str, dom: &str) -> Result<()> {
    if let Some(what) = between(dom, "data-failed=\"", "\"") {
        bail!("it could not be loaded, or failed: {what}");
    }
    let title = between(html, "<title>", "</title>").unwrap_or_default();
    ensure!(!title.is_empty(), "the page has no title");
    let shown = between(dom, "<title>", "</title>");
    ensure!(shown == Some(title), "the title shown is {shown:?}");
    ensure!(dom.contains("class=\"toctree-l1"), "the list of pages is not there");
    let main = between(dom, "<article role=\"main\"", "</article>").unwrap_or_default();
    ensure!(main.contains("<h1"), "no heading is shown");
    Ok(())
}

fn between<'t>(text: &'t str, start: &str, end: &str) -> Option<&'t str> {
    let rest = &text[text.find(start)? + start.len()..];
    Some(&rest[..rest.find(end)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    const HTML: &str = "<head><title>A</title></head>";
    const DOM: &str = "<title>A</title><li class=\"toctree-l1\"></li>\
        <article role=\"main\"><h1>A</h1></article>";

    #[test]
    fn a_page_with_its_title_and_its_list_is_right() {
        check(HTML, DOM).expect("it is right");
    }

    #[test]
    fn a_page_that_misses_anything_is_not() {
        for (from, to) in [
            ("<title>A", "<title>B"),
            ("class=\"toctree-l1\"", ""),
            ("<h1>", "<p>"),
            ("<article", "<article data-failed=\"gone.js\">"),
        ] {
            assert!(check(HTML, &DOM.replace(from, to)).is_err(), "{from}");
        }
        assert!(check("<head></head>", DOM).is_err(), "no title");
    }
}
