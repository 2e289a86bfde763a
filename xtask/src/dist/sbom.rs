//! The list of components of a product, in CycloneDX.

use serde_json::{Value, json};

use super::linked::Package;

/// Ends the name of each list.
pub(super) const ENDING: &str = "cdx.json";

/// Returns the list of what `product` is linked from.
pub(super) fn text(product: &str, version: &str, packages: &[Package]) -> String {
    let own = packages.iter().find(|it| it.name == product);
    let root = json!({
        "type": if product == "swath-cli" { "application" } else { "library" },
        "bom-ref": format!("{product} {version}"),
        "name": product,
        "version": version,
        "licenses": licences(own.map_or("", |it| it.licence.as_str())),
    });
    let parts: Vec<Value> =
        packages.iter().filter(|it| it.name != product).map(component).collect();
    let refs: Vec<&Value> = parts.iter().map(|it| &it["bom-ref"]).collect();
    let list = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": root },
        "components": parts,
        "dependencies": [{ "ref": format!("{product} {version}"), "dependsOn": refs }],
    });
    format!("{list:#}\n")
}

fn component(package: &Package) -> Value {
    let mut value = json!({
        "type": "library",
        "bom-ref": package.id(),
        "name": package.name,
        "version": package.version,
        "licenses": licences(&package.licence),
    });
    if !package.own {
        value["purl"] = json!(format!("pkg:cargo/{}@{}", package.name, package.version));
    }
    if let Some(sum) = &package.checksum {
        value["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
    }
    value
}

fn licences(expression: &str) -> Value {
    // Older manifests write a slash for `OR`.
    let expression = expression.replace('/', " OR ");
    if expression.is_empty() { json!([]) } else { json!([{ "expression": expression }]) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn every_package_is_a_component_with_its_version_licence_and_checksum() {
        let package = |name: &str, own: bool| Package {
            name: name.into(),
            version: "1.2.3".into(),
            licence: "MIT/Apache-2.0".into(),
            authors: Vec::new(),
            folder: PathBuf::new(),
            own,
            checksum: (!own).then(|| "ab".to_owned()),
        };
        let packages = [package("bytes", false), package("swath-capi", true)];
        let list = text("swath-capi", "0.1.0", &packages);
        let list: Value = serde_json::from_str(&list).expect("it is JSON");
        assert_eq!(list["components"].as_array().map(Vec::len), Some(1));
        let part = &list["components"][0];
        assert_eq!(part["purl"], "pkg:cargo/bytes@1.2.3");
        assert_eq!(part["hashes"][0]["content"], "ab");
        assert_eq!(part["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(list["metadata"]["component"]["name"], "swath-capi");
        assert_eq!(list["dependencies"][0]["dependsOn"][0], "bytes 1.2.3");
    }
}
