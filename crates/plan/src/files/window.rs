//! The number of threads that wait for the device if there is no ring.

/// Grows the number of blocking threads while files miss the page cache: reads in flight, not
/// cores, keep a device busy.
///
/// ```
/// use swath_plan::files::Window;
///
/// let mut window = Window::new(2, 64);
/// assert!(!window.missed(), "one miss is no evidence");
/// assert!(window.missed(), "two for two threads are");
/// assert_eq!(window.threads(), 3);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Window {
    threads: usize,
    most: usize,
    misses: usize,
}

impl Window {
    /// Starts with `threads` running threads, and grows to `most`.
    pub fn new(threads: usize, most: usize) -> Self {
        Self { threads: threads.max(1), most, misses: 0 }
    }

    /// Records that a thread has to wait for the device. Returns whether to start another one, and
    /// counts it.
    ///
    /// It does so after as many misses as there are threads, counted from the last start: a warm
    /// tree with few cold files keeps few threads, and a cold one has all of them within a few
    /// thousand files.
    pub fn missed(&mut self) -> bool {
        self.misses += 1;
        let grows = self.threads < self.most && self.misses >= self.threads.min(8);
        if grows {
            self.misses = 0;
            self.threads += 1;
        }
        grows
    }

    /// Records that a thread could not be started: no more are started.
    pub fn refused(&mut self) {
        self.only(self.threads.saturating_sub(1));
    }

    /// Sets the number of running threads, at least one; no more can be started.
    pub fn only(&mut self, threads: usize) {
        self.threads = threads.max(1);
        self.most = self.threads;
    }

    /// Returns the number of running threads.
    pub fn threads(&self) -> usize {
        self.threads
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_grows_to_the_most_and_not_further() {
        let mut window = Window::new(2, 64);
        let misses = (1..).take_while(|_| {
            window.missed();
            window.threads() < 64
        });
        assert!(misses.count() < 600, "soon");
        assert!((0..1000).all(|_| !window.missed()));
        assert_eq!(window.threads(), 64);
    }

    #[test]
    fn after_a_refusal_it_asks_no_more() {
        let mut window = Window::new(1, 64);
        assert!(window.missed());
        window.refused();
        assert!((0..1000).all(|_| !window.missed()));
        assert_eq!(window.threads(), 1);
    }

    #[test]
    fn those_that_run_are_told_where_few_could_be_started() {
        let mut window = Window::new(8, 64);
        window.only(3);
        assert!((0..1000).all(|_| !window.missed()));
        assert_eq!(window.threads(), 3);
        window.only(0);
        assert_eq!(window.threads(), 1, "one thread does the work");
    }

    #[test]
    fn more_threads_than_the_most_are_left_alone() {
        let mut window = Window::new(8, 2);
        assert!((0..100).all(|_| !window.missed()));
    }
}
