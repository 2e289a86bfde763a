//! The file size limit, at which the kernel would end the process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::refused::child::in_child;
use crate::refused::ways::{Way, all_refuse, bytes, read};

const EFBIG: i32 = 27;
/// One in the middle of a block, one between two.
const LIMITS: [u64; 2] = [100_000, 24 * 4096];

#[test]
fn at_the_limit_of_file_sizes_every_way_of_writing_is_an_error_and_no_signal() {
    let name = "limits::\
                at_the_limit_of_file_sizes_every_way_of_writing_is_an_error_and_no_signal";
    in_child(name, &[], || {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        let maximum = getrlimit(Resource::Fsize).maximum;
        for limit in LIMITS {
            let limit = Rlimit { current: Some(limit), maximum };
            setrlimit(Resource::Fsize, limit).expect("lower than the maximum");
            all_refuse(folder.path(), &bytes(400_000), EFBIG);
        }
    });
}

#[test]
fn up_to_the_limit_of_file_sizes_every_byte_is_written() {
    in_child("limits::up_to_the_limit_of_file_sizes_every_byte_is_written", &[], || {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        let maximum = getrlimit(Resource::Fsize).maximum;
        setrlimit(Resource::Fsize, Rlimit { current: Some(LIMITS[0]), maximum })
            .expect("lower");
        let all = bytes(100_000);
        for way in Way::ALL {
            // The mark of a draft that is shared is past its length.
            let bytes = if way == Way::Shared { &all[64..] } else { &all };
            let path = folder.path().join(format!("{way:?}"));
            way.leave(&path, bytes).unwrap_or_else(|error| panic!("{way:?}: {error:?}"));
            assert!(read(&path) == bytes, "{way:?}");
        }
    });
}
