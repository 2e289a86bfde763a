//! Dependencies between members of the workspace, as declared in their manifests.

use super::Violation;
use super::tables::MEMBERS;
use super::tree::Tree;
use crate::manifest::{self, Section, quoted};

/// Finds dependencies that the table of members does not allow.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in tree.texts() {
        if path.ends_with("/Cargo.toml") {
            check_manifest(path, &manifest::sections(text), &mut violations);
        }
    }
    violations
}

fn check_manifest(path: &str, sections: &[Section], violations: &mut Vec<Violation>) {
    let package = sections.iter().find(|it| it.head == "package");
    let Some(name) = package.and_then(|it| it.string("name")) else {
        violations.push(Violation::new(path, 1, "no package name"));
        return;
    };
    let short = without_prefix(name);
    let Some(member) = MEMBERS.iter().find(|it| it.name == short) else {
        let text = format!("`{short}` is not in MEMBERS of xtask/src/tidy/tables.rs: add it");
        violations.push(Violation::new(path, 1, text));
        return;
    };
    for (dependency, line) in sections.iter().flat_map(dependencies) {
        if !member.may.contains(&dependency.as_str()) {
            let text = format!("`{short}` must not depend on `{dependency}`");
            violations.push(Violation::new(path, line, text));
        }
    }
}

/// Returns our own crates that the member `name` depends on; `None` if there is no such member.
pub(super) fn depends_on(tree: &Tree, name: &str) -> Option<Vec<String>> {
    let manifests = tree.texts().filter(|(path, _)| path.ends_with("Cargo.toml"));
    let mut manifests = manifests.map(|(_, text)| manifest::sections(text));
    let is_it = |sections: &Vec<Section>| {
        let package = sections.iter().find(|it| it.head == "package");
        package.and_then(|it| it.string("name")).is_some_and(|it| without_prefix(it) == name)
    };
    let sections = manifests.find(is_it)?;
    Some(sections.iter().flat_map(dependencies).map(|(name, _)| name).collect())
}

/// Returns our own crates in a section of shipped dependencies, with their lines.
fn dependencies(section: &Section) -> Vec<(String, usize)> {
    let head = section.head.as_str();
    let mut named = Vec::new();
    if is_shipped(head) {
        for entry in &section.entries {
            let key = entry.key.split('.').next().unwrap_or_default();
            named.push((key, entry.line));
            // An alias: `fast = { package = "swath-simd" }`.
            if let Some((_, value)) = entry.value.split_once("package") {
                named.push((quoted(value).unwrap_or_default(), entry.line));
            }
        }
    } else if let Some((parent, key)) = head.rsplit_once('.')
        && is_shipped(parent)
    {
        named.push((key, section.line));
    }
    named
        .into_iter()
        .map(|(name, line)| (name.trim_matches('"'), line))
        .filter(|(name, _)| *name == "swath" || name.starts_with("swath-"))
        .map(|(name, line)| (without_prefix(name).to_owned(), line))
        .collect()
}

/// Tests may depend on anything.
fn is_shipped(head: &str) -> bool {
    let is_target = head.starts_with("target.");
    let kind = if is_target { head.rsplit('.').next().unwrap_or_default() } else { head };
    kind == "dependencies" || kind == "build-dependencies"
}

fn without_prefix(name: &str) -> &str {
    name.strip_prefix("swath-").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::super::planted::Planted;
    use super::*;

    const PLAN: &str = "[package]\nname = \"swath-plan\"\n";

    #[test]
    fn an_arrow_that_points_back_is_found_in_every_way_of_writing_it() {
        for lines in [
            "[dependencies]\nswath.workspace = true\n",
            "[dependencies]\nswath-os = { path = \"../os\" }\n",
            "[dependencies]\nfast = { package = \"swath-simd\", path = \"../simd\" }\n",
            "[build-dependencies]\nswath-os.workspace = true\n",
            "[dependencies.swath-os]\nworkspace = true\n",
            "[target.'cfg(target_os = \"linux\")'.dependencies]\nswath-os.workspace = true\n",
        ] {
            let planted = Planted::clean();
            planted.put("crates/plan/Cargo.toml", &format!("{PLAN}{lines}"));
            planted.finds(check, "crates/plan/Cargo.toml:");
        }
    }

    #[test]
    fn the_violation_names_both_ends_and_the_line() {
        let planted = Planted::clean();
        let text = format!("{PLAN}[dependencies]\nswath-os.workspace = true\n");
        planted.put("crates/plan/Cargo.toml", &text);
        planted.finds(check, "crates/plan/Cargo.toml:4: `plan` must not depend on `os`");
    }

    #[test]
    fn tests_may_depend_on_anything() {
        let planted = Planted::clean();
        let text = format!("{PLAN}[dev-dependencies]\nswath.workspace = true\n");
        planted.put("crates/plan/Cargo.toml", &text);
        assert!(planted.found(check).is_empty());
    }

    #[test]
    fn a_member_that_is_not_in_the_table_is_found() {
        let planted = Planted::clean();
        planted.put("crates/new/Cargo.toml", "[package]\nname = \"swath-new\"\n");
        planted.finds(check, "crates/new/Cargo.toml:1: `new` is not in MEMBERS");
    }
}
