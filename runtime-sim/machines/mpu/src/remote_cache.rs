//! Words of other cores: the read-only cache beside the network, and the words that are on their way to it.
//! A load of such a word waits with the one that asked for it, as a table of pending requests has addresses.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use nbcc_sim_simt::timing::cache::Cache;

/// A word that was asked for.
#[derive(Debug)]
struct Asked {
    /// The access that asked.
    by: u32,
    /// Accesses that wait with it.
    waiting: Vec<u32>,
}

/// What of a word is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The word.
    Held,
    /// It is on its way; the access waits with the one that asked for it.
    OnItsWay,
    /// Nothing: the access is to ask for it.
    Nothing,
}

/// The words of other cores that a core has or expects.
#[derive(Debug)]
pub struct RemoteCache {
    held: Cache,
    /// Whether it keeps anything.
    keeps: bool,
    asked: HashMap<u64, Asked, FixedState>,
    /// Words that were written or forgotten on their way: they come to those who wait, and are not kept.
    stale: Vec<(u64, Asked)>,
}

impl RemoteCache {
    /// An empty one of so many words.
    pub fn new(words: u32) -> RemoteCache {
        let (held, asked) = (Cache::new(words), HashMap::default());
        RemoteCache { held, keeps: words > 0, asked, stale: Vec::new() }
    }

    /// What a weak load finds of a word. With [`Found::Nothing`] it is the one that asks.
    pub fn look(&mut self, word: u64, flight: u32) -> Found {
        if !self.keeps {
            return Found::Nothing;
        }
        if self.held.holds(word) {
            return Found::Held;
        }
        match self.asked.get_mut(&word) {
            Some(asked) => {
                asked.waiting.push(flight);
                Found::OnItsWay
            }
            None => {
                self.asked.insert(word, Asked { by: flight, waiting: Vec::new() });
                Found::Nothing
            }
        }
    }

    /// A word has come to the access that asked for it. The accesses that waited with that.
    pub fn came(&mut self, word: u64, flight: u32) -> Vec<u32> {
        if self.asked.get(&word).is_some_and(|asked| asked.by == flight) {
            self.held.fill(word);
            return self.asked.remove(&word).expect("it was there").waiting;
        }
        let stale = self.stale.iter().position(|(at, asked)| *at == word && asked.by == flight);
        stale.map_or_else(Vec::new, |at| self.stale.swap_remove(at).1.waiting)
    }

    /// The core writes a word: neither what is held nor what is on its way is valid any more.
    pub fn drop_word(&mut self, word: u64) {
        self.held.drop_line(word);
        self.stale.extend(self.asked.remove_entry(&word));
    }

    /// No word is valid any more.
    pub fn clear(&mut self) {
        self.held.clear();
        self.stale.extend(self.asked.drain());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_on_its_way_is_asked_for_once() {
        let mut cache = RemoteCache::new(4);
        assert_eq!(cache.look(7, 0), Found::Nothing);
        assert_eq!(cache.look(7, 1), Found::OnItsWay);
        assert_eq!(cache.came(7, 0), [1]);
        assert_eq!(cache.look(7, 2), Found::Held);
    }

    #[test]
    fn what_was_written_meanwhile_comes_and_is_not_kept() {
        let mut cache = RemoteCache::new(4);
        cache.look(7, 0);
        cache.look(7, 1);
        cache.drop_word(7);
        assert_eq!(cache.look(7, 2), Found::Nothing);
        cache.look(7, 3);
        assert_eq!(cache.came(7, 0), [1]);
        assert_eq!(cache.look(7, 4), Found::OnItsWay);
        cache.clear();
        assert_eq!(cache.came(7, 2), [3, 4]);
        assert_eq!(cache.look(7, 5), Found::Nothing);
    }

    #[test]
    fn without_room_nothing_is_shared() {
        let mut cache = RemoteCache::new(0);
        assert_eq!([cache.look(7, 0), cache.look(7, 1)], [Found::Nothing; 2]);
        assert!(cache.came(7, 0).is_empty());
    }
}
