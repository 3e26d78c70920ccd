//! The policy `best`: an instance goes where it will be over first, by what instances took lately on either
//! side, and by what it spares all others of a link.

use crate::monitor::Load;
use crate::policy::{Experience, MIN_INSTANCES, Question, Verdict, controlled};

/// To the side on which it will be over first. Warps are a fixed number of customers of two servers; where
/// each goes to the one that answers sooner, both are kept as busy as they can be used (Wardrop,
/// Proceedings of the Institution of Civil Engineers 1(3), 1952). That is best for each, not for all together,
/// unless each is also told what it costs the others, which is what [`spared`] adds (Pigou, The Economics of
/// Welfare, 1920).
pub fn faster(q: &Question<'_>) -> Verdict {
    let verdict = controlled(q);
    if verdict == Verdict::Channel {
        return verdict;
    }
    let Experience { home, held, .. } = q.experience;
    let goes = if home.count < MIN_INSTANCES || held.count == 0 {
        tries(q)
    } else {
        let goes = is_faster(q);
        if !q.again && q.number.is_multiple_of(trial(q.number)) {
            let few = q.pending < q.capacity.div_ceil(8);
            !goes && few && (q.tx.is_busy || q.rx.is_busy)
        } else {
            goes
        }
    };
    if goes { Verdict::Offload } else { Verdict::Warps }
}

/// Whether one goes of which too little is known. A stack gets as many as any multiprocessor has, so that
/// launches most of whose instances begin at once gain by it too; one of [`TRIED_PART`] of these where no more blocks
/// are to come, since the launch would wait for what is in stacks; all that it holds while a link that would be
/// spared is busy. The first of all stays: of a candidate that comes only once nothing is known in time.
fn tries(q: &Question<'_>) -> bool {
    let most = if q.coming > 0 { q.fair } else { q.fair.div_ceil(TRIED_PART) };
    let is_first = q.experience.held.count == 0 && q.pending < most && (q.number > 1 || q.again);
    let spares = q.tx.is_busy && q.entry.tag.tx || q.rx.is_busy && q.entry.tag.rx;
    q.pending < q.capacity && (is_first || spares)
}

/// Of a stack's share of what is tried first, one of so many goes where no block comes behind them. A single
/// one would find the stack empty and say little of what it holds.
const TRIED_PART: u32 = 16;

/// Of so many instances one goes to the side that seems the slower one, to see whether it still is: of the
/// first ones each [`TRIAL`]th, of more as many each time that their number has doubled, since what held for
/// long is not likely to change soon.
fn trial(number: u64) -> u64 {
    (number.next_power_of_two() / 16).max(TRIAL)
}

/// The least number of instances of which one is tried.
const TRIAL: u64 = 32;

/// By how much more than lately a stack may be asked to hold before it is expected to take longer for it.
const GROWTH: f64 = 1.5;

/// Whether it will be over sooner in the stack, or others gain more than it loses.
///
/// *There* it takes the way, or as long as those ahead need until a place is free, whichever is more, and its turn:
/// as lately, and in proportion longer where more are there, since what was seen of an empty stack does not hold for
/// a full one. *At home* it takes as long as lately, and as far as a link is in use in proportion to the
/// warps that are there: at the end of a launch few are, and what waits for a stack then is what the launch
/// waits for.
///
/// More than the stack holds may wait for it: instances often come all at once, when blocks begin, and what
/// is kept then does not come again. A loop comes again with its next trip, so that it needs wait for nothing but
/// what is served while it is on its way, and one turn.
fn is_faster(q: &Question<'_>) -> bool {
    let Experience { home, beside, held, way, ahead, .. } = q.experience;
    let (trips, capacity) = (q.trips as f64, f64::from(q.capacity));
    let there = f64::from(q.pending.min(q.capacity) + 1);
    let service = held.value * trips * (there / (GROWTH * ahead.value)).max(1.0);
    let turn = if q.turn > 0.0 { q.turn } else { held.value * trips };
    let queue = |requests: u32| f64::from(requests) * turn / capacity;
    let keeps_up = queue(q.pending) < turn + way.value;
    if !keeps_up && q.trips > 1 {
        return false;
    }
    let goes = way.value.max(queue(q.pending + 1)) + service;
    let used = q.rx.mean.max(q.tx.mean);
    let stays = home.value * trips * (1.0 - used + used * f64::from(q.at_home) / beside.value);
    // Who waits long spares nothing meanwhile.
    goes < stays + if keeps_up { spared(q) } else { 0.0 }
}

