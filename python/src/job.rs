//! Jobs of many processes: plans, and operations on the folder of a job.
//!
//! ```text
//! Plan     this file     part, commit, abort, remove
//! Part     part.rs       sent to a worker
//! division division.rs   where inputs are divided, in Python
//! Done     done.rs       the receipt from a worker
//! writer   writer.rs     one attempt of a part
//! report   report.rs     reports on folders and commits
//! ```

pub(crate) mod division;
pub(crate) mod done;
pub(crate) mod part;
pub(crate) mod report;
pub(crate) mod writer;

use std::path::PathBuf;
use std::time::Duration;

use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDelta;
use swath::job::{self, Form, JobOptions};
use swath::machine::counted;
use swath::sink::HardLinks;

use crate::error::{Failure, file_name};
use crate::how::Watch;
use crate::ingest::Named;
use crate::input::path;
use crate::output::Leave;
use crate::park;
use crate::words::word;
use crate::work::{Takes, detached};
use division::Divided;
use done::Done;
use part::JobPart;
use report::{Committed, Status, Swept};

/// The plan that every process of a job follows: its inputs, its parts, and where the output goes.
/// Made by ``swath.job.plan`` and ``swath.job.open``.
///
/// A copy in another process is the same job: it pickles, and ``to_json`` gives text. Dropping it changes
/// nothing on the disk. ``len(plan)`` is the number of parts.
///
/// >>> plan = swath.job.plan("words.txt", "out.txt", parts=2)
/// >>> len(plan), plan.form
/// (2, 'file')
/// >>> plan.abort()
#[pyclass(frozen, module = "swath.job", name = "Plan")]
pub(crate) struct Plan {
    plan: job::Plan,
    hard_links: HardLinks,
}

#[pymethods]
impl Plan {
    /// The number that no other job has: 16 hexadecimal digits.
    #[getter]
    fn id(&self) -> &str {
        self.plan.id()
    }

