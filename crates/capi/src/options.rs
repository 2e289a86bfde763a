//! The options of every call: one opaque object, whose options are set by their words.
//!
//! ```text
//! swath_options_new(verb) ─► CallOptions ◄── swath_options_set(word, text)
//!                                 │            rows: the settings of each verb's words; tables have their own
//!              a call ◄── read, records, output, …
//! ```

pub mod choices;
pub mod hooks;
pub(crate) mod read;
mod records;
mod rows;
pub mod set;
mod word;

use std::collections::BTreeMap;
use std::ffi::{CString, c_char};
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use swath::{append, ingest, job};
use swath_formats::table::{BatchOptions, BatchWriteOptions};

use crate::failure::{Failure, Result};
use crate::guard::{guard, quietly};
use crate::number::{Number, known, numbers};
use crate::pointer::{self, handle, value};
use crate::status::Status;

pub use choices::{Engine, PageCache};
pub use hooks::ProgressFn;
pub(crate) use read::{Maps, ReadOptions, resolve, resolve_several, told};
use records::RecordOptions;
use word::WordEntry;

/// As a total of progress: unknown.
pub const SWATH_TO_END: u64 = 0xFFFF_FFFF_FFFF_FFFF;

/// The kind of call that options are for.
#[repr(u32)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum CallVerb {
    /// `swath_read`, `swath_read_into`, `swath_read_prioritised`, `swath_scan`, `swath_sum`,
    /// `swath_count`, `swath_hash`.
    #[default]
    Read = 0,
    /// `swath_records`; it also takes options of SWATH_VERB_READ.
    Records = 1,
    /// `swath_table_read` and `swath_table_stream`; they also take options of SWATH_VERB_READ.
    TableRead = 2,
    /// `swath_ingest` and `swath_ingest_each`; they take their own words, and none of
    /// SWATH_VERB_READ.
    Ingest = 3,
    /// `swath_write`, `swath_draft_create`, `swath_draft_open`, `swath_job_open`.
    Write = 4,
    /// `swath_table_write`; it also takes options of SWATH_VERB_WRITE, as do the verbs that follow.
    TableWrite = 5,
    /// `swath_append_create` and `swath_append_to_existing`.
    Append = 6,
    /// `swath_ordered_create`.
    Ordered = 7,
    /// `swath_job_plan`.
    Job = 8,
}
numbers!(
    CallVerb,
    "swath_verb",
    [Read, Records, TableRead, Ingest, Write, TableWrite, Append, Ordered, Job]
);

impl CallVerb {
    /// Returns its name in C.
    fn name(self) -> &'static str {
        match self {
            Self::Read => "SWATH_VERB_READ",
            Self::Records => "SWATH_VERB_RECORDS",
            Self::TableRead => "SWATH_VERB_TABLE_READ",
            Self::Ingest => "SWATH_VERB_INGEST",
            Self::Write => "SWATH_VERB_WRITE",
            Self::TableWrite => "SWATH_VERB_TABLE_WRITE",
            Self::Append => "SWATH_VERB_APPEND",
            Self::Ordered => "SWATH_VERB_ORDERED",
            Self::Job => "SWATH_VERB_JOB",
        }
    }

    /// Returns the verb whose options this one takes besides its own.
    fn base(self) -> Self {
        match self {
            Self::Read | Self::Records | Self::TableRead => Self::Read,
            Self::Ingest => Self::Ingest,
            _ => Self::Write,
        }
    }
}

/// The options of calls. One thread at a time may set options, and no thread while a call uses
/// them; any number of calls may use them at once, and each uses the values set when it begins.
/// NULL means defaults in every call.
#[derive(Clone, Debug, Default)]
pub struct CallOptions {
    verb: CallVerb,
    /// The text of each option of the call, not of one column.
    texts: BTreeMap<&'static str, CString>,
    read: ReadOptions,
    records: RecordOptions,
    table: BatchOptions,
    has_form: bool,
    ingest: ingest::IngestOptions,
    output: swath::OutputOptions,
    table_write: BatchWriteOptions,
    append: append::AppendOptions,
    ordered: append::OrderedOptions,
    job: job::JobOptions,
    job_folder: Option<PathBuf>,
}

