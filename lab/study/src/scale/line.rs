//! A line: requests are served one after the other, in the order in which they come.

/// A server with one line. A request that comes at `now` begins when all earlier ones have been served.
///
/// ```
/// use swath_study::scale::ServerLine;
///
/// let mut line = ServerLine::new(10.0);
/// assert_eq!(line.serve(1.0, 5.0), 1.5);
/// assert_eq!(line.serve(1.0, 5.0), 2.0); // it waits for the first
/// assert_eq!(line.serve(9.0, 1.0), 9.1);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ServerLine {
    seconds_each: f64,
    /// When all that has come so far has been served.
    pub free_at: f64,
    /// Seconds of service so far.
    pub busy_s: f64,
}

impl ServerLine {
    /// Serves this many requests a second.
    pub fn new(per_s: f64) -> Self {
        Self { seconds_each: 1.0 / per_s, free_at: 0.0, busy_s: 0.0 }
    }

    /// Returns when `requests` that come at `now` have been served. Calls must come in the order of time.
    pub fn serve(&mut self, now: f64, requests: f64) -> f64 {
        let takes = requests * self.seconds_each;
        self.busy_s += takes;
        self.free_at = self.free_at.max(now) + takes;
        self.free_at
    }

    /// Serves nothing from `now` on for some seconds.
    pub fn close(&mut self, now: f64, seconds: f64) {
        self.free_at = self.free_at.max(now) + seconds;
    }
}
