//! Numbered work on a few threads, begun in its order: what belongs together is over together.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Does the work of each number below `count`.
pub fn each(threads: usize, count: usize, work: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    let all = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                break;
            }
            work(number);
        }
    };
    std::thread::scope(|scope| {
        // Grammars and passes go as deep as programs nest.
        let spawn =
            || std::thread::Builder::new().stack_size(crate::STACK).spawn_scoped(scope, all);
        let started: Vec<_> = (0..threads.min(count)).map_while(|_| spawn().ok()).collect();
        if started.is_empty() {
            all();
        }
    });
}

/// The same for work with a result; the results in the order of their numbers.
pub fn map<T: Send>(threads: usize, count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let done: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::new(None)).collect();
    each(threads, count, |number| {
        let result = work(number);
        *done[number].lock().expect("nothing panics with it") = Some(result);
    });
    let results = done.into_iter().map(|slot| slot.into_inner().ok().flatten());
    results.map(|result| result.expect("all are done")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_whatever_the_threads() {
        for threads in [0, 1, 2, 7] {
            let squares: Vec<usize> = (0..20).map(|n| n * n).collect();
            assert_eq!(map(threads, 20, |n| n * n), squares);
        }
    }
}
