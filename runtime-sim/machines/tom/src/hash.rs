//! Tables of lines and stores: their keys are small numbers that nobody outside chooses, which a product
//! spreads well enough (D. Knuth, The Art of Computer Programming 3, section 6.4).

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A table by numbers.
pub type Table<K, V> = HashMap<K, V, BuildHasherDefault<Product>>;

/// Hashes numbers by a product each.
#[derive(Clone, Copy, Debug, Default)]
pub struct Product(u64);

/// The golden ratio as a fraction of 64 bits.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

impl Hasher for Product {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(23) ^ number).wrapping_mul(FACTOR);
    }

    fn finish(&self) -> u64 {
        // Tables look at the highest and at the lowest bits, of which a product has the former good.
        self.0 ^ self.0 >> 32
    }
}
