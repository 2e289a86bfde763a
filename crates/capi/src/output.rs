//! How to write, for every call that writes a file.

use std::ffi::{CStr, CString, c_char, c_void};
use std::mem::MaybeUninit;

use swath::sink;

use crate::cancel::CancelToken;
use crate::guard::quietly;
use crate::number::numbers;
use crate::options::{Hooks, ProgressFn};
use crate::pointer::value;
use crate::setter::{Holds, change, made, put, set};
use crate::status::Status;

/// How safe a commit is from a power cut.
#[repr(u32)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// When commit returns, the bytes and the name are on the device.
    #[default]
    Full = 0,
    /// The kernel has them and writes them later. Readers see all or nothing, but after a power
    /// cut the target may be old, empty or damaged.
    None = 1,
}
numbers!(Durability, "swath_durability", [Full, None] -> sink::Durability);

/// How to treat a target that exists.
#[repr(u32)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replace {
    /// Replace it in one step; its mode, owner (where allowed) and attributes are kept.
    #[default]
    Allowed = 0,
    /// Fail; the file is never touched.
    Refused = 1,
    /// Truncate it and write to it where it is: for a file that cannot be replaced, such as one that is mounted
    /// by itself. Not one step: after an error or a crash it holds a part of the new bytes.
    InPlace = 2,
}
numbers!(Replace, "swath_replace", [Allowed, Refused, InPlace] -> sink::Replace);

/// How to treat a target with other names (hard links), which would keep the old bytes.
#[repr(u32)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HardLinks {
    /// Fail.
    #[default]
    Refused = 0,
    /// Give this name the new bytes; the other names keep the old ones.
    Broken = 1,
}
numbers!(HardLinks, "swath_hard_links", [Refused, Broken] -> sink::HardLinks);

/// How to write: one set of options for every call that writes a file. One thread at a time may
/// set options, and no thread while a call writes with them. NULL means defaults.
#[derive(Debug, Default)]
pub struct OutputOptions {
    options: swath::OutputOptions,
    hooks: Hooks,
    choices: Choices,
    /// The text of the choices, if one was made.
    text: Option<CString>,
}

/// The options that all processes of one output must agree on.
#[derive(Clone, Copy, Debug, Default)]
struct Choices {
    durability: Durability,
    replace: Replace,
    hard_links: HardLinks,
}

/// The text of the defaults.
const DEFAULTS: &CStr = c"durability full, replace allowed, hard links refused";

impl Choices {
    fn text(self) -> CString {
        let Self { durability, replace, hard_links } = self;
        let text = format!(
            "durability {durability:?}, replace {replace:?}, hard links {hard_links:?}"
        );
        CString::new(text.to_lowercase()).unwrap_or_default()
    }
}

impl OutputOptions {
    /// The settings of C for the library; the defaults for NULL.
    pub(crate) fn of(options: Option<&Self>) -> swath::OutputOptions {
        let Some(set) = options else { return swath::OutputOptions::new() };
        let Choices { durability, replace, hard_links } = set.choices;
        let mut output = set.options.clone().with_durability(durability.into());
        output = output.with_replace(replace.into()).with_hard_links(hard_links.into());
        if let Some(progress) = set.hooks.progress() {
            output = output.with_progress(progress);
        }
        match &set.hooks.cancel {
            Some(token) => output.with_cancel(token.clone()),
            None => output,
        }
    }

    fn choose(&mut self, choose: impl FnOnce(&mut Choices)) {
        choose(&mut self.choices);
        self.text = Some(self.choices.text());
    }
}

impl Holds for OutputOptions {
    type Held = swath::OutputOptions;

    fn held(&mut self) -> &mut Self::Held {
        &mut self.options
    }
}

/// Makes options with the defaults. Free them with `swath_output_options_free`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_output_options_new(
    options: Option<&mut MaybeUninit<Option<Box<OutputOptions>>>>,
) -> Status {
    made(options, "options")
}

/// Frees options; NULL is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn swath_output_options_free(options: Option<Box<OutputOptions>>) {
    quietly(|| drop(options));
}

/// Sets whether a commit waits for the device. Default: SWATH_DURABILITY_FULL.
#[unsafe(no_mangle)]
pub extern "C" fn swath_output_options_set_durability(
    options: Option<&mut OutputOptions>,
    durability: MaybeUninit<Durability>,
) -> Status {
    change(options, |options| {
        let durability = value(durability)?;
        options.choose(|choices| choices.durability = durability);
        Ok(())
    })
}

/// Sets what happens if the target exists. Default: SWATH_REPLACE_ALLOWED.
#[unsafe(no_mangle)]
pub extern "C" fn swath_output_options_set_replace(
    options: Option<&mut OutputOptions>,
    replace: MaybeUninit<Replace>,
) -> Status {
    change(options, |options| {
        let replace = value(replace)?;
        options.choose(|choices| choices.replace = replace);
        Ok(())
    })
}

/// Sets what happens if the target has other names. Default: SWATH_HARD_LINKS_REFUSED.
#[unsafe(no_mangle)]
pub extern "C" fn swath_output_options_set_hard_links(
    options: Option<&mut OutputOptions>,
    hard_links: MaybeUninit<HardLinks>,
) -> Status {
    change(options, |options| {
        let hard_links = value(hard_links)?;
        options.choose(|choices| choices.hard_links = hard_links);
        Ok(())
    })
}

/// Returns what these options choose for an output, as text: durability, and what happens to an
/// existing file and to its other names. For programs whose processes must have the same options; it
/// may gain further words. NULL gives the text of the defaults. Valid until options are set or freed.
#[unsafe(no_mangle)]
pub extern "C" fn swath_output_options_text(options: Option<&OutputOptions>) -> *const c_char {
    options.and_then(|options| options.text.as_deref()).unwrap_or(DEFAULTS).as_ptr()
}

/// Sets how many threads write, including the calling one; at most 1024. Only `swath_write` and
/// `swath_table_write` start threads; forks and tickets are written by the caller's threads. Default
/// 0: one, over a network or FUSE up to 4; for tables one per core.
#[unsafe(no_mangle)]
pub extern "C" fn swath_output_options_set_workers(
    options: Option<&mut OutputOptions>,
    workers: usize,
) -> Status {
    set(options, |options| Ok(options.with_workers(workers)))
}

/// Sets the function that receives the bytes written so far, and the pointer passed to it.
/// Default NULL: no function.
#[unsafe(no_mangle)]
pub extern "C" fn swath_output_options_set_progress(
    options: Option<&mut OutputOptions>,
    progress: ProgressFn,
    user_data: *mut c_void,
) -> Status {
    put(options, |options| options.hooks.set_progress(progress, user_data))
}

/// Sets the token that cancels calls with these options until their commit begins. Default NULL:
/// no token. The options keep what they need of it.
#[unsafe(no_mangle)]
pub extern "C" fn swath_output_options_set_cancel(
    options: Option<&mut OutputOptions>,
    token: Option<&CancelToken>,
) -> Status {
    put(options, |options| options.hooks.set_cancel(token))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_the_defaults_is_that_of_options_in_which_nothing_is_chosen() {
        assert_eq!(Choices::default().text().as_c_str(), DEFAULTS);
        let mut options = OutputOptions::default();
        options.choose(|choices| choices.hard_links = HardLinks::Broken);
        let text = options.text.expect("a choice was made");
        assert_eq!(text.to_str(), Ok("durability full, replace allowed, hard links broken"));
    }
}
