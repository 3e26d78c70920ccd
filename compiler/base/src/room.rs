//! Whether memory can be had, asked before what takes much of it.

use std::hint::black_box;

/// Whether the system gives so many bytes. They are asked for and given back: what is this large is
/// a mapping of its own, untouched, and can be had again at once.
pub fn has_room(bytes: u64) -> bool {
    let Ok(bytes) = usize::try_from(bytes) else { return false };
    let mut asked: Vec<u8> = Vec::new();
    // Looked at, so that it is not optimised away.
    black_box(&mut asked).try_reserve_exact(bytes).is_ok() && black_box(&asked).capacity() >= bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absurd_sizes_have_no_room() {
        assert!(has_room(0) && has_room(1 << 20));
        assert!(!has_room(1 << 62) && !has_room(u64::MAX));
    }
}
