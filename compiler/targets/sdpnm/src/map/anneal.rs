//! Placement by simulated annealing (Kirkpatrick, Gelatt and Vecchi, 1983; for such arrays Mei et
//! al., "DRESC", 2002), given the cycle of each operation. Routes are items of the board like
//! operations: they are moved, inserted and removed, and take cells. The cost is how far readers are
//! from where they could read; at 0 every reader reads, and the board is a mapping.

use super::broadcast::Seating;
use super::budget::Clock;
use super::colours::{self, Painted};
use super::dfg::{Dfg, Grid};
use super::placement::{Carrier, Hop, Placement};
use super::random::Random;

/// No item.
const NONE: u32 = u32::MAX;
/// The cost of a hop too far.
const HOP_COST: i32 = 16;
/// The cost of a route.
const ROUTE_COST: i32 = 2;
/// The cost of a register that a PE does not have.
const REGISTER_COST: i32 = 12;

/// An operation or a route.
#[derive(Clone, Copy, Debug)]
struct Item {
    pe: usize,
    time: i64,
    /// The operation whose value it computes or carries.
    value: usize,
}

/// Where a value waits: who put it there when, and in how many registers.
#[derive(Clone, Copy, Debug)]
struct Ring {
    pe: usize,
    held: i64,
    registers: i32,
}

/// Operations and routes on the cells (slot, PE).
pub struct Board<'a> {
    dfg: &'a Dfg,
    grid: &'a Grid,
    ii: i64,
    /// The colours that operations and routes stand on, where they have any.
    painted: Option<Painted>,
    /// Operations by number, then routes; a removed route stays until its number is used again.
    items: Vec<Item>,
    unused: Vec<u32>,
    /// The item of each cell, slot by slot.
    cells: Vec<u32>,
    /// Who holds each value: its operation first.
    holders: Vec<Vec<u32>>,
    /// Who reads each value: the operation, when, and of how many iterations before.
    readers: Vec<Vec<(u32, i64, i64)>>,
    /// When each value is read last.
    last: Vec<i64>,
    /// The values whose cost an operation's place enters.
    touches: Vec<Vec<u32>>,
    cost: Vec<i32>,
    /// The values of a cost, and where they stand in this list.
    bad: Vec<u32>,
    bad_at: Vec<u32>,
    total: i64,
    routes: Vec<u32>,
    route_at: Vec<u32>,
    /// Where each value waits, and in how many registers there.
    rings: Vec<Vec<Ring>>,
    /// Registers that values wait in, by PE, and those that there are too many.
    kept: Vec<i32>,
    over: i32,
    /// When and where the value is held that is looked at.
    held: Vec<(i64, usize)>,
    /// What the last move changed, to take it back.
    journal: Journal,
    /// The number of the move, and that of the last one that changed each value.
    number: u64,
    changed: Vec<u64>,
    looks: u64,
}

/// What the values that a move changed cost before it, and where they waited.
#[derive(Debug, Default)]
struct Journal {
    was: Vec<(usize, i32, Vec<Ring>)>,
    /// Looks that the move took.
    looks: u64,
    /// Lists to be used again.
    spare: Vec<Vec<Ring>>,
}

/// Looks that take as long as what is done for a value beside them.
const EACH: usize = 8;

/// What a move did, to take it back.
enum Undo {
    Swap { item: u32, from: usize },
    Retime { item: u32, pe: usize, time: i64 },
    Insert { item: u32 },
    Remove { item: u32, old: Item },
}

