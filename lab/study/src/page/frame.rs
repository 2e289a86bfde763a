//! The frame of every page: head, style, script, and the bar with the switches.
//!
//! A page refers to no other file: the policy in its head lets the browser load nothing.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::figure::folder_name;
use super::ink::COLORS;
use crate::results::{Folder, State};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// The content security policy: the browser may load nothing.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// Renders a whole page.
pub(super) fn page(title: &str, switches: &Markup, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                link rel="icon" href="data:,";
                title { (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(slots())) }
            }
            body {
                (switches)
                main { (body) }
                div id="tip" role="status" hidden {}
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// Returns the rules of the style sheet that colour and hide each slot.
fn slots() -> String {
    let slot = |slot: u8| {
        let color = slot % COLORS;
        format!(
            ".k{slot}{{--c:var(--s{color})}}.off{slot} .charts figure .k{slot}{{display:none}}"
        )
    };
    (0..COLORS * 7).map(slot).collect()
}

/// Renders the switches of a page whose charts show `states` of `folders`.
pub(super) fn switches(
    states: &[State],
    folders: &[Folder],
    sections: &[(&str, &str)],
) -> Markup {
    let has_both = states.contains(&State::Warm) && states.contains(&State::Cold);
    html! {
        nav class="bar" {
            div class="links" { @for (id, name) in sections { a href={ "#" (id) } { (name) } } }
            div class="controls" {
                @if has_both {
                    fieldset data-switch="state" {
                        legend { "Files" }
                        (choice("state", "warm", "warm", true))
                        (choice("state", "cold", "cold", false))
                    }
                }
                @if folders.len() > 1 {
                    label class="select" {
                        "Folder "
                        select data-switch="folder" {
                            @for index in 0..folders.len() {
                                option value=(index) { (folder_name(folders, index)) }
                            }
                            option value="all" { "all, side by side" }
                        }
                    }
                }
                button type="button" id="scheme" { "Dark" }
            }
        }
    }
}

fn choice(name: &str, value: &str, words: &str, is_chosen: bool) -> Markup {
    html! {
        label { input type="radio" name=(name) value=(value) checked[is_chosen]; span { (words) } }
    }
}

/// Renders a table from heads and rows; it scrolls if it is too wide.
pub(super) fn table(heads: &[&str], class: Option<&str>, rows: &Markup) -> Markup {
    html! {
        div class="scroll" tabindex="0" {
            table class=[class] {
                thead { tr { @for head in heads { th { (head) } } } }
                tbody { (rows) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the light and the dark value of a variable of the style sheet.
    fn pair(name: &str) -> [[f64; 3]; 2] {
        let rule = STYLE.split(&format!("{name}: light-dark(")).nth(1).expect("it is there");
        let values = rule.split(')').next().expect("it ends");
        let mut colors = values.split(", ").map(|text| {
            let channel = |at: usize| u8::from_str_radix(&text[at..at + 2], 16);
            [1, 3, 5].map(|at| f64::from(channel(at).expect("hexadecimal")) / 255.0)
        });
        [colors.next().expect("light"), colors.next().expect("dark")]
    }

    /// Returns the relative luminance as the Web Content Accessibility Guidelines define it.
    fn luminance(color: [f64; 3]) -> f64 {
        let linear = |it: f64| {
            if it <= 0.04045 { it / 12.92 } else { ((it + 0.055) / 1.055).powf(2.4) }
        };
        let [red, green, blue] = color.map(linear);
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    fn contrast(name: &str, ground: &str) -> f64 {
        let both = pair(name).into_iter().zip(pair(ground)).map(|(front, back)| {
            let (front, back) = (luminance(front), luminance(back));
            (front.max(back) + 0.05) / (front.min(back) + 0.05)
        });
        both.fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn text_and_lines_stand_out_in_light_and_dark() {
        for (name, ground) in [
            ("--ink", "--paper"),
            ("--soft", "--paper"),
            ("--soft", "--card"),
            ("--link", "--paper"),
            ("--yes", "--yes-paper"),
            ("--no", "--no-paper"),
            ("--open", "--open-paper"),
        ] {
            let found = contrast(name, ground);
            assert!(found >= 4.5, "{name} on {ground}: {found:.2}");
        }
        for color in 0..COLORS {
            let found = contrast(&format!("--s{color}"), "--paper");
            assert!(found >= 3.0, "--s{color}: {found:.2}");
        }
    }

    #[test]
    fn the_page_refers_to_nothing_outside() {
        for text in [STYLE, SCRIPT] {
            for word in ["http", "//cdn", "@import", "url(", "fetch", "import("] {
                assert!(!text.contains(word), "{word}");
            }
        }
    }
}