impl CallOptions {
    fn new(verb: CallVerb) -> Self {
        let text = |it: &WordEntry| (it.word, CString::new(&*it.default).unwrap_or_default());
        let texts = word::all(verb).iter().map(text).collect();
        Self { verb, texts, ..Self::default() }
    }

    /// Returns the options of a call; an error if they are for calls of another kind.
    pub(crate) fn of(options: Option<&Self>, verb: CallVerb) -> Result<Option<&Self>> {
        match options {
            Some(it) if it.verb != verb && it.verb != verb.base() => {
                let (of, for_call) = (it.verb.name(), verb.name());
                Err(Failure::invalid(format!(
                    "`options` are of {of}, and this call has those of {for_call}; try: make them with \
                     swath_options_new({for_call}, ...), or pass NULL"
                )))
            }
            options => Ok(options),
        }
    }

    /// Returns how to read.
    pub(crate) fn reading(
        options: Option<&Self>,
        verb: CallVerb,
    ) -> Result<Option<&ReadOptions>> {
        Ok(Self::of(options, verb)?.map(|set| &set.read))
    }

    /// Returns where records end.
    pub(crate) fn records(options: Option<&Self>) -> Result<RecordOptions> {
        Ok(Self::of(options, CallVerb::Records)?.map(|set| set.records).unwrap_or_default())
    }

    /// Returns how a table is written in its text, and whether its form is set.
    pub(crate) fn table(options: Option<&Self>) -> Result<(BatchOptions, bool)> {
        let set = Self::of(options, CallVerb::TableRead)?;
        Ok(set.map(|set| (set.table.clone(), set.has_form)).unwrap_or_default())
    }

    /// Returns how to read many files.
    pub(crate) fn ingest(
        options: Option<&Self>,
        first: Option<&Path>,
    ) -> Result<ingest::IngestOptions> {
        let set = Self::of(options, CallVerb::Ingest)?;
        Ok(set.map_or_else(ingest::IngestOptions::new, |set| {
            set.ingest.clone().with_read(set.read.of_first(first))
        }))
    }

    /// Returns how to write.
    pub(crate) fn output(
        options: Option<&Self>,
        verb: CallVerb,
    ) -> Result<swath::OutputOptions> {
        let Some(set) = Self::of(options, verb)? else {
            return Ok(swath::OutputOptions::new());
        };
        let mut output = set.output.clone();
        if let Some(progress) = set.read.hooks.progress() {
            output = output.with_progress(progress);
        }
        Ok(match &set.read.hooks.cancel {
            Some(token) => output.with_cancel(token.clone()),
            None => output,
        })
    }

    /// Returns the options of a verb that writes, which `own` picks and `with_output` completes.
    pub(crate) fn writing<O: Clone + Default>(
        options: Option<&Self>,
        verb: CallVerb,
        own: fn(&Self) -> &O,
        with_output: fn(O, swath::OutputOptions) -> O,
    ) -> Result<O> {
        let output = Self::output(options, verb)?;
        Ok(with_output(options.map(own).cloned().unwrap_or_default(), output))
    }

    /// Returns how to append.
    pub(crate) fn append(options: Option<&Self>) -> Result<append::AppendOptions> {
        let with_output = append::AppendOptions::with_output;
        Self::writing(options, CallVerb::Append, |set| &set.append, with_output)
    }

    /// Returns how to write in the order of tickets.
    pub(crate) fn ordered(options: Option<&Self>) -> Result<append::OrderedOptions> {
        let with_output = append::OrderedOptions::with_output;
        Self::writing(options, CallVerb::Ordered, |set| &set.ordered, with_output)
    }

    /// Returns how to plan a job.
    pub(crate) fn job(options: Option<&Self>) -> Result<job::JobOptions> {
        let with_output = job::JobOptions::with_output;
        let job = Self::writing(options, CallVerb::Job, |set| &set.job, with_output)?;
        Ok(match options.and_then(|set| set.job_folder.as_ref()) {
            Some(folder) => job.with_folder(folder),
            None => job,
        })
    }

