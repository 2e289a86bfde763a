//! The files that a command reads or writes, as its words name them.

use std::path::{Path, PathBuf};

use super::copies::{Against, CopiesArgs};
use super::output::OutputArgs;
use super::timeline::TimelineArgs;
use crate::door::above;
use crate::input::Input;
use crate::same_file::is_same_file;

/// Collects names of files, and the timeline that must differ from all of them. Standard input and output
/// have no names.
#[derive(Debug)]
pub(crate) struct Files<'f> {
    pub(crate) timeline: &'f TimelineArgs,
    paths: Vec<&'f Path>,
    folder: Option<&'f Path>,
}

impl<'f> Files<'f> {
    /// Returns an empty collection.
    pub(crate) fn beside(timeline: &'f TimelineArgs) -> Self {
        Self { timeline, paths: Vec::new(), folder: None }
    }

    /// Returns a collection with the output of a command, given as a flag or a word.
    pub(crate) fn of_output(args: &'f OutputArgs, word: &'f Option<Input>) -> Self {
        Self::beside(&args.timeline).inputs(args.flag.or(word))
    }

    /// Adds a file.
    pub(crate) fn path(self, path: &'f Path) -> Self {
        self.all([path])
    }

    /// Sets a folder all of whose files belong to the command.
    pub(crate) fn folder(self, path: &'f Path) -> Self {
        Self { folder: Some(path), ..self }
    }

    /// Adds files.
    pub(crate) fn paths(self, paths: impl IntoIterator<Item = &'f PathBuf>) -> Self {
        self.all(paths.into_iter().map(PathBuf::as_path))
    }

    /// Adds an input.
    pub(crate) fn input(self, input: &'f Input) -> Self {
        self.all(input.path())
    }

    /// Adds inputs.
    pub(crate) fn inputs(self, inputs: impl IntoIterator<Item = &'f Input>) -> Self {
        self.all(inputs.into_iter().filter_map(Input::path))
    }

    /// Adds the copies of a file, and their manifest.
    pub(crate) fn copies(self, copies: &'f CopiesArgs) -> Self {
        self.inputs(&copies.mirrors).against(copies.verify_against.as_ref())
    }

    /// Adds a manifest.
    pub(crate) fn against(self, against: Option<&'f Against>) -> Self {
        match against {
            Some(Against::Manifest(path)) => self.path(path),
            _ => self,
        }
    }

    /// Returns the file that a file at `path` would replace, or the folder that it would be in.
    pub(crate) fn in_the_way_of(&self, path: &Path) -> Option<&'f Path> {
        let is_in = |folder: &&Path| match (folder.canonicalize(), above(path).canonicalize()) {
            (Ok(folder), Ok(above)) => above.starts_with(folder),
            _ => false,
        };
        let file = self.paths.iter().copied().find(|other| is_same_file(other, path));
        file.or_else(|| self.folder.filter(is_in))
    }

    /// Returns all files.
    #[cfg(test)]
    pub(crate) fn into_inner(self) -> Vec<&'f Path> {
        self.paths
    }

    fn all(mut self, paths: impl IntoIterator<Item = &'f Path>) -> Self {
        self.paths.extend(paths);
        self
    }
}
