//! The random numbers of the mapper: splitmix64 (Steele, Lea and Flood, "Fast splittable
//! pseudorandom number generators", OOPSLA 2014). The same seed gives the same mapping everywhere.

/// A generator.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator for a seed; other seeds give other sequences.
    pub fn new(seed: u64) -> Random {
        let mut random = Random(seed ^ 0x5851_f42d_4c95_7f2d);
        random.word();
        random
    }

    /// 64 random bits.
    #[inline]
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not 0.
    #[inline]
    pub fn below(&mut self, bound: usize) -> usize {
        (((self.word() >> 32) * bound as u64) >> 32) as usize
    }

    /// Whether something of that probability, in 1/256, happens.
    #[inline]
    pub fn chance(&mut self, of_256: u32) -> bool {
        (self.word() >> 56) < u64::from(of_256)
    }
}
