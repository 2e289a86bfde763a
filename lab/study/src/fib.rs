//! Study E's benchmark: the doubly recursive Fibonacci function, in which each call writes.
//!
//! `fib(n)` writes its bytes when it is entered, forks `fib(n - 1)`, calls `fib(n - 2)`, and joins. This
//! module has the parts that need no writer and no pool: the calls, their order in the serial program,
//! the bytes of each call, the parallelism, and a comparison with the serial program's file.
//!
//! ```text
//!            fib(3)                  calls in serial order   3 2 1 0 1
//!      fork /      \ call            index                   0 1 2 3 4
//!        fib(2)     fib(1)           file                    |0|1|2|3|4|
//!   fork /    \ call
//!     fib(1)   fib(0)                work 5 calls, span 3 calls
//! ```
//!
//! A call computes its index from its parent's alone, so its bytes depend on its place in the serial
//! order, not on the thread that runs it.
//!
//! Study E writes at the entry only. That cannot show whether bytes written after a join land after the
//! bytes of the fork.
//!
//! ```
//! use swath_study::fib::Fib;
//!
//! let fib = Fib::new(3, 10).expect("50 bytes");
//! assert_eq!((fib.calls(), fib.forks(), fib.span(), fib.bytes()), (5, 2, 3, 50));
//! let order: Vec<_> = fib.serial().map(|call| call.n).collect();
//! assert_eq!(order, [3, 2, 1, 0, 1]);
//!
//! let mut file = Vec::new();
//! fib.write_serial(&mut file)?;
//! assert_eq!(fib.first_difference(&file[..])?, None);
//! file[23] ^= 1;
//! assert_eq!(fib.first_difference(&file[..])?, Some(23));
//! # Ok::<(), std::io::Error>(())
//! ```

use std::io::{self, ErrorKind, Read, Write};
use swath_plan::random::word;

/// The seed of the bytes.
const SEED: u64 = 0xf1b;

/// Bytes of the repeated pattern: eight words of eight bytes.
const PATTERN: usize = 64;

/// Bytes written or compared at one time; a multiple of the pattern.
const PIECE: usize = 64 << 10;

/// One call of `fib`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// The argument.
    pub n: u32,
    /// The number of calls that the serial program enters before this one.
    pub index: u64,
}

/// All calls of one `fib(n)`.
#[derive(Clone, Debug)]
pub struct Fib {
    n: u32,
    /// Bytes that each call writes.
    pub bytes_per_call: u64,
    /// The number of calls of `fib(0)`, `fib(1)` … `fib(n)`, including the call itself.
    calls: Vec<u64>,
}

impl Fib {
    /// Returns the calls of `fib(n)`, each of which writes `bytes_per_call`; `None` if the number of calls
    /// (from `n` = 92 on) or of bytes exceeds 64 bits.
    pub fn new(n: u32, bytes_per_call: u64) -> Option<Self> {
        let mut calls = vec![1_u64, 1];
        for index in 2..=n as usize {
            let both = calls[index - 1].checked_add(calls[index - 2]);
            calls.push(both.and_then(|both| both.checked_add(1))?);
        }
        let fib = Self { n, bytes_per_call, calls };
        fib.calls().checked_mul(bytes_per_call).map(|_| fib)
    }

    /// Returns the first call, which makes all others.
    pub fn root(&self) -> Call {
        Call { n: self.n, index: 0 }
    }

    /// Returns the call that `call` forks and the one that it runs itself; `None` for a leaf.
    ///
    /// # Panics
    ///
    /// If `call` does not belong to this `fib(n)`.
    pub fn branches(&self, call: Call) -> Option<[Call; 2]> {
        let forked = Call { n: call.n.checked_sub(1)?, index: call.index + 1 };
        let called = call.n.checked_sub(2)?;
        Some([forked, Call { n: called, index: forked.index + self.calls[forked.n as usize] }])
    }

