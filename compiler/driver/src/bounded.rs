//! Reading of what may be too long, and words for what goes wrong with files.

use std::io::{self, Read};

/// Everything that there is to read, up to `limit` bytes, of which `known` are known to come.
pub fn read_to_limit(from: impl Read, known: u64, limit: u64) -> io::Result<Vec<u8>> {
    let large = || io::Error::other(format!("it is larger than {} MiB", limit >> 20));
    if known > limit {
        return Err(large());
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(known as usize).map_err(|_| io::ErrorKind::OutOfMemory)?;
    from.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(large());
    }
    Ok(bytes)
}

/// What went wrong, without the number of the operating system's error.
pub fn words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        io::ErrorKind::OutOfMemory => "memory is short".into(),
        _ => error.to_string(),
    }
}
