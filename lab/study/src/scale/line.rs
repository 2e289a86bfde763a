//! A line: a server handles requests one after the other, in order of arrival.

/// A server with one line. The service of a request begins after that of all earlier ones.
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
    /// The time at which all earlier requests have been served.
    pub free_at: f64,
    /// Total seconds of service.
    pub busy_s: f64,
}

impl ServerLine {
    /// Makes a server for this many requests a second.
    pub fn new(per_s: f64) -> Self {
        Self { seconds_each: 1.0 / per_s, free_at: 0.0, busy_s: 0.0 }
    }

    /// Returns the time at which `requests` that arrive at `now` have been served. Calls must be in order of
    /// time.
    pub fn serve(&mut self, now: f64, requests: f64) -> f64 {
        let takes = requests * self.seconds_each;
        self.busy_s += takes;
        self.free_at = self.free_at.max(now) + takes;
        self.free_at
    }

    /// Stops serving for some seconds from `now` on.
    pub fn close(&mut self, now: f64, seconds: f64) {
        self.free_at = self.free_at.max(now) + seconds;
    }
}
