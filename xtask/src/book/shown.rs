//! Shows a file of the repository, or a folder's list of files, as a page of its own.

const HEAD: &str = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
    <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<style>\
    :root { color-scheme: light dark } body { font-family: sans-serif; margin: 1.5em }\
    pre { font-size: 0.85em; line-height: 1.4 }</style>\n";

/// Returns a page with a text as it is.
pub(super) fn file(path: &str, text: &str) -> String {
    let (path, text) = (escaped(path), escaped(text));
    format!(
        "{HEAD}<title>{path}</title></head>\n<body><h1>{path}</h1>\n<pre>{text}</pre>\n</body></html>\n"
    )
}

/// Returns a page with a list of links: name and target.
pub(super) fn folder<'n>(path: &str, files: impl Iterator<Item = (&'n str, String)>) -> String {
    let path = escaped(path);
    let mut page = format!("{HEAD}<title>{path}</title></head>\n<body><h1>{path}</h1>\n<ul>\n");
    for (name, target) in files {
        let (name, target) = (escaped(name), escaped(&target));
        page.push_str(&format!("<li><a href=\"{target}\">{name}</a></li>\n"));
    }
    page + "</ul>\n</body></html>\n"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_become_markup() {
        let page = file("a.rs", "a < b && c(\"</pre>\")");
        assert!(page.contains("a &lt; b &amp;&amp; c(&quot;&lt;/pre&gt;&quot;)"), "{page}");
    }
}