    /// The folder for what parts write. All processes must see it under this path.
    #[getter]
    fn folder<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        file_name(py, self.plan.folder().as_os_str())
    }

    /// Where the output goes.
    #[getter]
    fn target<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        file_name(py, self.plan.target().as_os_str())
    }

    /// The form of the output: "file" or "segments".
    #[getter]
    fn form(&self) -> &'static str {
        self.plan.form().word()
    }

    /// Where the inputs were divided, and so what a part has: a word of ``swath.job.plan``, or the bytes of
    /// a record.
    ///
    /// >>> plan = swath.job.plan("data.bin", "out.bin", division=1000)
    /// >>> plan.division, plan.part(0).division
    /// (1000, 1000)
    /// >>> plan.abort()
    #[getter]
    fn division(&self) -> Divided {
        Divided(self.plan.division())
    }

    /// All parts, in the order of the output.
    #[getter]
    fn parts(&self) -> Vec<JobPart> {
        self.plan.parts().map(JobPart).collect()
    }

    /// Returns part ``index``, from 0.
    ///
    /// >>> plan = swath.job.plan("words.txt", "out.txt", parts=2)
    /// >>> plan.part(1).pieces[0].offset
    /// 12
    /// >>> plan.abort()
    fn part(&self, index: usize) -> PyResult<JobPart> {
        self.plan.part(index).map(JobPart).ok_or_else(|| {
            let count = counted(self.plan.parts().len() as u64, "part");
            PyIndexError::new_err(format!(
                "part {index}: the job has {count}; try: pass an index from 0, below this number"
            ))
        })
    }

    fn __len__(&self) -> usize {
        self.plan.parts().len()
    }

    /// Raises ``swath.ChangedError`` if an input has changed since the job was planned. ``commit`` does
    /// this too.
    ///
    /// >>> plan = swath.job.plan("words.txt", "out.txt")
    /// >>> plan.check_inputs()
    /// >>> plan.abort()
    fn check_inputs(&self, py: Python<'_>) -> PyResult<()> {
        detached(py, || self.plan.check_inputs())
    }

    /// Returns the receipts of all finished attempts in the folder, the newest first for each part: for a
    /// client that has lost its own.
    ///
    /// >>> plan = swath.job.plan("words.txt", "out.txt", parts=2)
    /// >>> with plan.part(1).writer() as out:
    /// ...     _ = out.write(b"second")
    /// >>> [(done.part, done.length) for done in plan.done()]
    /// [(1, 6)]
    /// >>> plan.abort()
    fn done(&self, py: Python<'_>) -> PyResult<Vec<Done>> {
        let done = detached(py, || self.plan.done())?;
        Ok(done.into_iter().map(Done).collect())
    }

    /// Looks into the folder: how far the job is.
    ///
    /// >>> plan = swath.job.plan("words.txt", "out.txt", parts=3)
    /// >>> plan.status().missing
    /// [(0, 3)]
    /// >>> plan.abort()
    fn status(&self, py: Python<'_>) -> PyResult<Status> {
        let status = detached(py, || self.plan.status())?;
        Status::new(py, status)
    }

    /// Makes the output of the parts, in order, and makes it visible in one step.
    ///
    /// ``done`` are the receipts that the parts' attempts returned, in any order; those of ``done()`` are
    /// enough. If a part has several, the first counts. After a failure or a kill call it again, from
    /// another process if you like. Attempts that ended after a commit that failed count in the next one.
    /// After a commit that was killed they count unless the target has the bytes that it chose already: then
    /// those stay. Nothing is removed before the output is durable; ``remove`` then removes the folder.
    ///
    /// Parameters
    /// ----------
    /// done : iterable of Done
    /// workers : int
    ///     Threads; 0 chooses.
    /// progress : bool or callable
    ///     As for `write_csv`.
    ///
    /// Raises
    /// ------
    /// swath.InvalidError
    ///     If a part is missing, with its index.
    /// swath.ChangedError
    ///     If an input has changed since the job was planned; if the job is committed, and its output is
    ///     gone or has another length.
    /// swath.CorruptError
    ///     If a segment does not have the bytes of its receipt: do that part again.
    ///
    /// Examples
    /// --------
    /// >>> plan = swath.job.plan([], "out.txt", parts=2)
    /// >>> done = []
    /// >>> for part in plan.parts:
    /// ...     with part.writer() as out:
    /// ...         _ = out.write(b"part %d\n" % part.index)
    /// ...     done.append(out.done)
    /// >>> plan.commit(done).bytes
    /// 14
    /// >>> plan.remove()
    /// >>> bytes(swath.read("out.txt"))
    /// b'part 0\npart 1\n'
    #[pyo3(signature = (done, *, workers=0, progress=None))]
    fn commit(
        &self,
        py: Python<'_>,
        done: &Bound<'_, PyAny>,
        workers: usize,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Committed> {
        let done = receipts(done)?;
        let watch = Watch::new(py, progress)?;
        let leave =
            Leave { durability: "full", replace: true.into(), hard_links: "refuse", workers };
        let mut output = leave.options()?.with_hard_links(self.hard_links);
        output = output.with_cancel(watch.token.clone());
        if let Some(tell) = watch.teller(py) {
            output = output.with_progress(tell);
        }
        let plan = self.plan.clone().with_output(output);
        let committed = watch.run(py, Takes::Time, move || plan.commit(&done))?;
        Ok(Committed::new(&committed))
    }

    /// Gives the job up: removes its folder and everything that parts wrote. The target stays as it was.
    /// Attempts that are still running end with an error.
    ///
    /// >>> swath.job.plan("words.txt", "out.txt").abort()
    fn abort(&self, py: Python<'_>) -> PyResult<()> {
        detached(py, || self.plan.abort())
    }

    /// Removes the folder of a job that is committed; a folder of segments is the output, and stays.
    ///
    /// >>> plan = swath.job.plan([], "out.txt")
    /// >>> with plan.part(0).writer() as out:
    /// ...     _ = out.write(b"all")
    /// >>> _ = plan.commit([out.done])
    /// >>> plan.remove()
    fn remove(&self, py: Python<'_>) -> PyResult<()> {
        detached(py, || self.plan.remove())
    }

    /// Returns the plan as one line of text.
    ///
    /// >>> plan = swath.job.plan("words.txt", "out.txt")
    /// >>> swath.job.Plan.from_json(plan.to_json()).id == plan.id
    /// True
    /// >>> plan.abort()
    fn to_json(&self, py: Python<'_>) -> String {
        py.detach(|| self.plan.to_json())
    }

    /// Reads the text that ``to_json`` gives. ``hard_links`` is as for ``swath.job.plan``.
    ///
    /// >>> plan = swath.job.plan("words.txt", "out.txt")
    /// >>> len(swath.job.Plan.from_json(plan.to_json()))
    /// 1
    /// >>> plan.abort()
    #[staticmethod]
    #[pyo3(signature = (text, *, hard_links="refuse"))]
    fn from_json(py: Python<'_>, text: &str, hard_links: &str) -> PyResult<Self> {
        restore_plan(py, text, hard_links)
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (String, &'static str))> {
        let restore = park::module(py, "swath._swath")?.getattr("restore_plan")?;
        Ok((restore, (self.to_json(py), self.hard_links.word())))
    }

    fn __repr__(&self) -> String {
        let count = counted(self.plan.parts().len() as u64, "part");
        format!("<Plan {}: {count} for {}>", self.plan.id(), self.plan.target().display())
    }
}

/// Restores a pickled plan.
#[pyfunction]
pub(crate) fn restore_plan(py: Python<'_>, text: &str, hard_links: &str) -> PyResult<Plan> {
    let hard_links = word("hard_links", hard_links, HardLinks::WORDS)?;
    let plan = detached(py, || job::Plan::from_json(text))?;
    Ok(Plan { plan, hard_links })
}

fn receipts(done: &Bound<'_, PyAny>) -> PyResult<Vec<job::Done>> {
    if done.is_instance_of::<Done>() {
        return Err(PyTypeError::new_err(
            "one receipt, where those of all parts are needed; try: pass a list",
        ));
    }
    let one = |it: PyResult<Bound<'_, PyAny>>| {
        let it = it?;
        match it.cast::<Done>() {
            Ok(done) => Ok(done.get().0.clone()),
            Err(_) => Err(PyTypeError::new_err(format!(
                "{} is not a receipt; try: pass what the writers of the parts returned",
                it.repr()?
            ))),
        }
    };
    park::at_end();
    done.try_iter()?.map(one).collect()
}

