//! Spawned tasks, each with its own place in the serial order.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::resume_unwind;

use crate::append::pool;
use crate::append::sequence::{End, Sequence};
use crate::append::strand::Strand;
use crate::append::writer::{Writer, run};
use crate::failures::caught;

/// A writer that can also spawn tasks; see [`Writer::scope`].
pub struct Scope<'a, 's, 'scope, E> {
    writer: Writer<'a>,
    sequence: Sequence<E>,
    rayon: &'s rayon::Scope<'scope>,
}

impl<E> fmt::Debug for Scope<'_, '_, '_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Scope").field(&self.writer).finish()
    }
}

impl<'a, 'scope, E> Scope<'a, '_, 'scope, E>
where
    'a: 'scope,
    E: Send + 'scope,
{
    /// Spawns a task on the current rayon pool and returns at once. The task's bytes go after those
    /// written to this scope before, and before those written to it later.
    pub fn spawn<F>(&mut self, task: F)
    where
        F: FnOnce(&mut Writer<'a>) -> Result<(), E> + Send + 'scope,
    {
        let output = self.writer.output();
        let current = self.writer.take_strand();
        let forked = self.sequence.fork(output, current);
        self.writer.put_strand(forked.after);
        let (slot, branch) = (forked.slot, forked.branch);
        self.rayon.spawn(move |_| slot.fill(run(output, branch, task)));
    }
}

impl<'a, E> Deref for Scope<'a, '_, '_, E> {
    type Target = Writer<'a>;
    fn deref(&self) -> &Writer<'a> {
        &self.writer
    }
}

impl<'a, E> DerefMut for Scope<'a, '_, '_, E> {
    fn deref_mut(&mut self) -> &mut Writer<'a> {
        &mut self.writer
    }
}

impl<'a> Writer<'a> {
    /// Calls `body` with a scope that can spawn tasks, and waits for all of them.
    ///
    /// The file is that of the serial program, in which `spawn(task)` is `task(w)?`: if a task fails
    /// or panics, the file contains no later bytes.
    ///
    /// # Errors
    ///
    /// The first in serial order, of the tasks or of `body`.
    ///
    /// ```
    /// use std::io::Write;
    /// use swath::append::{self, AppendOptions};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("letters");
    /// let out = append::create(&path)?;
    /// out.scope(|w| {
    ///     w.scope(|s| {
    ///         for letter in ["a", "b", "c"] {
    ///             s.spawn(move |w| w.write_all(letter.as_bytes()));
    ///             s.write_all(b"-")?;
    ///         }
    ///         Ok::<(), std::io::Error>(())
    ///     })
    /// })?;
    /// out.commit()?;
    /// assert_eq!(std::fs::read(&path)?, b"a-b-c-");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn scope<'scope, F, R, E>(&mut self, body: F) -> Result<R, E>
    where
        F: for<'s> FnOnce(&mut Scope<'a, 's, 'scope, E>) -> Result<R, E> + Send,
        R: Send,
        E: Send + 'scope,
        'a: 'scope,
    {
        pool::enter();
        let output = self.output();
        let strand = self.take_strand();
        let (mut sequence, last, result) = rayon::scope(|rayon| {
            let writer = Writer::new(output, strand);
            let mut scope = Scope { writer, sequence: Sequence::new(), rayon };
            let result = caught(|| body(&mut scope));
            (scope.sequence, scope.writer.into_strand(), result)
        });
        let (strand, end) = sequence.close(output, last).unwrap_or_else(|error| {
            output.fail_untold(error);
            (Strand::stand_in(output), End::Well)
        });
        self.put_strand(strand);
        match end {
            End::Failed(error) => Err(error),
            End::Panicked(panic) => resume_unwind(panic),
            // Every task fills its slot, so none is dropped.
            End::Well | End::Dropped => result.unwrap_or_else(|panic| resume_unwind(panic)),
        }
    }
}
