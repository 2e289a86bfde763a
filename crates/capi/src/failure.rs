//! The last failure of each thread.

use std::cell::RefCell;
use std::ffi::{CString, OsStr, c_char};
use std::fmt;
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use swath::Extent;

use crate::status::Status;

/// The failure of a call, with all facts that C can query.
#[derive(Debug)]
pub(crate) struct Failure {
    status: Status,
    message: String,
    errno: i32,
    path: Vec<u8>,
    extent: Option<Extent>,
    /// Whether a map was requested and the library refused it.
    is_unmapped: bool,
}

/// The kind of a failure, on which programs branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    status: Status,
    errno: i32,
}

/// The result of the work of a C function.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    pub(crate) fn new(status: Status, message: impl Into<String>) -> Self {
        let (message, path) = (message.into(), Vec::new());
        Self { status, message, errno: 0, path, extent: None, is_unmapped: false }
    }

    /// Returns the failure of an invalid argument.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(Status::InvalidArgument, message)
    }

    /// Converts an error of the library.
    pub(crate) fn of(error: &swath::Error) -> Self {
        Self {
            status: Status::of(error.reason(), error.io_kind()),
            message: swath::machine::in_one_line(error, error.what_to_try()),
            errno: error.raw_os_error().unwrap_or(0),
            path: bytes_of(error.path()),
            extent: error.extent(),
            is_unmapped: (error.operation(), error.reason())
                == (swath::Operation::Map, swath::Reason::Invalid),
        }
    }

    /// Returns whether SWATH_ENGINE_MAP is not available for this call.
    pub(crate) fn is_unmapped(&self) -> bool {
        self.is_unmapped
    }

    /// Returns the path of the failure.
    pub(crate) fn path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.path))
    }

    /// Returns the failure of a callback that did not return 0.
    pub(crate) fn stopped(value: i32, path: &Path) -> Self {
        let message = format!("stopped {}: the callback returned {value}", path.display());
        Self { path: bytes_of(path), ..Self::new(Status::Stopped, message) }
    }

    pub(crate) fn at_path(self, path: &Path) -> Self {
        Self { path: bytes_of(path), ..self }
    }

    pub(crate) fn saying(self, message: String) -> Self {
        Self { message, ..self }
    }

    /// Returns the kind of the failure, on which programs branch.
    pub(crate) fn kind(&self) -> Kind {
        Kind { status: self.status, errno: self.errno }
    }

    pub(crate) fn with_kind(self, kind: Kind) -> Self {
        Self { status: kind.status, errno: kind.errno, ..self }
    }

    /// Returns the failure of a function that returns an errno.
    pub(crate) fn of_errno(errno: i32, message: impl Into<String>) -> Self {
        let kind = io::Error::from_raw_os_error(errno).kind();
        Self { errno, ..Self::new(Status::of_kind(kind), message) }
    }

    /// Returns the error number for callers that understand only numbers: never 0.
    pub(crate) fn as_errno(&self) -> i32 {
        /// Error numbers of Linux.
        const EIO: i32 = 5;
        const ENOMEM: i32 = 12;
        const EINVAL: i32 = 22;
        const ECANCELED: i32 = 125;
        match self.status {
            _ if self.errno != 0 => self.errno,
            Status::OutOfMemory => ENOMEM,
            Status::InvalidArgument | Status::Corrupt => EINVAL,
            Status::Cancelled => ECANCELED,
            _ => EIO,
        }
    }

    /// Returns the message for C.
    pub(crate) fn text(&self) -> CString {
        c_string(swath::machine::escaped(&self.message).into_bytes())
    }
}

fn bytes_of(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl From<swath::Error> for Failure {
    fn from(error: swath::Error) -> Self {
        Self::of(&error)
    }
}

impl From<swath_formats::Error> for Failure {
    fn from(error: swath_formats::Error) -> Self {
        use swath_formats::FormatReason;
        if let Some(error) = error.library() {
            return Self::of(error);
        }
        let status = match error.reason() {
            FormatReason::Truncated => Status::Truncated,
            FormatReason::Invalid | FormatReason::Unsupported => Status::InvalidArgument,
            // A value that its type cannot hold.
            FormatReason::TooLarge if error.line().is_some() => Status::Corrupt,
            FormatReason::TooLarge | FormatReason::OutOfMemory => Status::OutOfMemory,
            FormatReason::Library => Status::Io,
            _ => Status::Corrupt,
        };
        let text = swath::machine::in_one_line(&error, error.what_to_try());
        Self::new(status, text).at_path(error.path())
    }
}

/// Writers return errors of the library as those of `std`.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if let Some(inner) = error.get_ref().and_then(|it| it.downcast_ref::<swath::Error>()) {
            return Self::of(inner);
        }
        let errno = error.raw_os_error().unwrap_or(0);
        Self { errno, ..Self::new(Status::of_kind(error.kind()), error.to_string()) }
    }
}

/// The last failure, in the form for the functions of the header.
struct Kept {
    message: CString,
    path: CString,
    errno: i32,
    extent: Option<Extent>,
}