impl<'a> Board<'a> {
    /// Operations at their times on the PEs where they are seated, or on random ones. `None` where a
    /// slot has more than there are.
    pub fn new(
        dfg: &'a Dfg,
        grid: &'a Grid,
        ii: i64,
        time: &[i64],
        seating: Option<&Seating>,
        random: &mut Random,
    ) -> Option<Board<'a>> {
        let n = dfg.len();
        let mut board = Board {
            dfg,
            grid,
            ii,
            painted: Painted::new(dfg, grid, ii, time),
            items: Vec::with_capacity(2 * n),
            unused: Vec::new(),
            cells: vec![NONE; ii as usize * grid.pes],
            holders: (0..n).map(|op| vec![op as u32]).collect(),
            readers: vec![Vec::new(); n],
            last: vec![0; n],
            touches: vec![Vec::new(); n],
            cost: vec![0; n],
            bad: Vec::new(),
            bad_at: vec![NONE; n],
            total: 0,
            routes: Vec::new(),
            route_at: vec![NONE; n],
            rings: vec![Vec::new(); n],
            kept: vec![0; grid.pes],
            over: 0,
            held: Vec::new(),
            journal: Journal::default(),
            number: 1,
            changed: vec![0; n],
            looks: 0,
        };
        let mut free: Vec<Vec<usize>> = vec![(0..grid.pes).collect(); ii as usize];
        let seated = |op: usize| seating.and_then(|seating| seating.pe[op]);
        for (op, &time) in time.iter().enumerate() {
            if let Some(seat) = seated(op) {
                free[time.rem_euclid(ii) as usize].retain(|&pe| pe != seat);
            }
        }
        for (op, &time) in time.iter().enumerate() {
            let free = &mut free[time.rem_euclid(ii) as usize];
            if free.is_empty() && seated(op).is_none() {
                return None;
            }
            let pe = match seated(op) {
                Some(seat) => seat,
                None => {
                    let first = random.below(free.len());
                    let all = (first..free.len()).chain(0..first);
                    let right = all.into_iter().find(|&at| board.is_right(op, time, free[at]));
                    free.swap_remove(right.unwrap_or(first))
                }
            };
            board.items.push(Item { pe, time, value: op });
            let cell = board.cell(time, pe);
            board.cells[cell] = op as u32;
        }
        for e in &dfg.edges {
            let at = time[e.to] + e.distance * ii;
            board.last[e.from] = board.last[e.from].max(at);
            if !board.readers[e.from].contains(&(e.to as u32, at, e.distance)) {
                board.readers[e.from].push((e.to as u32, at, e.distance));
            }
        }
        for op in 0..n {
            let mut touches: Vec<u32> =
                dfg.into[op].iter().map(|&e| dfg.edges[e].from as u32).collect();
            touches.push(op as u32);
            touches.sort_unstable();
            touches.dedup();
            board.touches[op] = touches;
        }
        for &(value, pe, time) in seating.iter().flat_map(|seating| &seating.routes) {
            if board.cells[board.cell(time, pe)] == NONE {
                board.insert(Item { pe, time, value });
            }
        }
        board.first_routes(random);
        for value in 0..n {
            board.update(value);
        }
        Some(board)
    }

    /// One route for each cycle that a value has to live without a register (interval 1), or one for
    /// each value that lives longer than a cycle.
    fn first_routes(&mut self, random: &mut Random) {
        for value in 0..self.dfg.len() {
            if self.holders[value].len() > 1 {
                continue;
            }
            let born = self.items[value].time;
            let others = self.readers[value].iter().filter(|r| r.0 as usize != value);
            let last = others.map(|r| r.1).max().unwrap_or(born);
            let cycles = if self.ii == 1 { last - born - 1 } else { (last - born - 1).min(1) };
            for cycle in 1..=cycles {
                let slot = (born + cycle).rem_euclid(self.ii) as usize;
                let cells = &self.cells[slot * self.grid.pes..(slot + 1) * self.grid.pes];
                let start = random.below(self.grid.pes);
                let free = (0..self.grid.pes)
                    .map(|pe| (pe + start) % self.grid.pes)
                    .find(|&pe| cells[pe] == NONE && self.is_right(value, born + cycle, pe));
                if let Some(pe) = free {
                    self.insert(Item { pe, time: born + cycle, value });
                }
            }
        }
    }

    /// Whether a PE has the colour on which what holds a value at a cycle has to stand.
    #[inline]
    fn is_right(&self, value: usize, time: i64, pe: usize) -> bool {
        let is_right = |p: &Painted| p.colour(value, time) == colours::of_pe(self.grid, pe);
        self.painted.as_ref().is_none_or(is_right)
    }

    #[inline]
    fn cell(&self, time: i64, pe: usize) -> usize {
        time.rem_euclid(self.ii) as usize * self.grid.pes + pe
    }

    fn insert(&mut self, item: Item) -> u32 {
        let number = match self.unused.pop() {
            Some(number) => {
                self.items[number as usize] = item;
                number
            }
            None => {
                self.items.push(item);
                self.route_at.push(NONE);
                (self.items.len() - 1) as u32
            }
        };
        let cell = self.cell(item.time, item.pe);
        self.cells[cell] = number;
        self.holders[item.value].push(number);
        self.route_at[number as usize] = self.routes.len() as u32;
        self.routes.push(number);
        self.total += i64::from(ROUTE_COST);
        number
    }

    fn remove(&mut self, number: u32) -> Item {
        let item = self.items[number as usize];
        let cell = self.cell(item.time, item.pe);
        self.cells[cell] = NONE;
        let holders = &mut self.holders[item.value];
        let at = holders.iter().position(|&h| h == number).expect("a holder");
        holders.remove(at);
        let at = self.route_at[number as usize] as usize;
        self.routes.swap_remove(at);
        if let Some(&moved) = self.routes.get(at) {
            self.route_at[moved as usize] = at as u32;
        }
        self.route_at[number as usize] = NONE;
        self.unused.push(number);
        self.total -= i64::from(ROUTE_COST);
        item
    }

    /// When and where a value is held.
    fn hold(&self, value: usize, held: &mut Vec<(i64, usize)>) {
        held.clear();
        let items = self.holders[value].iter().map(|&holder| &self.items[holder as usize]);
        held.extend(items.map(|item| (item.time, item.pe)));
    }

    /// How far a reader on `pe` at `time` is from the closest of those who hold a value, and which one it
    /// reads, the latest.
    #[inline]
    fn miss(&self, held: &[(i64, usize)], pe: usize, time: i64) -> (i32, i64) {
        let (mut best, mut latest) = (i32::MAX, i64::MIN);
        for &(since, holder) in held {
            let wait = time - since;
            if wait < 1 {
                continue;
            }
            let d = self.grid.distance(holder, pe);
            let miss = if wait == 1 { (d - self.grid.radius).max(0) } else { d };
            if miss == 0 && wait == 1 {
                return (0, since);
            }
            best = best.min(miss);
            if miss == 0 {
                latest = latest.max(since);
            }
        }
        (best, latest)
    }

    /// What a value costs by itself, and the registers that it waits in.
    fn cost_of(&self, value: usize, held: &[(i64, usize)], rings: &mut Vec<Ring>) -> i32 {
        let mut cost = 0;
        let mut read = |pe: usize, time: i64, ago: i64| {
            let (miss, since) = self.miss(held, pe, time);
            cost += miss;
            let wait = time.wrapping_sub(since);
            if miss > 0 || wait == 1 {
                return;
            }
            // A ring has a register for each iteration that begins meanwhile.
            let registers = ((wait + self.ii - 1) / self.ii).max(ago + 1) as i32;
            match rings.iter_mut().find(|ring| (ring.pe, ring.held) == (pe, since)) {
                Some(ring) => ring.registers = ring.registers.max(registers),
                None => rings.push(Ring { pe, held: since, registers }),
            }
        };
        for &(reader, time, ago) in &self.readers[value] {
            read(self.items[reader as usize].pe, time, ago);
        }
        for &(time, pe) in &held[1..] {
            read(pe, time, 0);
        }
        cost * HOP_COST
    }

    /// Takes registers of a PE, or gives them back.
    fn keep(&mut self, pe: usize, by: i32) {
        let registers = self.grid.array.registers as i32;
        let over = |kept: i32| (kept - registers).max(0);
        let more = over(self.kept[pe] + by) - over(self.kept[pe]);
        self.kept[pe] += by;
        self.over += more;
        self.total += i64::from(REGISTER_COST * more);
    }

    fn is_done(&self) -> bool {
        self.bad.is_empty() && self.over == 0
    }

    /// Looks that it takes to find out what a value costs.
    fn looks_for(&self, value: usize) -> u64 {
        let holders = self.holders[value].len();
        (EACH + holders * (self.readers[value].len() + holders - 1)) as u64
    }

    /// Finds out what a value costs where things stand now. Once a move is all that there is to do: it has put
    /// everything in its place before.
    fn update(&mut self, value: usize) {
        let looks = self.looks_for(value);
        self.looks += looks;
        self.journal.looks += looks;
        if std::mem::replace(&mut self.changed[value], self.number) == self.number {
            return;
        }
        let mut rings = self.journal.spare.pop().unwrap_or_default();
        let mut held = std::mem::take(&mut self.held);
        self.hold(value, &mut held);
        let cost = self.cost_of(value, &held, &mut rings);
        self.held = held;
        let (cost, rings) = self.set(value, cost, rings);
        self.journal.was.push((value, cost, rings));
    }

    /// Notes what a value costs, and where it waits; what it was before.
    fn set(&mut self, value: usize, cost: i32, rings: Vec<Ring>) -> (i32, Vec<Ring>) {
        let old = std::mem::replace(&mut self.rings[value], rings);
        old.iter().for_each(|ring| self.keep(ring.pe, -ring.registers));
        for at in 0..self.rings[value].len() {
            let Ring { pe, registers, .. } = self.rings[value][at];
            self.keep(pe, registers);
        }
        let before = std::mem::replace(&mut self.cost[value], cost);
        self.total += i64::from(cost - before);
        let at = self.bad_at[value];
        if cost > 0 && at == NONE {
            self.bad_at[value] = self.bad.len() as u32;
            self.bad.push(value as u32);
        } else if cost == 0 && at != NONE {
            self.bad.swap_remove(at as usize);
            if let Some(&moved) = self.bad.get(at as usize) {
                self.bad_at[moved as usize] = at;
            }
            self.bad_at[value] = NONE;
        }
        (before, old)
    }

    /// Begins a move: what the one before changed stays.
    fn begin(&mut self) {
        self.number += 1;
        self.journal.looks = 0;
        while let Some((.., mut rings)) = self.journal.was.pop() {
            rings.clear();
            self.journal.spare.push(rings);
        }
    }

    /// Lets values cost what they did before the move, whose items are back.
    fn restore(&mut self) {
        let mut was = std::mem::take(&mut self.journal.was);
        for (value, cost, rings) in was.drain(..) {
            let (_, mut rings) = self.set(value, cost, rings);
            rings.clear();
            self.journal.spare.push(rings);
        }
        self.journal.was = was;
    }

    fn update_of(&mut self, item: u32) {
        let item = item as usize;
        if item < self.dfg.len() {
            for t in 0..self.touches[item].len() {
                self.update(self.touches[item][t] as usize);
            }
        } else {
            self.update(self.items[item].value);
        }
    }

    /// Exchanges what stands on an item's cell and on `pe` in the same slot.
    fn swap(&mut self, item: u32, pe: usize) {
        let other = self.exchange(item, pe);
        if other != NONE {
            self.update_of(other);
        }
        self.update_of(item);
    }

    /// The same without finding out what it costs; what stood on `pe`.
    fn exchange(&mut self, item: u32, pe: usize) -> u32 {
        let Item { pe: from, time, .. } = self.items[item as usize];
        let (a, b) = (self.cell(time, from), self.cell(time, pe));
        let other = self.cells[b];
        self.cells[a] = other;
        self.cells[b] = item;
        self.items[item as usize].pe = pe;
        if other != NONE {
            self.items[other as usize].pe = from;
        }
        other
    }

    /// Puts a route on a free cell.
    fn retime(&mut self, item: u32, pe: usize, time: i64) {
        let old = self.items[item as usize];
        let (a, b) = (self.cell(old.time, old.pe), self.cell(time, pe));
        self.cells[a] = NONE;
        self.cells[b] = item;
        self.items[item as usize] = Item { pe, time, ..old };
    }

    /// A PE near something that has to do with an item of `value`.
    fn target(&self, item: u32, random: &mut Random) -> usize {
        if random.chance(40) {
            return random.below(self.grid.pes);
        }
        let item = item as usize;
        let value = self.items[item].value;
        let is_route = item >= self.dfg.len();
        let (readers, holders) = (&self.readers[value], &self.holders[value]);
        let into = if is_route { &[][..] } else { &self.dfg.into[item][..] };
        let choice = random.below(readers.len() + holders.len() + into.len());
        let other = if choice < readers.len() {
            readers[choice].0 as usize
        } else if choice < readers.len() + holders.len() {
            holders[choice - readers.len()] as usize
        } else {
            let producer = self.dfg.edges[into[choice - readers.len() - holders.len()]].from;
            let holders = &self.holders[producer];
            holders[random.below(holders.len())] as usize
        };
        let near = &self.grid.near[self.items[other].pe];
        near[random.below(near.len())]
    }

    /// An item of a value that some reader misses, or any.
    fn pick(&self, random: &mut Random) -> u32 {
        let n = self.dfg.len();
        if self.over > 0 && random.chance(64) {
            // What waits where there are too few registers.
            for _ in 0..8 {
                let value = random.below(n);
                let registers = self.grid.array.registers as i32;
                if self.rings[value].iter().any(|ring| self.kept[ring.pe] > registers) {
                    let holders = &self.holders[value];
                    return holders[random.below(holders.len())];
                }
            }
        }
        if self.bad.is_empty() || random.chance(128) {
            let any = random.below(n + self.routes.len());
            return if any < n { any as u32 } else { self.routes[any - n] };
        }
        let value = self.bad[random.below(self.bad.len())] as usize;
        let (readers, holders) = (&self.readers[value], &self.holders[value]);
        let choice = random.below(readers.len() + holders.len());
        if choice < readers.len() { readers[choice].0 } else { holders[choice - readers.len()] }
    }

    /// Changes something; `None` where the change was not possible.
    fn step(&mut self, random: &mut Random) -> Option<Undo> {
        if random.chance(24) {
            return self.step_routes(random);
        }
        let item = self.pick(random);
        let old = self.items[item as usize];
        let pe = self.target(item, random);
        let is_route = item as usize >= self.dfg.len();
        if is_route && self.ii > 1 && random.chance(96) {
            let (time, pe) = self.some_cell(old.value, random)?;
            if self.cells[self.cell(time, pe)] != NONE {
                return None;
            }
            self.retime(item, pe, time);
            self.update(old.value);
            return Some(Undo::Retime { item, pe: old.pe, time: old.time });
        }
        if pe == old.pe || !self.is_right(old.value, old.time, pe) {
            return None;
        }
        self.swap(item, pe);
        Some(Undo::Swap { item, from: old.pe })
    }

    /// Where and when a route of `value` may run. Mostly where it helps one of the readers: as early as
    /// the value can be handed on, on the reader's PE, which then keeps it; or as late as that, on the
    /// PE that keeps it.
    fn some_cell(&self, value: usize, random: &mut Random) -> Option<(i64, usize)> {
        let born = self.items[value].time;
        let life = self.last[value] - born;
        if life < 2 {
            return None;
        }
        let (reader, read, _) = self.readers[value][random.below(self.readers[value].len())];
        let holders = &self.holders[value];
        let holder = &self.items[holders[random.below(holders.len())] as usize];
        let kind = random.below(4);
        if kind == 0 || read < holder.time + 2 {
            let time = born + 1 + random.below((life - 1) as usize) as i64;
            return Some((time, self.target(value as u32, random)));
        }
        let reader = self.items[reader as usize].pe;
        let near = |pe: usize, random: &mut Random| {
            let near = &self.grid.near[pe];
            near[random.below(near.len())]
        };
        Some(match kind {
            1 => (holder.time + 1, reader),
            2 => (read - 1, holder.pe),
            _ if random.chance(128) => (holder.time + 1, near(holder.pe, random)),
            _ => (read - 1, near(reader, random)),
        })
    }

    fn step_routes(&mut self, random: &mut Random) -> Option<Undo> {
        if !self.routes.is_empty() && random.chance(96) {
            let item = self.routes[random.below(self.routes.len())];
            let old = self.remove(item);
            self.update(old.value);
            return Some(Undo::Remove { item, old });
        }
        let value = *self.bad.get(random.below(self.bad.len().max(1)))? as usize;
        let (time, pe) = self.some_cell(value, random)?;
        if self.cells[self.cell(time, pe)] != NONE || !self.is_right(value, time, pe) {
            return None;
        }
        let item = self.insert(Item { pe, time, value });
        self.update(value);
        Some(Undo::Insert { item })
    }

    /// Takes the last move back.
    fn undo(&mut self, undo: Undo) {
        // Looks that it would take to find out again what was known.
        self.looks += match undo {
            Undo::Swap { item, from } => {
                self.exchange(item, from);
                self.journal.looks
            }
            Undo::Retime { item, pe, time } => {
                self.retime(item, pe, time);
                self.journal.looks
            }
            Undo::Insert { item } => {
                let old = self.remove(item);
                self.looks_for(old.value)
            }
            Undo::Remove { item, old } => {
                let number = self.insert(old);
                debug_assert_eq!(number, item);
                self.looks_for(old.value)
            }
        };
        self.restore();
    }

    /// Anneals for that many moves, or until so many looks have been taken or the time is over. True as soon as
    /// every reader reads.
    pub fn run(
        &mut self,
        (moves, looks): (usize, u64),
        cooling: Cooling,
        clock: &Clock,
        random: &mut Random,
    ) -> bool {
        let quantiles = quantiles();
        let stages = 100;
        for stage in 0..stages {
            let t =
                cooling.from * (cooling.to / cooling.from).powf(stage as f64 / (stages - 1) as f64);
            for step in 0..moves / stages {
                if self.is_done() {
                    return true;
                }
                if self.looks > looks || step % 4096 == 0 && clock.is_over() {
                    return false;
                }
                let before = self.total;
                self.begin();
                let Some(undo) = self.step(random) else { continue };
                let worse = (self.total - before) as f64;
                if worse > 0.0 && worse > t * quantiles[random.below(quantiles.len())] {
                    self.undo(undo);
                }
            }
        }
        self.is_done()
    }

    /// How often it was looked whether a reader reads one who holds a value, and what takes as long.
    pub fn looks(&self) -> u64 {
        self.looks
    }

    /// The sum of all misses, in hops.
    pub fn missing(&self) -> i64 {
        self.cost.iter().map(|&c| i64::from(c)).sum::<i64>() / i64::from(HOP_COST)
    }

    /// The edges whose consumer misses its value.
    pub fn missed_edges(&self) -> Vec<usize> {
        let mut held = Vec::new();
        let missed = |e: &usize| {
            let edge = &self.dfg.edges[*e];
            let reader = self.items[edge.to];
            self.hold(edge.from, &mut held);
            self.miss(&held, reader.pe, reader.time + edge.distance * self.ii).0 > 0
        };
        (0..self.dfg.edges.len()).filter(missed).collect()
    }

    /// The board as a mapping, without routes that nothing reads. Every reader reads.
    pub fn placement(&self) -> Placement {
        let ops = &self.items[..self.dfg.len()];
        let mut carriers = Vec::new();
        for &route in &self.routes {
            let r = &self.items[route as usize];
            carriers.push(Carrier { value: r.value, pe: r.pe, time: r.time, from: Hop::Producer });
        }
        let time = ops.iter().map(|item| item.time).collect();
        let pe = ops.iter().map(|item| item.pe).collect();
        Placement::connect(self.dfg, self.grid, self.ii, time, pe, carriers)
    }
}

