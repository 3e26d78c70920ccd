//! Paths that are streams, not files.

use std::path::Path;

/// Whether a path is the word for standard input, or output.
pub fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

/// Whether a path is a stream of the process, whatever the shell made of it, or a device.
pub fn is_stream(path: &Path) -> bool {
    is_standard(path) || path.starts_with("/dev")
}

/// Whether a path stands for standard output.
pub fn is_stdout(path: &Path) -> bool {
    is_standard(path) || is_one_of(path, ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
}

/// Whether a path stands for standard error.
pub fn is_stderr(path: &Path) -> bool {
    is_one_of(path, ["/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"])
}

/// Whether a path stands for a stream of this process, which is not to be replaced by a file.
fn is_one_of(path: &Path, names: [&str; 3]) -> bool {
    names.iter().any(|name| path == Path::new(name))
}