thread_local! {
    static LAST: RefCell<Option<Kept>> = const { RefCell::new(None) };
}

/// Returns the bytes up to a NUL, which no path has.
fn c_string(mut bytes: Vec<u8>) -> CString {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    bytes.truncate(end);
    CString::new(bytes).unwrap_or_default()
}

/// Forgets the last failure. A thread that is ending has none.
pub(crate) fn forget() {
    let _ = LAST.try_with(|last| last.try_borrow_mut().map(|mut last| last.take()));
}

/// Keeps `failure` for the calling thread and returns its status.
pub(crate) fn keep(failure: Failure) -> Status {
    let message = failure.text();
    let Failure { status, errno, path, extent, .. } = failure;
    let kept = Kept { message, path: c_string(path), errno, extent };
    let _ = LAST.try_with(|last| last.try_borrow_mut().map(|mut last| last.replace(kept)));
    status
}

/// Returns the result of `get` for the last failure of this thread, if there is one.
fn look<T>(get: impl FnOnce(&Kept) -> T) -> Option<T> {
    let looked = LAST.try_with(|last| last.try_borrow().ok()?.as_ref().map(get));
    looked.ok().flatten()
}

/// Returns why the last call on this thread failed: the operation, the file, the bytes, the
/// reason, and what to try. One line of UTF-8; bytes of names that are not UTF-8 are replaced,
/// control characters are escaped. Never NULL; "" if the call succeeded. Valid until this thread
/// ends or next calls a function that returns a `swath_status`: copy it to keep it.
#[unsafe(no_mangle)]
pub extern "C" fn swath_last_error_message() -> *const c_char {
    look(|kept| kept.message.as_ptr()).unwrap_or(c"".as_ptr())
}

/// Returns the `errno` of the last failure on this thread; 0 if there was no failure or it did
/// not come from the kernel.
#[unsafe(no_mangle)]
pub extern "C" fn swath_last_error_errno() -> i32 {
    look(|kept| kept.errno).unwrap_or(0)
}

/// Returns the path that the last failure on this thread is about, byte for byte as it was given
/// or found. A folder that was walked ends with a slash; something that is not a file has a name
/// in angle brackets, such as `<plan>`. Never NULL; "" if the failure is not about a path. Valid
/// as long as `swath_last_error_message`.
#[unsafe(no_mangle)]
pub extern "C" fn swath_last_error_path() -> *const c_char {
    look(|kept| kept.path.as_ptr()).unwrap_or(c"".as_ptr())
}

/// Returns whether the last failure on this thread is about certain bytes of the file, and sets
/// `offset` and `len` to them, in bytes. Either may be NULL. Without such bytes both stay
/// unchanged.
#[unsafe(no_mangle)]
pub extern "C" fn swath_last_error_extent(
    offset: Option<&mut MaybeUninit<u64>>,
    len: Option<&mut MaybeUninit<u64>>,
) -> bool {
    let Some(extent) = look(|kept| kept.extent).flatten() else { return false };
    offset.map(|it| it.write(extent.offset()));
    len.map(|it| it.write(extent.len()));
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    fn message() -> String {
        // SAFETY: a C string that lives until the next call on this thread.
        let text = unsafe { CStr::from_ptr(swath_last_error_message()) };
        text.to_str().expect("UTF-8").to_owned()
    }

    #[test]
    fn the_kernels_words_and_what_to_try_are_in_the_message() {
        let error = swath::read("/no such folder/file").expect_err("it is not there");
        assert_eq!(keep(error.into()), Status::NotFound);
        assert_eq!(
            message(),
            "cannot open /no such folder/file: No such file or directory (os error 2); try: check the path"
        );
        assert_eq!(swath_last_error_errno(), 2);
        forget();
        assert_eq!((message().as_str(), swath_last_error_errno()), ("", 0));
    }

    #[test]
    fn a_failure_always_has_a_number_of_the_kernel_for_others() {
        let errno = |status| Failure::new(status, "").as_errno();
        assert_eq!(
            [Status::Corrupt, Status::Cancelled, Status::Panic].map(errno),
            [22, 125, 5],
            "EINVAL, ECANCELED, EIO"
        );
        let denied = Failure::of_errno(13, "told by others");
        let expected = Kind { status: Status::PermissionDenied, errno: 13 };
        assert_eq!((denied.kind(), denied.as_errno()), (expected, 13));
        assert_eq!(Failure::invalid("").with_kind(expected).kind(), expected);
    }

    #[test]
    fn an_error_of_a_writer_is_that_of_the_library() {
        let error = swath::read("/etc").expect_err("a folder");
        let (status, told) = (Failure::of(&error).status, Failure::of(&error).message);
        let failure = Failure::from(io::Error::from(error));
        assert_eq!((failure.status, failure.message), (status, told));
    }

    #[test]
    fn a_name_in_a_message_cannot_begin_a_line_or_move_a_cursor() {
        keep(Failure::invalid("a\0b\nc\x1b[2Jd\u{9b}é"));
        assert_eq!(message(), r"a\u{0}b\nc\u{1b}[2Jd\u{9b}é");
    }
}