/// Temperatures, in units of cost.
#[derive(Clone, Copy, Debug)]
pub struct Cooling {
    /// At first.
    pub from: f64,
    /// In the end.
    pub to: f64,
}

/// Quantiles of the exponential distribution: what `-ln(u)` gives for evenly spread `u`.
fn quantiles() -> [f64; 1024] {
    std::array::from_fn(|i| -((i as f64 + 0.5) / 1024.0).ln())
}

#[cfg(test)]
mod tests {
    use nbcc_isa_sdpnm::{Array, Links};

    use super::*;
    use crate::map::dfg::Dep;

    /// What everything costs where things stand, and the registers that there are too many, found out anew.
    fn anew(board: &Board<'_>) -> (i64, i32) {
        let (mut cost, mut held, mut rings) = (0, Vec::new(), Vec::new());
        let mut kept = vec![0; board.grid.pes];
        for value in 0..board.dfg.len() {
            board.hold(value, &mut held);
            rings.clear();
            cost += i64::from(board.cost_of(value, &held, &mut rings));
            rings.iter().for_each(|ring| kept[ring.pe] += ring.registers);
        }
        let registers = board.grid.array.registers as i32;
        let over = kept.iter().map(|kept| (kept - registers).max(0)).sum();
        (
            cost + i64::from(ROUTE_COST) * board.routes.len() as i64
                + i64::from(REGISTER_COST * over),
            over,
        )
    }