/// Implements ``swath.job.plan``.
#[pyfunction]
#[pyo3(signature = (inputs, target, *, parts, part_size, division, form, folder, durability, replace,
    hard_links))]
#[expect(clippy::too_many_arguments, reason = "keywords are how Python says it")]
pub(crate) fn plan_job(
    py: Python<'_>,
    inputs: Named,
    #[pyo3(from_py_with = path)] target: PathBuf,
    parts: usize,
    part_size: u64,
    division: Divided,
    form: &str,
    folder: Option<Bound<'_, PyAny>>,
    durability: &str,
    replace: bool,
    hard_links: &str,
) -> PyResult<Plan> {
    let output =
        Leave { durability, replace: replace.into(), hard_links, workers: 0 }.options()?;
    let mut options = JobOptions::new()
        .with_parts(parts)
        .with_part_size(part_size)
        .with_division(division.0)
        .with_form(word("form", form, Form::WORDS)?)
        .with_output(output);
    if let Some(folder) = folder {
        options = options.with_folder(path(&folder)?);
    }
    let hard_links = word("hard_links", hard_links, HardLinks::WORDS)?;
    let plan = detached(py, || options.plan(inputs.paths(), target))?;
    Ok(Plan { plan, hard_links })
}

/// Implements ``swath.job.divide``.
#[pyfunction]
#[pyo3(signature = (inputs, *, parts, part_size, division))]
pub(crate) fn divide_inputs(
    py: Python<'_>,
    inputs: Named,
    parts: usize,
    part_size: u64,
    division: Divided,
) -> PyResult<Vec<JobPart>> {
    let options =
        JobOptions::new().with_parts(parts).with_part_size(part_size).with_division(division.0);
    let parts = detached(py, || options.divide(inputs.paths()))?;
    Ok(parts.into_iter().map(JobPart).collect())
}

/// Implements ``swath.job.open``.
#[pyfunction]
pub(crate) fn open_job(
    py: Python<'_>,
    #[pyo3(from_py_with = path)] folder: PathBuf,
    hard_links: &str,
) -> PyResult<Plan> {
    let hard_links = word("hard_links", hard_links, HardLinks::WORDS)?;
    Ok(Plan { plan: detached(py, || job::open(folder))?, hard_links })
}

/// Implements ``swath.job.sweep``.
#[pyfunction]
pub(crate) fn sweep_jobs(
    py: Python<'_>,
    #[pyo3(from_py_with = path)] folder: PathBuf,
    older_than: &Bound<'_, PyAny>,
) -> PyResult<Vec<Swept>> {
    let age = age(older_than)?;
    let swept = detached(py, || job::sweep(folder, age))?;
    let removed = swept.removed.iter().map(|it| Swept::new(py, it));
    let removed = removed.collect::<PyResult<Vec<_>>>()?;
    let Some(error) = swept.failed.into_iter().next() else { return Ok(removed) };
    let error = Failure::from(error).into_exception(py);
    for it in &swept.removed {
        let note = format!("{} was removed", it.folder.display());
        error.value(py).call_method1("add_note", (note,))?;
    }
    Err(error)
}

/// Returns an age, given in seconds or as a `timedelta`.
fn age(given: &Bound<'_, PyAny>) -> PyResult<Duration> {
    let seconds = match given.cast::<PyDelta>() {
        Ok(delta) => delta.call_method0("total_seconds")?.extract()?,
        Err(_) => given.extract::<f64>()?,
    };
    Duration::try_from_secs_f64(seconds).map_err(|error| {
        PyValueError::new_err(format!(
            "older_than={seconds}: {error}; try: pass seconds from 0"
        ))
    })
}