    /// Returns how to write a table.
    pub(crate) fn table_write(options: Option<&Self>) -> Result<BatchWriteOptions> {
        let with_output = BatchWriteOptions::with_output;
        Self::writing(options, CallVerb::TableWrite, |set| &set.table_write, with_output)
    }
}

/// Makes options with the defaults, for calls of one kind. Free them with `swath_options_free`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_options_new(
    verb: MaybeUninit<CallVerb>,
    options: Option<&mut MaybeUninit<Option<Box<CallOptions>>>>,
) -> Status {
    guard(|| {
        let place = handle(options, "options")?;
        *place = Some(Box::new(CallOptions::new(value(verb)?)));
        Ok(())
    })
}

/// Makes options for calls of one kind, with all values set in `from`, which may be of this kind or
/// of one whose options these calls take too. NULL means the defaults. Free them with
/// `swath_options_free`.
///
/// SWATH_STATUS_INVALID_ARGUMENT if `from` cannot serve these calls.
#[unsafe(no_mangle)]
pub extern "C" fn swath_options_copy(
    from: Option<&CallOptions>,
    verb: MaybeUninit<CallVerb>,
    copy: Option<&mut MaybeUninit<Option<Box<CallOptions>>>>,
) -> Status {
    guard(|| {
        let place = handle(copy, "copy")?;
        let mut copy = CallOptions::new(value(verb)?);
        if let Some(from) = CallOptions::of(from, copy.verb)? {
            let (verb, mut texts) = (copy.verb, copy.texts);
            texts.extend(from.texts.clone());
            copy = CallOptions { verb, texts, ..from.clone() };
        }
        *place = Some(Box::new(copy));
        Ok(())
    })
}

/// Frees options; NULL is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn swath_options_free(options: Option<Box<CallOptions>>) {
    quietly(|| drop(options));
}

/// Returns the options of one kind of call, a line for each, with tabs between the word; "call",
/// "column" or "both"; the values that it takes; its default; and its effect. NULL for a verb that
/// does not exist; valid for the life of the program.
#[unsafe(no_mangle)]
pub extern "C" fn swath_options_words(verb: MaybeUninit<CallVerb>) -> *const c_char {
    static TEXTS: OnceLock<Vec<CString>> = OnceLock::new();
    let texts =
        TEXTS.get_or_init(|| CallVerb::ALL.iter().map(|&verb| word::text(verb)).collect());
    let text = known(verb).ok().and_then(|verb| texts.get(verb as usize));
    text.map_or(std::ptr::null(), |text| text.as_ptr())
}

