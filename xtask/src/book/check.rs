//! Finds links of a site that lead nowhere, to an anchor that is not there, or out of the site.
//!
//! Every page is read, every `href` and `src` followed. Absolute links (`https:`) may leave; nothing is
//! fetched.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::stage::names;

/// A page: its anchors and where its links lead.
struct Page {
    anchors: BTreeSet<String>,
    links: Vec<String>,
}

/// Returns one text for each broken link, in the order of the pages.
pub(super) fn run(site: &Path) -> Result<Vec<String>> {
    let (mut files, mut pages) = (BTreeSet::new(), BTreeMap::new());
    read(site, "", &mut files, &mut pages)?;
    let mut broken = Vec::new();
    for (path, page) in &pages {
        for link in &page.links {
            if let Err(why) = follow(path, link, &files, &pages) {
                broken.push(format!("{path}: `{link}`: {why}"));
            }
        }
    }
    Ok(broken)
}

fn read(
    site: &Path,
    folder: &str,
    files: &mut BTreeSet<String>,
    pages: &mut BTreeMap<String, Page>,
) -> Result<()> {
    for name in names(&site.join(folder))? {
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        if site.join(&path).is_dir() {
            read(site, &path, files, pages)?;
            continue;
        }
        if path.ends_with(".html") {
            let text = fs::read_to_string(site.join(&path));
            let text = text.with_context(|| format!("cannot read {path}"))?;
            pages.insert(path.clone(), parse(&text));
        }
        files.insert(path);
    }
    Ok(())
}

fn parse(html: &str) -> Page {
    let mut page = Page { anchors: BTreeSet::new(), links: Vec::new() };
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        rest = &rest[start..];
        if let Some(after) = rest.strip_prefix("<!--") {
            rest = after.find("-->").map_or("", |end| &after[end..]);
            continue;
        }
        let end = end_of_tag(rest);
        let tag = &rest[..end];
        page.anchors.extend(["id", "name"].iter().filter_map(|it| attribute(tag, it)));
        page.links.extend(["href", "src"].iter().filter_map(|it| attribute(tag, it)));
        let is_script = tag.starts_with("<script");
        rest = &rest[end..];
        if is_script {
            rest = rest.find("</script").map_or("", |end| &rest[end..]);
        }
    }
    page
}

/// Past the `>` that ends a tag: not one in quotes.
fn end_of_tag(text: &str) -> usize {
    let mut quote = None;
    for (index, sign) in text.char_indices() {
        match (quote, sign) {
            (None, '>') => return index + 1,
            (None, '"' | '\'') => quote = Some(sign),
            (Some(open), _) if open == sign => quote = None,
            _ => {}
        }
    }
    text.len()
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let tag = tag.split_once(char::is_whitespace)?.1;
    let mut rest = tag;
    loop {
        let at = rest.find(name)?;
        let starts_word = at == 0 || rest[..at].ends_with(char::is_whitespace);
        rest = &rest[at + name.len()..];
        let Some(value) = rest.strip_prefix('=').filter(|_| starts_word) else { continue };
        let value = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => value[1..].split(quote).next(),
            _ => value.split([' ', '>', '\n']).next(),
        };
        return value.map(unescaped);
    }
}

fn unescaped(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    text.replace("&#39;", "'").replace("&#x27;", "'").replace("&amp;", "&")
}

/// Whether a link leads somewhere, and why not.
fn follow(
    from: &str,
    link: &str,
    files: &BTreeSet<String>,
    pages: &BTreeMap<String, Page>,
) -> Result<(), String> {
    const ELSEWHERE: [&str; 5] = ["https:", "http:", "mailto:", "data:", "javascript:"];
    let is_elsewhere = ELSEWHERE.iter().any(|scheme| link.starts_with(scheme));
    if is_elsewhere || is_optional(from, link) {
        return Ok(());
    }
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let file = file.split('?').next().unwrap_or_default();
    let mut path = match file {
        "" => from.to_owned(),
        _ => join(from, &decoded(file))?,
    };
    if !files.contains(&path) {
        path = format!("{path}/index.html").trim_start_matches('/').to_owned();
    }
    if !files.contains(&path) {
        return Err("no such file".to_owned());
    }
    let Some(page) = pages.get(&path) else { return Ok(()) };
    // rustdoc writes anchors as they are in links: `impl-From%3CT%3E-for-T`.
    let is_there = page.anchors.contains(anchor) || page.anchors.contains(&decoded(anchor));
    if anchor.is_empty() || is_there || is_lines(&path, anchor) {
        Ok(())
    } else {
        Err("no such anchor".to_owned())
    }
}

/// A list of implementations elsewhere, which rustdoc names also where it writes none.
fn is_optional(from: &str, link: &str) -> bool {
    from.starts_with("api/") && link.contains("/trait.impl/") && link.ends_with(".js")
}

/// Lines of a source that rustdoc shows: a script marks them.
fn is_lines(path: &str, anchor: &str) -> bool {
    path.starts_with("api/src/") && anchor.bytes().all(|it| it.is_ascii_digit() || it == b'-')
}

fn join(from: &str, file: &str) -> Result<String, String> {
    if file.starts_with('/') {
        return Err("not relative".to_owned());
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in file.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop().ok_or("leaves the site")?),
            _ => parts.push(part),
        }
    }
    Ok(parts.join("/"))
}

/// `%20` and the like, as bytes.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let digits = tail.get(..2).and_then(|it| std::str::from_utf8(it).ok());
        let byte = digits.and_then(|it| u8::from_str_radix(it, 16).ok());
        match (first, byte) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the faults found in a site of these pages.
    fn found(name: &str, pages: &[(&str, &str)]) -> Vec<String> {
        let folder =
            std::env::temp_dir().join(format!("swath-book-{name}-{}", std::process::id()));
        for (path, text) in pages {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
            fs::write(path, text).expect("room");
        }
        let broken = run(&folder).expect("it can be read");
        fs::remove_dir_all(&folder).expect("it is ours");
        broken
    }

    #[test]
    fn links_to_pages_anchors_folders_and_the_web_are_fine() {
        let text = "<a href=\"b/c.html#x%20y\">c</a> <a href=b>b</a> <a href='#top'>t</a>\
                    <p id=top><a href=\"https://host/d\">d</a><img src=\"e.png?v=1\">\
                    <script>var a = '<a href=\"gone\">';</script><!-- <a href=\"gone\"> -->";
        let pages = [
            ("a.html", text),
            ("b/c.html", "<h1 id=\"x y\">c</h1>"),
            ("b/index.html", ""),
            ("e.png", ""),
        ];
        assert_eq!(found("fine", &pages), Vec::<String>::new());
    }

    #[test]
    fn links_that_lead_nowhere_or_out_are_found() {
        for (name, link, why) in [
            ("gone", "gone.html", "no such file"),
            ("anchor", "b.html#gone", "no such anchor"),
            ("own", "#gone", "no such anchor"),
            ("out", "../a.html", "leaves the site"),
            ("root", "/a.html", "not relative"),
        ] {
            let text = format!("<p><a class=\"x\" href=\"{link}\">a</a>");
            let broken = found(name, &[("a.html", &text), ("b.html", "")]);
            assert_eq!(broken, [format!("a.html: `{link}`: {why}")]);
        }
    }
}