    /// Iterates over all calls in the order in which the serial program enters them.
    pub fn serial(&self) -> impl Iterator<Item = Call> + '_ {
        let mut waiting = vec![self.root()];
        std::iter::from_fn(move || {
            let call = waiting.pop()?;
            waiting.extend(self.branches(call).into_iter().flatten().rev());
            Some(call)
        })
    }

    /// Returns the number of calls: study E's work.
    pub fn calls(&self) -> u64 {
        self.calls[self.n as usize]
    }

    /// Returns the number of calls that fork: all except `fib(0)` and `fib(1)`.
    pub fn forks(&self) -> u64 {
        self.calls() / 2
    }

    /// Returns the number of calls on the longest path from the root to a leaf: study E's span.
    pub fn span(&self) -> u64 {
        // The longest path follows the forks: `n` falls by one at each call, and ends at 1.
        u64::from(self.n).max(1)
    }

    /// Returns work over span: the average number of busy workers if a fork cost nothing.
    pub fn parallelism(&self) -> f64 {
        self.calls() as f64 / self.span() as f64
    }

    /// Returns the bytes of the whole file.
    pub fn bytes(&self) -> u64 {
        // Cannot overflow: `new` checked it.
        self.calls() * self.bytes_per_call
    }

    /// Writes the serial program's file.
    ///
    /// # Errors
    ///
    /// The first error of `out`.
    pub fn write_serial(&self, mut out: impl Write) -> io::Result<()> {
        self.pieces(|piece| out.write_all(piece).map(|()| true))
    }

    /// Returns the offset of the first byte in which `file` differs from the serial program's file; if one
    /// is a prefix of the other, the length of the shorter one.
    ///
    /// # Errors
    ///
    /// The first error of `file`.
    pub fn first_difference(&self, mut file: impl Read) -> io::Result<Option<u64>> {
        let (mut offset, mut buffer, mut found) = (0, vec![0; PIECE], None);
        self.pieces(|piece| {
            let len = read_up_to(&mut file, &mut buffer[..piece.len()])?;
            let equal = common_start(piece, &buffer[..len]);
            offset += equal as u64;
            found = (equal < piece.len()).then_some(offset);
            Ok(found.is_none())
        })?;
        let ends = found.is_some() || read_up_to(&mut file, &mut buffer[..1])? == 0;
        Ok(if ends { found } else { Some(offset) })
    }

    /// Passes the file to `take` piece by piece, while that returns true.
    fn pieces(&self, mut take: impl FnMut(&[u8]) -> io::Result<bool>) -> io::Result<()> {
        let mut piece = vec![0; PIECE];
        for index in 0..self.calls() {
            fill(index, &mut piece);
            let mut left = self.bytes_per_call;
            while left > 0 {
                let len = usize::try_from(left).unwrap_or(PIECE).min(PIECE);
                if !take(&piece[..len])? {
                    return Ok(());
                }
                left -= len as u64;
            }
        }
        Ok(())
    }
}

/// Fills `bytes` with those that the call with this index writes: a repeated pattern of eight bytes, as
/// fast as memory can be set.
pub fn fill(index: u64, bytes: &mut [u8]) {
    let mut pattern = [0; PATTERN];
    for eight in pattern.chunks_exact_mut(8) {
        eight.copy_from_slice(&word(SEED, index).to_le_bytes());
    }
    let mut chunks = bytes.chunks_exact_mut(PATTERN);
    chunks.by_ref().for_each(|chunk| chunk.copy_from_slice(&pattern));
    let rest = chunks.into_remainder();
    rest.copy_from_slice(&pattern[..rest.len()]);
}

/// Returns the length of the common prefix.
fn common_start(left: &[u8], right: &[u8]) -> usize {
    let len = left.len().min(right.len());
    // The usual case: the files are equal.
    if left[..len] == right[..len] {
        return len;
    }
    left.iter().zip(right).take_while(|(left, right)| left == right).count()
}

