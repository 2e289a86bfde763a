//! The beginning of a read by classes: open, arrange, choose, allocate, start the workers.

use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use swath_os::machine;
use swath_os::memory::{Leases, Pages};
use swath_plan::classes::{Arranged, Chunks, ClassSetup, Classes, Item, Shape, by_position};
use swath_plan::crew::Bounds;
use swath_plan::extent::Extent;
use swath_plan::fallback::Fallback;
use swath_plan::policy::{self, Engine, Facts, READ_SIZE};
use swath_plan::schedule::Way;

use crate::engine::crew::Watch;
use crate::engine::running::Running;
use crate::engine::{self, DropBehind};
use crate::error::{Error, Operation, Reason, Result};
use crate::locks::Mutex;
use crate::observe::Observer;
use crate::options::ReadOptions;
use crate::planned::{Planned, WINDOWS, facts, pages, place};
use crate::prioritised::plan::ClassPlan;
use crate::prioritised::reading::work;
use crate::prioritised::shared::{ByClass, PlanInput, SharedReading};
use crate::prioritised::views::PlanLayout;
use crate::report::Report;
use crate::source::{OpenSource, Source, SourceLength};
use crate::threads;

/// Approximate bytes of memory for a chunk in lists.
const CHUNK_COST: u64 = 160;
/// Bytes of lists below which the available memory is not checked.
const MANY_CHUNKS: u64 = 64 << 20;

/// A read by classes that was started.
pub(super) struct Started {
    pub(super) shared: Arc<SharedReading>,
    pub(super) threads: Vec<JoinHandle<()>>,
    pub(super) report: Report,
}

/// The decisions for all files together.
struct Chosen {
    ways: Vec<Way>,
    drop_behind: Vec<Option<DropBehind>>,
    slots: usize,
    /// The crew of the only file, if only some workers are started.
    crew: Option<Bounds>,
    /// All bytes are in the page cache: more reads than processors would wait for each other.
    resident: bool,
    chunk_size: NonZeroU64,
    report: Report,
}

pub(super) fn start(
    options: &ReadOptions,
    sources: Vec<Source>,
    mut plan: ClassPlan,
    started: Instant,
) -> Result<Started> {
    let opened = open(options, sources, &plan)?;
    if let Some((chunks, classes)) = plan.whole {
        cut_whole(options, &opened, chunks, classes, &mut plan.items)?;
    }
    let extents = extents(&opened, &plan.items)?;
    let mut chosen = choose(options, &opened, &extents);
    let most = if chosen.resident { machine::usable_cpus() } else { usize::MAX };
    let shape = Shape { window: plan.window, slots: chosen.slots.min(most) };
    let arranged = Arc::new(Arranged::new(&plan.items, shape));
    let bytes: u64 = arranged.spans().iter().map(|span| span.extent.len()).sum();
    let observer = Observer::new(options.hooks.clone(), Some(bytes));
    if let Some((source, extent)) = opened.iter().zip(&extents).next() {
        observer.check(source.name(), *extent)?;
    }
    let memory = Leases::of_pages(memory(options, &opened, &arranged)?);
    chosen.report.fallbacks.extend(place(&memory, chosen.slots as u64, options));
    let mut ways = chosen.ways;
    ways.resize(arranged.files().max(ways.len()), Way::Buffered);
    let classes = Classes::new(ClassSetup {
        arranged: Arc::clone(&arranged),
        ways,
        retries: engine::RETRIES,
        pause: engine::pause(),
        rate_bytes_per_s: options.rate_bytes_per_s,
    });
    let on_chunk =
        plan.on_chunk.map(|called| (called, Mutex::new(Chunks::new(&plan.items, &arranged))));
    let workers = chosen.slots.min(arranged.pieces().len());
    let crew = chosen.crew.map(|bounds| Bounds { most: bounds.most.min(workers), ..bounds });
    let crew = crew.filter(|bounds| bounds.most > bounds.first);
    let workers = crew.map_or(workers, |bounds| bounds.first);
    for source in &opened {
        if let SourceLength::Sized(len) = source.kind() {
            source.expect(Extent::between(0, len), workers as u64);
        }
    }
    let running = Running::new(
        ByClass::new(classes, &arranged, plan.on_class.is_some()),
        opened.first().cloned(),
        extents.first().copied().unwrap_or_default(),
        observer,
        crew.map(Watch::new),
        options.io_priority,
    );
    let inputs = opened.into_iter().zip(chosen.drop_behind);
    let inputs = inputs.map(|(source, drop_behind)| PlanInput { source, drop_behind });
    let shared = Arc::new(SharedReading {
        inputs: inputs.collect(),
        memory,
        chunk_size: chosen.chunk_size,
        growth: options.growth,
        on_class: plan.on_class,
        on_chunk,
        layout: PlanLayout::new(plan.items, arranged),
        running: running.since(started),
        workers: Mutex::default(),
    });
    let threads = spawn(&shared, workers);
    let report = Report { workers, queue_depth: workers as u64, ..chosen.report };
    Ok(Started { shared, threads, report })
}

