//! Sorts names by their bytes, comparing whole names only where eight bytes do not decide.

/// A name in a folder.
#[derive(Clone, Copy)]
pub(super) struct NameEntry {
    pub(super) start: u32,
    pub(super) len: u32,
    pub(super) inode: u64,
}

/// Sorts `files` by their names, which are stored in `names`.
pub(super) fn sort_names(names: &[u8], files: &mut Vec<NameEntry>) {
    let of = |file: &NameEntry| &names[file.start as usize..][..file.len as usize];
    let Some(first) = files.first() else { return };
    // A common prefix decides nothing: file-000017, file-000018.
    let shared = files.iter().fold(of(first).len(), |shared, file| {
        let alike = of(file).iter().zip(of(first)).take_while(|(a, b)| a == b).count();
        shared.min(alike)
    });
    let mut keyed: Vec<(u64, NameEntry)> = files
        .iter()
        .map(|file| {
            let rest = &of(file)[shared..];
            let mut key = [0; 8];
            let len = rest.len().min(8);
            key[..len].copy_from_slice(&rest[..len]);
            (u64::from_be_bytes(key), *file)
        })
        .collect();
    keyed.sort_unstable_by(|(a, left), (b, right)| {
        a.cmp(b).then_with(|| of(left).cmp(of(right)))
    });
    files.clear();
    files.extend(keyed.into_iter().map(|(_, file)| file));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_as_bytes_are() {
        let mut next = swath_reference::splitmix(7);
        let mut random = move |below: u64| usize::try_from(next() % below).expect("small");
        for round in 0..200 {
            let mut wanted: Vec<Vec<u8>> = (0..random(40))
                .map(|_| {
                    let mut name = b"shared"[..round % 7].to_vec();
                    name.extend((0..random(14)).map(|_| b"ab\xff"[random(3)]));
                    name
                })
                .collect();
            let (mut names, mut files) = (Vec::new(), Vec::new());
            for name in &wanted {
                let start = u32::try_from(names.len()).expect("small");
                let len = u32::try_from(name.len()).expect("small");
                files.push(NameEntry { start, len, inode: 0 });
                names.extend_from_slice(name);
            }
            sort_names(&names, &mut files);
            wanted.sort();
            let sorted: Vec<_> = files
                .iter()
                .map(|file| names[file.start as usize..][..file.len as usize].to_vec())
                .collect();
            assert_eq!(sorted, wanted, "round {round} of seed 7");
        }
    }
}
