//! What every page has: head, style, script, the bar with the switches.
//!
//! One file without any reference to another: the policy in its head lets a browser load nothing.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::figure::folder_name;
use super::ink::COLORS;
use crate::results::{Folder, State};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// What the browser may load: nothing.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// A whole page.
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

/// The rules that give each slot its colour, and hide it.
fn slots() -> String {
    let slot = |slot: u8| {
        let color = slot % COLORS;
        format!(
            ".k{slot}{{--c:var(--s{color})}}.off{slot} .charts figure .k{slot}{{display:none}}"
        )
    };
    (0..COLORS * 7).map(slot).collect()
}

/// The switches of a page whose charts show `states` of `folders`.
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
