//! A few places that are held for a while: buffers, tables of pending requests.

use nbcc_sim_engine::{Cycle, NEVER};

/// Places, each free from a cycle on.
#[derive(Clone, Debug)]
pub struct Pool {
    free: Box<[Cycle]>,
}

impl Pool {
    /// So many free places.
    pub fn new(places: u32) -> Pool {
        Pool { free: vec![0; places as usize].into() }
    }

    /// From when a place is free; [`NEVER`] while no end is known.
    #[inline]
    pub fn available(&self) -> Cycle {
        self.free.iter().copied().min().unwrap_or(NEVER)
    }

    /// Takes the place that is free first, until a cycle; [`NEVER`] where that is not known yet.
    #[inline]
    pub fn hold(&mut self, until: Cycle) {
        if let Some(place) = self.free.iter_mut().min() {
            *place = until;
        }
    }

    /// Gives a place back that was held without a known end.
    #[inline]
    pub fn release(&mut self, at: Cycle) {
        if let Some(place) = self.free.iter_mut().find(|place| **place == NEVER) {
            *place = at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_held() {
        let mut pool = Pool::new(2);
        assert_eq!(pool.available(), 0);
        pool.hold(10);
        pool.hold(NEVER);
        assert_eq!(pool.available(), 10);
        pool.hold(NEVER);
        assert_eq!(pool.available(), NEVER);
        pool.release(12);
        assert_eq!(pool.available(), 12);
    }
}
