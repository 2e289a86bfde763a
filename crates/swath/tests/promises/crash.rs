//! The files that are left when a writer fails, is killed, or loses power, at any moment.
//!
//! ```text
//! world      what the page cache shows, and what of it could be on the disk
//! disk       its files and folders, and the calls that were made
//! simulated  a file system on it that fails or loses power at the k-th call
//! attack     each fault at each call of a writer; every disk that could be left
//! written    the real writers under attack
//! appended   the same for what strands and tickets write
//! jobs       the commit of what many processes have written
//! kill       a process that is killed at random moments, on the real file system
//! kill_jobs  workers and clients of a job that are killed in each of its phases
//! slow       that file system with time between its calls
//! hooked     around its calls
//! planted    writers with a bug that the attack must find
//! ```

mod appended;
mod attack;
mod disk;
mod jobs;
mod kill;
mod kill_jobs;
mod planted;
mod simulated;
mod slow;
mod world;
mod written;