/// Fills `bytes` from the front; returns the number of bytes read before the end of the file.
fn read_up_to(file: &mut impl Read, bytes: &mut [u8]) -> io::Result<usize> {
    let mut len = 0;
    while len < bytes.len() {
        match file.read(&mut bytes[len..]) {
            Ok(0) => break,
            Ok(more) => len += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(len)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the benchmark as study E writes it; returns its span.
    fn fib(n: u32, entered: &mut Vec<u32>) -> u64 {
        entered.push(n);
        if n < 2 {
            return 1;
        }
        let forked = fib(n - 1, entered);
        let called = fib(n - 2, entered);
        1 + forked.max(called)
    }

    #[test]
    fn calls_and_span_are_those_of_the_serial_program() {
        for n in 0..=20 {
            let mut entered = Vec::new();
            let span = fib(n, &mut entered);
            let ours = Fib::new(n, 1).expect("few");
            assert_eq!((ours.calls(), ours.span()), (entered.len() as u64, span), "fib({n})");
            let forks = entered.iter().filter(|&&n| n >= 2).count();
            assert_eq!(ours.forks(), forks as u64, "fib({n})");
            let calls: Vec<_> = ours.serial().collect();
            assert!(calls.iter().map(|call| call.n).eq(entered), "fib({n})");
            assert!((0..).zip(&calls).all(|(index, call)| call.index == index), "fib({n})");
        }
    }

    #[test]
    fn the_largest_that_64_bits_count_is_counted() {
        assert_eq!(Fib::new(91, 1).expect("fits").calls(), 15_080_227_609_492_692_857);
        for n in [92, 1000, u32::MAX] {
            assert!(Fib::new(n, 0).is_none(), "fib({n})");
        }
        assert!(Fib::new(91, 2).is_none());
        assert!(Fib::new(4, u64::MAX / 9).is_some() && Fib::new(4, u64::MAX / 9 + 1).is_none());
    }

    #[test]
    fn a_file_of_calls_in_serial_order_is_the_serial_file() {
        for bytes_per_call in [0, 1, 7, 64, 10_240, 65_535, 65_537, 200_000] {
            let fib = Fib::new(5, bytes_per_call).expect("few");
            let len = usize::try_from(bytes_per_call).expect("few");
            let mut expected = Vec::new();
            for call in fib.serial() {
                let start = expected.len();
                expected.resize(start + len, 0);
                fill(call.index, &mut expected[start..]);
            }
            let mut file = Vec::new();
            fib.write_serial(&mut file).expect("memory takes all");
            assert!(file == expected, "{bytes_per_call} bytes a call");
            assert_eq!(file.len() as u64, fib.bytes());
            assert_eq!(fib.first_difference(&file[..]).expect("memory"), None);
        }
    }

    #[test]
    fn every_difference_is_found_where_it_is() {
        let fib = Fib::new(3, 70_000).expect("few");
        let mut file = Vec::new();
        fib.write_serial(&mut file).expect("memory takes all");
        for at in [0, 1, 65_535, 65_536, 69_999, 70_000, 349_999] {
            file[at] ^= 0x80;
            assert_eq!(fib.first_difference(&file[..]).expect("memory"), Some(at as u64));
            file[at] ^= 0x80;
            assert_eq!(fib.first_difference(&file[..at]).expect("memory"), Some(at as u64));
        }
        file.push(0);
        assert_eq!(fib.first_difference(&file[..]).expect("memory"), Some(350_000));
    }

    #[test]
    fn swapped_calls_are_a_difference() {
        let fib = Fib::new(4, 8).expect("few");
        let mut file = Vec::new();
        fib.write_serial(&mut file).expect("memory takes all");
        for (left, right) in [(0, 1), (2, 7), (7, 8)] {
            let mut swapped = file.clone();
            swapped[left * 8..][..8].copy_from_slice(&file[right * 8..][..8]);
            swapped[right * 8..][..8].copy_from_slice(&file[left * 8..][..8]);
            let found = fib.first_difference(&swapped[..]).expect("memory").expect("differs");
            assert_eq!(found / 8, left as u64);
        }
    }
}
