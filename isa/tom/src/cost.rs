//! What offloading a range costs and saves on the channels between GPU and memory (TOM paper,
//! section 3.1.1, equations 3 and 4). All amounts are words of 4 bytes; less than nothing is a saving.

use crate::machine::Cost;

/// What a range takes, leaves and accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amounts {
    /// Registers that are sent to memory with a request.
    pub registers_in: u64,
    /// Registers that come back.
    pub registers_out: u64,
    /// Loads.
    pub loads: u64,
    /// Stores.
    pub stores: u64,
}

/// The change of traffic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traffic {
    /// To memory.
    pub tx: f64,
    /// From memory.
    pub rx: f64,
}

impl Traffic {
    /// On both channels.
    pub fn total(self) -> f64 {
        self.tx + self.rx
    }

    /// Whether less is moved.
    pub fn pays(self) -> bool {
        self.total() < 0.0
    }
}

/// What a load saves on each channel.
pub fn load(cost: &Cost) -> Traffic {
    let lines = cost.coalescing_loads * cost.load_misses;
    Traffic { tx: lines, rx: lines * f64::from(cost.line_words) }
}

/// What a store saves on each channel.
pub fn store(cost: &Cost) -> Traffic {
    let lines = cost.coalescing_stores;
    Traffic { tx: f64::from(cost.warp_words) + lines, rx: cost.acknowledgment * lines }
}

/// The change when a range runs beside memory, its accesses `trips` times.
pub fn traffic(cost: &Cost, amounts: &Amounts, trips: u64) -> Traffic {
    let (load, store) = (load(cost), store(cost));
    let times = |count: u64| count as f64 * trips as f64;
    let register = f64::from(cost.warp_words);
    let saved = |load: f64, store: f64| times(amounts.loads) * load + times(amounts.stores) * store;
    Traffic {
        tx: amounts.registers_in as f64 * register - saved(load.tx, store.tx),
        rx: amounts.registers_out as f64 * register - saved(load.rx, store.rx),
    }
}

/// The least number of trips from which a range pays; `None` if it never does.
pub fn threshold(cost: &Cost, amounts: &Amounts) -> Option<u64> {
    let none = Amounts { loads: 0, stores: 0, ..*amounts };
    let fixed = traffic(cost, &none, 1).total();
    let saved = fixed - traffic(cost, amounts, 1).total();
    if saved <= 0.0 {
        return None;
    }
    // Beyond this, numbers of trips cannot be told from each other.
    const MOST: f64 = (1_u64 << 52) as f64;
    if fixed / saved > MOST {
        return None;
    }
    let mut trips = ((fixed / saved) as u64).saturating_sub(1).max(1);
    while !traffic(cost, amounts, trips).pays() {
        trips += 1;
    }
    Some(trips)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Machine;

    /// The worked example of section 3.1.5: five live-ins, a load, a store.
    #[test]
    fn libor_pays_from_four_trips_on() {
        let cost = Machine::built_in("tom").cost;
        let libor = Amounts { registers_in: 5, registers_out: 0, loads: 1, stores: 1 };
        let at = |trips| traffic(&cost, &libor, trips);
        assert_eq!((at(1).tx, at(1).rx, at(1).total()), (126.5, -16.25, 110.25));
        assert_eq!((at(3).tx, at(3).rx, at(3).total()), (59.5, -48.75, 10.75));
        assert_eq!((at(4).tx, at(4).rx, at(4).total()), (26.0, -65.0, -39.0));
        assert_eq!(threshold(&cost, &libor), Some(4));
        assert!(at(5).tx < 0.0);
        // y = a * x + y on three registers never pays, a butterfly on two pointers does.
        let saxpy = Amounts { registers_in: 3, registers_out: 0, loads: 2, stores: 1 };
        let butterfly = Amounts { registers_in: 2, registers_out: 0, loads: 2, stores: 2 };
        assert_eq!(traffic(&cost, &saxpy, 1).total(), 96.0 - 66.25);
        assert_eq!(traffic(&cost, &butterfly, 1).total(), 64.0 - 99.5);
        assert_eq!(threshold(&cost, &Amounts { registers_in: 1, ..Amounts::default() }), None);
        // Next to nothing saved is nothing saved.
        let least = Cost { load_misses: 1e-20, ..cost };
        let load = Amounts { registers_in: 1, loads: 1, ..Amounts::default() };
        assert_eq!(threshold(&least, &load), None);
    }
}