/// Opens all files and refuses those that cannot be read this way.
fn open(
    options: &ReadOptions,
    sources: Vec<Source>,
    plan: &ClassPlan,
) -> Result<Vec<Arc<OpenSource>>> {
    let invalid = |name: &Path, detail: String, hint| {
        Err(Error::new(Operation::Read, Reason::Invalid, name).detail(detail).hint(hint))
    };
    let count = sources.len();
    if let Some(item) = plan.items.iter().find(|item| item.file >= count) {
        let detail = format!("the plan names file {}, there are {count}", item.file);
        return invalid(Path::new("<plan>"), detail, "number the files from 0");
    }
    let mut opened = Vec::with_capacity(count);
    for source in sources {
        let source = OpenSource::open_copy(source)?;
        if !matches!(source.kind(), SourceLength::Sized(_)) {
            let detail = String::from("classes need a file that can be read by position");
            return invalid(source.name(), detail, "use `read`, or copy it to a file first");
        }
        options.refuse_map(&source)?;
        if plan.whole.is_none() && (options.offset > 0 || options.len.is_some()) {
            let detail =
                String::from("the plan says which bytes to read, but the options do too");
            return invalid(source.name(), detail, "leave out the offset and the length");
        }
        opened.push(source);
    }
    Ok(opened)
}

/// Lists the chunks of each file, now that its length is known.
fn cut_whole(
    options: &ReadOptions,
    opened: &[Arc<OpenSource>],
    chunks: u64,
    classes: u32,
    items: &mut Vec<Item>,
) -> Result<()> {
    for (file, source) in opened.iter().enumerate() {
        let SourceLength::Sized(len) = source.kind() else { continue };
        let extent = options.extent_of(source, len)?;
        let needed = chunks.min(extent.len()).saturating_mul(CHUNK_COST);
        if needed > MANY_CHUNKS {
            check_chunks(source, extent, needed)?;
        }
        let new = by_position(extent, chunks, classes);
        items.extend(new.map(|item| Item { file, ..item }));
    }
    Ok(())
}

fn check_chunks(source: &OpenSource, extent: Extent, needed: u64) -> Result<()> {
    let at_hand = machine::memory_at_hand().unwrap_or(u64::MAX);
    if needed <= at_hand / 2 {
        return Ok(());
    }
    let error = Error::new(Operation::Allocate, Reason::OutOfMemory, source.name()).at(extent);
    let detail =
        format!("this many chunks take {needed} bytes of memory, {at_hand} are available");
    Err(error.detail(detail).hint("split the file into fewer chunks"))
}

/// Returns the extent from the first to the last requested byte, for each file.
fn extents(opened: &[Arc<OpenSource>], items: &[Item]) -> Result<Vec<Extent>> {
    let mut extents: Vec<Option<Extent>> = vec![None; opened.len()];
    for item in items {
        let source = &opened[item.file];
        if let SourceLength::Sized(len) = source.kind()
            && item.extent.end() > len
        {
            return Err(source.too_short(item.extent, len));
        }
        if !item.extent.is_empty() {
            let all = extents[item.file].get_or_insert(item.extent);
            let offset = all.offset().min(item.extent.offset());
            *all = Extent::between(offset, all.end().max(item.extent.end()));
        }
    }
    Ok(extents.into_iter().map(Option::unwrap_or_default).collect())
}