/// Returns the text of an option of the call, set or by default; texts of a list with newlines
/// between them. NULL if these options have no such word. Valid until options are set or freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn swath_options_get(
    options: Option<&CallOptions>,
    word: *const c_char,
) -> *const c_char {
    // SAFETY: the contract of the header.
    let word = unsafe { pointer::utf8(word, "word") };
    let text = options.zip(word.ok()).and_then(|(set, word)| set.texts.get(word));
    text.map_or(std::ptr::null(), |text| text.as_ptr())
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use swath::mirror::Verify;

    use super::*;

    fn put(options: &mut CallOptions, word: &CStr, text: Option<&CStr>) -> Result<()> {
        let value = text.map_or(std::ptr::null(), CStr::as_ptr);
        // SAFETY: strings that end with NUL, or NULL.
        unsafe { set::put_one(Some(options), Ok(None), word.as_ptr(), value) }
    }

    fn get<'o>(options: &'o CallOptions, word: &CStr) -> Option<&'o CStr> {
        // SAFETY: a string that ends with NUL.
        let text = unsafe { swath_options_get(Some(options), word.as_ptr()) };
        // SAFETY: a string of the options, or NULL.
        (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })
    }

    #[test]
    fn every_option_of_every_verb_takes_its_default_and_returns_to_it() {
        for &verb in CallVerb::ALL {
            let mut options = CallOptions::new(verb);
            for entry in word::all(verb) {
                if entry.scope == "column" {
                    continue;
                }
                let word = CString::new(entry.word).expect("no NUL");
                put(&mut options, &word, None).expect(entry.word);
                assert_eq!(get(&options, &word).expect("a text").to_str(), Ok(&*entry.default));
                let refused = put(&mut options, &word, Some(c"\x01 no such value"));
                let takes_any = ["text", "name", "path", "bytes that"]
                    .iter()
                    .any(|it| entry.takes.contains(it));
                assert!(
                    refused.is_err() || takes_any,
                    "{verb:?}: {}: {}",
                    entry.word,
                    entry.takes
                );
            }
            let Err(error) = put(&mut options, c"no_such_word", None) else {
                panic!("{verb:?}")
            };
            let error = error.to_string();
            assert!(error.contains("try: pass one of"), "{error}");
        }
    }

    #[test]
    fn no_verb_has_a_word_twice() {
        for &verb in CallVerb::ALL {
            let mut words: Vec<_> = word::all(verb).iter().map(|it| it.word).collect();
            let count = words.len();
            words.sort_unstable();
            words.dedup();
            assert_eq!(words.len(), count, "{verb:?}");
        }
    }

    #[test]
    fn options_serve_their_verb_and_those_that_have_all_of_theirs() {
        let serves =
            |of: CallVerb, verb| CallOptions::of(Some(&CallOptions::new(of)), verb).is_ok();
        for &of in CallVerb::ALL {
            for &verb in CallVerb::ALL {
                assert_eq!(
                    serves(of, verb),
                    of == verb || of == verb.base(),
                    "{of:?} {verb:?}"
                );
            }
        }
    }

    #[test]
    fn a_word_that_replaces_another_leaves_it_at_its_default_and_undoes_only_itself() {
        let mut read = CallOptions::new(CallVerb::Read);
        put(&mut read, c"verification", Some(c"vote")).expect("a word");
        put(&mut read, c"manifest", None).expect("a word");
        assert!(matches!(read.read.verify, Verify::Vote));

        let division = |job: &CallOptions| format!("{:?}", CallOptions::job(Some(job)));
        let plain = |word: &CStr, text: &CStr| {
            let mut job = CallOptions::new(CallVerb::Job);
            put(&mut job, word, Some(text)).expect("a word");
            division(&job)
        };
        let (lines, eight) = (plain(c"division", c"lines"), plain(c"width", c"8"));
        assert_ne!(lines, eight);
        let mut job = CallOptions::new(CallVerb::Job);
        for none in [None, Some(c"none")] {
            put(&mut job, c"division", Some(c"lines")).expect("a word");
            put(&mut job, c"width", none).expect("a word");
            assert_eq!(division(&job), lines);
            put(&mut job, c"width", Some(c"8")).expect("a word");
            assert_eq!(division(&job), eight);
            assert_eq!(get(&job, c"division"), Some(c"records"));
            put(&mut job, c"width", none).expect("a word");
            assert_eq!(division(&job), plain(c"division", c"records"));
            put(&mut job, c"width", Some(c"8")).expect("a word");
            put(&mut job, c"division", Some(c"lines")).expect("a word");
            assert_eq!(get(&job, c"width"), Some(c"none"));
        }
    }

    #[test]
    fn what_was_set_is_what_calls_use_and_a_failure_changes_nothing() {
        let mut options = CallOptions::new(CallVerb::Write);
        put(&mut options, c"durability", Some(c"none")).expect("a word");
        assert!(put(&mut options, c"durability", Some(c"some")).is_err());
        assert_eq!(get(&options, c"durability"), Some(c"none"));
        let output =
            CallOptions::output(Some(&options), CallVerb::Append).expect("of its base");
        let wanted = swath::OutputOptions::new().with_durability(swath::sink::Durability::None);
        assert_eq!(format!("{output:?}"), format!("{wanted:?}"));
    }
}
