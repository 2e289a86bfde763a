//! A callback that panics: on the caller's thread, or first on another one, if there is one.

use std::any::Any;
use std::io;
use std::panic::panic_any;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Once};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use swath::{ReadAt, Result, Source, SourceFacts};

/// The payload of the panic, which no library could produce.
pub(crate) struct Mine;

/// Keeps planned panics out of the output.
pub(crate) fn quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !info.payload().is::<Mine>() {
                usual(info);
            }
        }));
    });
}

/// The message of a panic.
pub(crate) fn words(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or(payload.downcast_ref::<&str>().copied()).unwrap_or("without words").to_owned()
}

#[derive(Clone)]
pub(crate) struct Trap(Arc<State>);

struct State {
    home: ThreadId,
    alone: bool,
    is_safe: AtomicBool,
    /// How often the caller's thread may be let through.
    passes: AtomicUsize,
    sprung: AtomicBool,
}

impl Trap {
    pub(crate) fn new(workers: usize) -> Self {
        Self(Arc::new(State {
            home: std::thread::current().id(),
            alone: workers == 1,
            is_safe: AtomicBool::new(false),
            passes: AtomicUsize::new(0),
            sprung: AtomicBool::new(false),
        }))
    }

    /// A trap that never springs.
    pub(crate) fn never() -> Self {
        let never = Self::new(1);
        never.0.is_safe.store(true, Ordering::SeqCst);
        never
    }

    /// Lets the caller's thread through once: other threads come later.
    pub(crate) fn later(self) -> Self {
        self.0.passes.store(1, Ordering::SeqCst);
        self
    }

    pub(crate) fn has_sprung(&self) -> bool {
        self.0.sprung.load(Ordering::SeqCst)
    }

    /// Panics. The caller's thread lets others go first.
    pub(crate) fn step(&self) {
        let state = &*self.0;
        if state.is_safe.load(Ordering::SeqCst) {
            return;
        }
        if std::thread::current().id() == state.home {
            let until = Instant::now() + Duration::from_millis(20);
            while !state.alone && !self.has_sprung() && Instant::now() < until {
                std::thread::sleep(Duration::from_micros(100));
            }
            let passes = &state.passes;
            if passes.load(Ordering::SeqCst) > 0 {
                passes.fetch_sub(1, Ordering::SeqCst);
                return;
            }
        }
        state.sprung.store(true, Ordering::SeqCst);
        panic_any(Mine)
    }

    /// [`step`](Self::step), for callbacks that return a result.
    pub(crate) fn try_step(&self) -> Result<()> {
        self.step();
        Ok(())
    }
}

/// A source whose reads are the trap.
pub(crate) fn source(len: Option<u64>, trap: Trap) -> Source {
    Source::custom(Arc::new(Trapped { len, trap }))
}

struct Trapped {
    len: Option<u64>,
    trap: Trap,
}

impl ReadAt for Trapped {
    fn facts(&self) -> io::Result<SourceFacts> {
        Ok(SourceFacts::new(self.len))
    }

    fn read_at(&self, target: &mut [u8], offset: u64) -> io::Result<usize> {
        self.trap.step();
        let end = self.len.unwrap_or(4 << 20);
        let left = usize::try_from(end.saturating_sub(offset)).unwrap_or(usize::MAX);
        let len = target.len().min(left);
        target[..len].fill(b'\n');
        Ok(len)
    }

    fn name(&self) -> PathBuf {
        PathBuf::from("<trap>")
    }
}
