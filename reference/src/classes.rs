//! Reads by priority class: the expected bytes, and their order.

/// One line of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The index of the file.
    pub file: usize,
    /// The offset of its first byte.
    pub start: usize,
    /// The offset after its last byte; at least `start`.
    pub end: usize,
    /// The urgency: 0 comes first.
    pub class: u32,
}

/// Returns study A's plan: `chunks` chunks of `len / chunks` bytes, the last one with the
/// remainder; in `classes` classes, one after the other.
pub fn by_position(len: usize, chunks: usize, classes: usize) -> Vec<Chunk> {
    let chunks = chunks.min(len).max(1);
    let classes = classes.min(chunks).max(1);
    let size = len / chunks;
    let mut plan = Vec::new();
    for index in 0..chunks {
        let end = if index == chunks - 1 { len } else { (index + 1) * size };
        let class = index * classes / chunks;
        let class = u32::try_from(class).expect("small plans");
        plan.push(Chunk { file: 0, start: index * size, end, class });
    }
    plan
}

/// Returns the classes of a plan, the most urgent first.
pub fn classes(plan: &[Chunk]) -> Vec<u32> {
    let mut classes: Vec<u32> = plan.iter().map(|chunk| chunk.class).collect();
    classes.sort_unstable();
    classes.dedup();
    classes
}

/// Returns, for each file, the bytes that the plan lists, each once, by offset.
pub fn whole(files: &[Vec<u8>], plan: &[Chunk]) -> Vec<Vec<u8>> {
    let mut whole = Vec::new();
    for (file, bytes) in files.iter().enumerate() {
        let mut listed = vec![false; bytes.len()];
        for chunk in plan.iter().filter(|chunk| chunk.file == file) {
            listed[chunk.start..chunk.end].fill(true);
        }
        let kept = bytes.iter().zip(&listed).filter(|(_, listed)| **listed);
        whole.push(kept.map(|(byte, _)| *byte).collect());
    }
    whole
}

/// Returns the chunks of a class, in the order of the plan: the index of the line, and the bytes.
pub fn of_class<'f>(
    files: &'f [Vec<u8>],
    plan: &[Chunk],
    class: u32,
) -> Vec<(usize, &'f [u8])> {
    let mut chunks = Vec::new();
    for (line, chunk) in plan.iter().enumerate() {
        if chunk.class == class {
            chunks.push((line, &files[chunk.file][chunk.start..chunk.end]));
        }
    }
    chunks
}

/// Whether every class began after the class `window` places before it in `order` was complete;
/// `events` are `(class, begun)`, with `begun` false for completion.
pub fn holds_window(order: &[u32], window: usize, events: &[(u32, bool)]) -> bool {
    let mut complete: Vec<u32> = Vec::new();
    for &(class, begun) in events {
        if !begun {
            complete.push(class);
            continue;
        }
        let position = order.iter().position(|&other| other == class).expect("it is listed");
        let before = &order[..(position + 1).saturating_sub(window)];
        if before.iter().any(|other| !complete.contains(other)) {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_chunk_takes_the_rest_and_bytes_are_listed_once() {
        let plan = by_position(10, 4, 2);
        assert_eq!(plan[3], Chunk { file: 0, start: 6, end: 10, class: 1 });
        let files = [(0..10).collect::<Vec<u8>>()];
        let twice = [plan[0], Chunk { class: 7, ..plan[0] }, plan[3]];
        assert_eq!(whole(&files, &twice), [vec![0, 1, 6, 7, 8, 9]]);
        assert_eq!(of_class(&files, &twice, 7), [(1, &[0, 1][..])]);
        assert_eq!(classes(&twice), [0, 1, 7]);
    }

    #[test]
    fn a_class_may_not_begin_before_the_one_a_window_before_it_is_complete() {
        let order = [0, 1, 2];
        let early = [(0, true), (1, true)];
        assert!(!holds_window(&order, 1, &early) && holds_window(&order, 2, &early));
        assert!(holds_window(&order, 1, &[(0, true), (0, false), (1, true)]));
    }
}