/// Cycles that all others wait less if an instance goes: what it takes less of each link, times those who wait
/// for it. Where customers come at random and one takes t of a server that is in use for a share u of the time, others
/// wait for t u / (1 - u)^2 more together (the derivative of their mean number u / (1 - u)); they are no more
/// than the warps that are there. Less than nothing where it takes more of a link.
fn spared(q: &Question<'_>) -> f64 {
    let did = q.history;
    let [address, answer] = q.packet.map(f64::from);
    let (loads, stores) = (did.loads as f64 * q.misses, did.stores as f64);
    let request = did.request_bytes as f64;
    let to = (loads + stores) * address + did.written as f64 - request;
    let from = loads * f64::from(q.line_bytes) + stores * answer - (did.bytes as f64 - request);
    let waits = |load: Load| {
        let idle = (1.0 - load.mean).max(f64::MIN_POSITIVE);
        (load.mean / (idle * idle)).min(q.at_home.into())
    };
    let share = q.trips as f64 / did.trips.max(1) as f64;
    share * (to * waits(q.tx) + from * waits(q.rx)) / q.bandwidth
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::tests::{BUSY, entry, question};
    use crate::policy::{History, Mean};

    fn mean(value: f64) -> Mean {
        Mean { count: MIN_INSTANCES, value }
    }

    /// `held` for a turn, `home` at home, with so many requests there when it was seen.
    fn known(held: f64, home: f64, ahead: f64) -> Experience {
        Experience {
            home: mean(home),
            beside: mean(1000.0),
            held: mean(held),
            way: mean(20.0),
            ahead: mean(ahead),
            ..Experience::default()
        }
    }

    #[test]
    fn what_is_not_known_is_tried() {
        let saves = entry(true, true);
        let fair = Question { fair: 5, number: 2, ..question(&saves) };
        assert_eq!(faster(&Question { number: 1, ..fair }), Verdict::Warps);
        assert_eq!(faster(&Question { number: 1, again: true, ..fair }), Verdict::Offload);
        assert_eq!(faster(&Question { pending: 4, ..fair }), Verdict::Offload);
        assert_eq!(faster(&Question { pending: 5, ..fair }), Verdict::Warps);
        assert_eq!(faster(&Question { pending: 48, fair: 60, ..fair }), Verdict::Warps);
        let last = Question { coming: 0, fair: 48, ..fair };
        assert_eq!(faster(&Question { pending: 2, ..last }), Verdict::Offload);
        assert_eq!(faster(&Question { pending: 3, ..last }), Verdict::Warps);
        let busy = Question { rx: BUSY, ..question(&saves) };
        assert_eq!(faster(&Question { pending: 47, ..busy }), Verdict::Offload);
        assert_eq!(faster(&Question { pending: 48, ..busy }), Verdict::Warps);
    }

    #[test]
    fn the_faster_side_is_taken() {
        let saves = entry(true, true);
        let of = |pending, experience| {
            let q = Question { pending, experience, at_home: 1000, ..question(&saves) };
            faster(&q) == Verdict::Offload
        };
        // 120 cycles with the way against 200.
        assert!(of(0, known(100.0, 200.0, 10.0)));
        assert!(!of(0, known(100.0, 119.0, 10.0)));
        // Half as many again as were seen take as long, thrice as many twice that, behind those ahead.
        assert!(of(14, known(100.0, 132.0, 10.0)));
        assert!(!of(29, known(100.0, 262.0, 10.0)));
        assert!(of(29, known(100.0, 263.0, 10.0)));
        // Where all places are taken twice it waits for two turns, with its own three.
        assert!(of(95, known(100.0, 301.0, 48.0)));
        assert!(!of(95, known(100.0, 299.0, 48.0)));
        // A loop does so only as long as it has to wait for one: it comes again.
        let loops = |pending, trips| {
            let experience = known(100.0, 900.0, 48.0);
            let q = Question { pending, trips, experience, at_home: 1000, ..question(&saves) };
            faster(&Question { turn: 100.0, ..q }) == Verdict::Offload
        };
        assert!(loops(57, 1) && loops(57, 2));
        assert!(loops(58, 1) && !loops(58, 2));
    }

    #[test]
    fn few_at_home_are_served_sooner() {
        let saves = entry(true, true);
        let experience = known(120.0, 200.0, 50.0);
        let history = History { instances: 1, trips: 1, bytes: 1, ..History::default() };
        let of = |mean, at_home| {
            let rx = Load { share: mean, mean, is_busy: false };
            let q = Question { rx, at_home, experience, history, ..question(&saves) };
            faster(&q) == Verdict::Offload
        };
        assert!(of(0.5, 1000) && of(0.0, 500));
        assert!(!of(0.9, 500));
    }

    #[test]
    fn trials_look_at_the_other_side() {
        let saves = entry(true, true);
        let of = |number, rx, home| {
            let experience = known(100.0, home, 10.0);
            let q = Question { number, rx, experience, at_home: 1000, ..question(&saves) };
            faster(&q) == Verdict::Offload
        };
        assert!(of(TRIAL, BUSY, 20.0) && !of(TRIAL + 1, BUSY, 20.0));
        assert!(!of(TRIAL, Load::default(), 20.0) && !of(TRIAL, Load::default(), 200.0));
        // Fewer later on.
        assert!(!of(256 * TRIAL - TRIAL, BUSY, 20.0) && of(256 * TRIAL, BUSY, 20.0));
    }

    #[test]
    fn links_that_are_spared_have_a_price() {
        let saves = entry(true, true);
        // Four lines loaded and two written for a request of 300 bytes and an answer of 60, twice.
        let history = History {
            instances: 2,
            trips: 2,
            bytes: 720,
            request_bytes: 600,
            loads: 8,
            stores: 4,
            written: 512,
            ..History::default()
        };
        let of = |tx: f64, rx: f64, trips, misses| {
            let load = |mean| Load { share: mean, mean, is_busy: false };
            spared(&Question {
                tx: load(tx),
                rx: load(rx),
                trips,
                misses,
                bandwidth: 100.0,
                at_home: 1000,
                history,
                ..question(&saves)
            })
        };
        assert_eq!(of(0.0, 0.0, 1, 1.0), 0.0);
        // On the way there 6 addresses and 256 bytes against 300, back 4 lines and 2 answers against 60.
        assert!((of(0.5, 0.0, 1, 1.0) - (280.0 - 300.0) / 100.0 * 2.0).abs() < 1e-9);
        assert!((of(0.0, 0.5, 1, 1.0) - (514.0 - 60.0) / 100.0 * 2.0).abs() < 1e-9);
        assert!((of(0.0, 0.5, 3, 1.0) - 3.0 * (514.0 - 60.0) / 100.0 * 2.0).abs() < 1e-9);
        // What the shared cache holds crosses no link.
        assert!((of(0.0, 0.5, 1, 0.25) - (130.0 - 60.0) / 100.0 * 2.0).abs() < 1e-9);
        // No more wait than are there.
        assert!((of(0.0, 1.0, 1, 1.0) - (514.0 - 60.0) / 100.0 * 1000.0).abs() < 1e-9);
        assert!(of(0.9, 0.9, 1, 1.0) > of(0.8, 0.8, 1, 1.0));
    }
}
