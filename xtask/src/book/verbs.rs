//! Whether every verb of the table in `ARCHITECTURE.md` has its page in the reference of the site.

use std::path::Path;

use super::API;

/// Returns one text for each verb that the reference lacks, and one if the table has none.
pub(super) fn missing(architecture: &str, site: &Path) -> Vec<String> {
    let rows =
        architecture.lines().skip_while(|line| !line.starts_with("| Rust | C |")).skip(2);
    let cells =
        rows.take_while(|line| line.starts_with('|')).filter_map(|it| it.split('|').nth(1));
    let verbs: Vec<&str> = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    let is_there = |verb: &&str| {
        let path = verb.split('(').next().unwrap_or_default();
        let (rooms, name) = path.rsplit_once("::").unwrap_or(("", path));
        let room = rooms.replace("::", "/");
        // A verb may have the name of its room, which has its page then.
        let pages = [format!("{room}/fn.{name}.html"), format!("{room}/{name}/fn.{name}.html")];
        let is_page = |krate: &str, page: &String| {
            site.join("api").join(krate).join(page.trim_start_matches('/')).exists()
        };
        API.iter().any(|krate| pages.iter().any(|page| is_page(krate, page)))
    };
    let missing = verbs.iter().filter(|verb| !is_there(verb));
    let mut texts: Vec<String> = missing
        .map(|verb| format!("the reference lacks `{verb}` of ARCHITECTURE.md"))
        .collect();
    if verbs.is_empty() {
        texts.push(String::from("ARCHITECTURE.md has no table of verbs"));
    }
    texts
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_verb_without_a_page_is_found_and_so_is_a_missing_table() {
        let site = std::env::temp_dir().join(format!("swath-verbs-{}", std::process::id()));
        let folder = site.join("api/swath_formats/table");
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("fn.read.html"), "").expect("a page");
        let table = "| Rust | C | Python |\n| --- | --- | --- |\n\
                     | `table::read(source)`, `scan(source, fold)` | `swath_scan` | – |\n";
        let found = missing(table, &site);
        assert_eq!(found, ["the reference lacks `scan(source, fold)` of ARCHITECTURE.md"]);
        assert_eq!(missing("", &site), ["ARCHITECTURE.md has no table of verbs"]);
        fs::remove_dir_all(&site).expect("ours");
    }
}