    #[test]
    fn what_a_move_changed_is_as_before_once_it_is_taken_back() {
        let mut random = Random::new(7);
        let time: Vec<i64> = (0..20).map(|op| op / 2).collect();
        let edges: Vec<Dep> = (0..40)
            .map(|edge| {
                let (from, to) = (random.below(20), random.below(20));
                let back = i64::from(time[to] <= time[from]);
                Dep { from, to, distance: back * (time[from] - time[to] + 3) / 3, edge }
            })
            .collect();
        let ends = |end: fn(&Dep) -> usize| {
            let of = |op| edges.iter().filter(|e| end(e) == op).map(|e| e.edge).collect();
            (0..20).map(of).collect::<Vec<Vec<usize>>>()
        };
        let none = vec![Vec::new(); 20];
        let dfg = Dfg {
            node: (0..20).collect(),
            is_memory: vec![false; 20],
            out: ends(|e| e.from),
            into: ends(|e| e.to),
            edges,
            orders: Vec::new(),
            orders_out: none.clone(),
            orders_into: none,
            banks: None,
        };
        let array = Array {
            rows: 4,
            columns: 4,
            links: Links::Sdpnm,
            registers: 2,
            memory_ports: 16,
            contexts: 64,
        };
        let grid = Grid::new(&array);
        let mut board = Board::new(&dfg, &grid, 3, &time, None, &mut random).expect("room");
        let mut taken_back = 0;
        for _ in 0..3000 {
            let before = (board.total, board.over, board.bad.len());
            board.begin();
            let Some(undo) = board.step(&mut random) else { continue };
            assert_eq!((board.total, board.over), anew(&board));
            if random.chance(160) {
                board.undo(undo);
                assert_eq!((board.total, board.over, board.bad.len()), before);
                taken_back += 1;
            }
            assert_eq!((board.total, board.over), anew(&board));
        }
        assert!(taken_back > 100 && !board.routes.is_empty(), "{taken_back}");
    }
}