/// Decides, file by file, how to read, and with how many workers in total.
fn choose(options: &ReadOptions, opened: &[Arc<OpenSource>], extents: &[Extent]) -> Chosen {
    let (no_ring, no_shares) =
        ("classes are read by threads", "classes go to the next free worker");
    let (wishes, mut fallbacks) = policy::by_workers(&options.wishes, no_ring, no_shares);
    let most_windows = (WINDOWS / opened.len().max(1)).max(1);
    let mut chosen = Chosen {
        ways: Vec::new(),
        drop_behind: Vec::new(),
        slots: 0,
        crew: None,
        resident: true,
        chunk_size: NonZeroU64::new(READ_SIZE).unwrap_or(NonZeroU64::MIN),
        report: Report::serial("nothing to read", READ_SIZE),
    };
    let (mut first, mut most) = (None, 0);
    for (source, &extent) in opened.iter().zip(extents) {
        if extent.is_empty() {
            chosen.ways.push(Way::Buffered);
            chosen.drop_behind.push(None);
            continue;
        }
        let facts = facts(source, extent, options, most_windows);
        let facts = Facts { ring: false, ..facts };
        chosen.resident &= facts.is_resident();
        let decision = policy::decide(&facts, &wishes);
        let mut planned = Planned::decided(source, facts, options, decision);
        fallbacks.append(&mut planned.report.fallbacks);
        chosen.ways.push(if planned.decision.is_direct() {
            Way::Direct
        } else {
            Way::Buffered
        });
        chosen.drop_behind.push(planned.drop_behind());
        let workers = match opened.len() {
            1 => planned.decision.workers.len(),
            _ => planned.decision.first_workers(),
        };
        chosen.slots += workers;
        most = most.max(workers);
        first.get_or_insert(planned);
    }
    if let Some(Planned { decision, report, .. }) = first {
        chosen.crew = decision.crew.filter(|_| opened.len() == 1);
        chosen.chunk_size = decision.chunk_size;
        chosen.report = report;
    }
    // With one file, its decision counts. Several files share the processors, or the workers of the
    // most demanding file.
    let cores = machine::usable_cpus();
    chosen.slots = match options.wishes.workers {
        0 => chosen.slots.min(most.max(cores)),
        _ => most,
    };
    chosen.report.engine = if chosen.slots > 1 { Engine::Pool } else { Engine::Serial };
    for what in fallbacks {
        // Files of one folder are mostly alike.
        if !chosen.report.fallbacks.contains(&what) {
            chosen.report.fallbacks.push(what);
        }
    }
    chosen
}

fn memory(
    options: &ReadOptions,
    opened: &[Arc<OpenSource>],
    arranged: &Arranged,
) -> Result<Pages> {
    match opened.first() {
        Some(source) => pages(source, Extent::between(0, arranged.len()), 0, options),
        None => Pages::map(0)
            .map_err(|error| Error::io(Operation::Allocate, Path::new("<plan>"), error)),
    }
}

/// Starts the workers. If no thread can be started, this thread does the work at once.
fn spawn(shared: &Arc<SharedReading>, workers: usize) -> Vec<JoinHandle<()>> {
    let mut threads = Vec::with_capacity(workers);
    shared.join(workers);
    if workers == 0 {
        // Classes without bytes must be announced, too.
        shared.announce();
    }
    for slot in 0..workers {
        let own = Arc::clone(shared);
        match threads::start_for_good(slot, Box::new(move || work(&own, slot))) {
            Ok(thread) => threads.push(thread),
            Err(error) => {
                shared.running.fell_back(Fallback::not_started(slot, &error));
                // This thread is the first worker, if there is no other.
                (slot.max(1)..workers).for_each(|_| shared.leave());
                if threads.is_empty() {
                    work(shared, 0);
                }
                break;
            }
        }
    }
    threads
}

/// Drops bytes that were not in the page cache before, once more and in whole pages.
pub(super) fn drop_behind(shared: &SharedReading) {
    for (file, input) in shared.inputs.iter().enumerate() {
        let Some(drop_behind) = &input.drop_behind else { continue };
        for span in shared.layout.arranged.spans_of(file) {
            for window in swath_plan::window::windows(span.extent) {
                drop_behind.drop(&input.source, window);
            }
        }
    }
}
