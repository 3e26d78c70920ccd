//! A loop in parts on several arrays at a time: each runs a range of its iterations on copies of what
//! is loaded; what is stored is one stretch of elements a part, which is copied to where the home is.
//! (SDPNM paper, section 2: four arrays form a 2x2; which iterations go where it leaves open.)

use std::collections::{BTreeMap, BTreeSet};

use nbcc_analysis::{Affine, AffineForms};
use nbcc_ir::{Cfg, Function, Mem, Op, Storage};
use nbcc_isa_sdpnm::Machine;
use nbcc_isa_sdpnm::config::{ArrayKind, Opcode};

use super::place::Mapped;
use crate::arrays::facts::access::Subscript;
use crate::arrays::facts::evolution::Evolutions;
use crate::arrays::facts::rows;
use crate::arrays::facts::shape::Shape;
use crate::arrays::iteration::body::{Body, Node, Operand};
use crate::arrays::iteration::build::{Built, Outcome};

/// What a loop stores to an object: each iteration the elements behind those of the one before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The object.
    pub mem: Mem,
    /// The lowest element of the first iteration.
    pub start: Affine,
    /// Elements that each iteration adds, or each row, upwards or downwards.
    pub step: i32,
    /// Bytes of an element.
    pub bytes: u32,
}

/// What parts of a loop differ in, and what they leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Global registers with what words begin from that grow by as much in each iteration, and by what.
    pub counters: BTreeMap<usize, Operand>,
    /// What is copied at the end.
    pub stretches: Vec<Stretch>,
    /// How often all parts together run.
    pub trips: u32,
    /// Iterations that stay together: a row of a nest.
    pub period: u32,
    /// How much longer each part is than the one before, from the third on, in 256ths: while it runs, the
    /// results of that one are copied.
    pub growth: u32,
    /// Words that each of the arrays finds in its shared memory.
    pub spilled: u32,
}

/// A part as long as the one before, in the units of [`Parts::growth`].
const EVEN: u32 = 256;

/// Iterations a part from which on parts differ.
const MIN_UNEVEN: u64 = 32;

/// A part: the array, the first iteration, how many.
pub type Part = (u8, u32, u32);

impl Parts {
    /// The parts of a loop, if its iterations do not depend on each other, or those of different rows of so
    /// many do not, and if it loads only what the function never stores.
    pub fn new(func: &Function, shape: &Shape, built: &Built, rows: Option<u32>) -> Option<Parts> {
        let trips = built.trips?;
        let watched: Vec<usize> = built.watches.iter().map(|&(_, number)| number).collect();
        let counters = counters(&built.body, rows.is_some(), &watched)?;
        let is_known = |(_, outcome): &(_, Outcome)| matches!(outcome, Outcome::Last(_));
        let is_apart = built.body.orders.iter().all(|order| order.distance == 0);
        let reads = built.accesses.iter().filter(|access| !access.is_store);
        let is_ready = reads.map(|access| access.mem).all(|mem| is_never_stored(func, mem));
        let whole = built.results.iter().all(is_known) && is_apart && is_ready;
        let period = rows.unwrap_or(1);
        if !whole || trips % period != 0 {
            return None;
        }
        let stretches = stretches(func, shape, built, (trips, period))?;
        let spilled = built.spilled.len() as u32;
        Some(Parts { counters, stretches, trips, period, growth: EVEN, spilled })
    }

    /// The same parts of a loop that is mapped: each one is as much longer as copies take.
    pub fn paced(self, mapped: &Mapped, machine: &Machine) -> Parts {
        let bytes = |stretch: &Stretch| f64::from(stretch.step.unsigned_abs() * stretch.bytes);
        let all: f64 = self.stretches.iter().map(bytes).sum();
        let copying = all / f64::from(machine.shared.staging_bytes);
        let cycles = mapped.cycles * f64::from(self.period);
        let growth = f64::from(EVEN) * (1.0 + copying / cycles).min(2.0);
        Parts { growth: growth as u32, ..self }
    }

    /// The iterations of each of several arrays.
    pub fn of(&self, arrays: &[u8]) -> Vec<Part> {
        let count = arrays.len() as u64;
        let rows = u64::from(self.trips / self.period);
        let is_even = rows < MIN_UNEVEN * count;
        let growth = u64::from(if is_even { EVEN } else { self.growth });
        // How long parts are, and all before each.
        let mut size = 1 << 20;
        let mut ends = vec![0];
        for number in 0..count {
            if number > 1 {
                size = size * growth / u64::from(EVEN);
            }
            ends.push(ends[number as usize] + size);
        }
        let first =
            |number: usize| (rows * ends[number] / ends[count as usize]) as u32 * self.period;
        let part = |(number, &array): (usize, &u8)| {
            (array, first(number), first(number + 1) - first(number))
        };
        arrays.iter().enumerate().map(part).collect()
    }

    /// On how many of the arrays the loop takes the fewest cycles, about: the most that do.
    pub fn best<'a>(&self, mapped: &Mapped, arrays: &'a [u8], machine: &Machine) -> &'a [u8] {
        let cycles = |&count: &usize| {
            let parts = self.of(&arrays[..count]);
            let run = |part: &Part| f64::from(part.2) * mapped.cycles;
            if count == 1 {
                return run(&parts[0]) as u64;
            }
            // Each word for one array is made, and written; the mask of the arrays is.
            let words = count * (2 * self.counters.len() + 5) + 2;
            let copies = (4 * self.spilled).div_ceil(machine.shared.staging_bytes) + 7;
            let copied = if self.spilled > 0 { copies as usize * (count - 1) } else { 0 };
            let words = words + copied;
            let of = |part: &Part, stretch: &Stretch| {
                let bytes = u64::from(stretch.step.unsigned_abs()) * u64::from(stretch.bytes);
                let all = u64::from(part.2 / self.period).saturating_mul(bytes);
                all.div_ceil(machine.shared.staging_bytes.into()) + 8
            };
            // What a part stored is copied when it has ended, and what was before it is there.
            let end = parts[1..].iter().fold(run(&parts[0]) as u64, |end, part| {
                let copies = self.stretches.iter().map(|stretch| of(part, stretch));
                end.max(run(part) as u64) + copies.sum::<u64>()
            });
            end + words as u64
        };
        let most = arrays.len().min((self.trips / self.period).max(1) as usize);
        let best = (1..=most).rev().min_by_key(cycles).unwrap_or(1);
        &arrays[..best]
    }
}

/// The arrays that parts may run on, first the one that has the homes.
pub fn arrays(machine: &Machine, first: u8) -> Vec<u8> {
    let kinds = machine.arrays.kinds.iter().enumerate();
    let others = kinds.filter(|(number, kind)| {
        matches!(kind, ArrayKind::Fpea | ArrayKind::Spea) && *number != usize::from(first)
    });
    // As many as a mask has bits.
    let others = others.map(|(number, _)| number as u8).filter(|number| *number < 32);
    [first].into_iter().chain(others).collect()
}

/// Whether no store of the function is to an object whose contents are known before the call.
pub fn is_never_stored(func: &Function, mem: Mem) -> bool {
    let mut insts = func.layout.iter().flat_map(|&block| &func.blocks[block].insts);
    func.mems[mem].storage != Storage::Own
        && !insts.any(|&inst| match &func.insts[inst].op {
            Op::Load(..) | Op::Binary(..) => false,
            Op::Store(other, ..) => is_same_object(func, *other, mem),
            op => op.effect() != nbcc_ir::Effect::Pure && !matches!(op, Op::Intrinsic(_)),
        })
}

/// Whether one object is another one.
pub fn is_same_object(func: &Function, one: Mem, other: Mem) -> bool {
    let storage = func.mems[one].storage;
    one == other || matches!(storage, Storage::Object(_)) && func.mems[other].storage == storage
}

/// The registers with first values of words that grow by constants or by what does not change; `None`
/// where other values go from iteration to iteration, but for those that are computed ahead, and those
/// that rows begin with anew.
fn counters(body: &Body, has_rows: bool, watched: &[usize]) -> Option<BTreeMap<usize, Operand>> {
    let mut counters = BTreeMap::new();
    // Accumulators hold what the iterations before left.
    let goes_on = |node: &Node| node.op.accumulates() && !node.options.begin;
    if !has_rows && body.nodes.iter().any(goes_on) {
        return None;
    }
    for (number, node) in body.nodes.iter().enumerate() {
        // Each part has a greatest subscript of its own.
        let is_watched = node.export.is_some_and(|number| watched.contains(&number));
        let Some(initial) = node.initial.filter(|_| !is_watched) else { continue };
        let own = Operand::Node { node: number, distance: 1 };
        let step = match (node.op, node.in1, node.in2) {
            (Opcode::Add, word, step) | (Opcode::Add, step, word) if word == own => step,
            _ if has_rows => continue,
            _ => return None,
        };
        let is_fixed = matches!(step, Operand::Immediate(_) | Operand::Global(_) | Operand::None);
        let is_plain = node.ahead == 0 && node.condition.is_none() && node.in3.is_none();
        let known = counters.insert(initial, step);
        if !is_fixed || !is_plain || known.is_some_and(|known| known != step) {
            return None;
        }
    }
    // Nobody else reads these registers.
    let is_counter = |word: Operand| match word {
        Operand::Global(number) => counters.contains_key(&number),
        _ => false,
    };
    let mut edges = body.edges().into_iter();
    let is_free = edges.all(|edge| {
        let from = &body.nodes[edge.from];
        edge.distance == 0 || from.initial.is_some() || u32::from(from.ahead) >= edge.distance
    });
    let fine = is_free && !body.nodes.iter().any(|n| is_counter(n.in1) || is_counter(n.in2));
    fine.then_some(counters)
}

/// What a loop stores, if that is a stretch of elements of each object.
fn stretches(
    func: &Function,
    shape: &Shape,
    built: &Built,
    (trips, period): (u32, u32),
) -> Option<Vec<Stretch>> {
    let stores = || built.accesses.iter().filter(|access| access.is_store && access.node.is_some());
    let of_body = built.body.nodes.iter().filter(|node| node.op == Opcode::Store);
    let mut mems: BTreeMap<Mem, (Affine, i32, u32, BTreeSet<i32>)> = BTreeMap::new();
    if of_body.count() != stores().count() {
        return None;
    }
    let forms = AffineForms::new(func, &Cfg::new(func));
    let evolutions = Evolutions::new(func, shape, &forms);
    for store in stores() {
        let Subscript::Linear(evolution) = &store.subscript else { return None };
        let is_always = store.node.is_some_and(|node| built.body.nodes[node].condition.is_none());
        let turn = match (is_always, period) {
            (true, 1) => 0,
            (false, 2..) => rows::turn(func, shape, &evolutions, store.block, period)?,
            _ => return None,
        };
        // The elements of all rows.
        let element = |row: u32| rows::at(evolution, row * period + turn);
        let (constant, next) = (element(0)?, element(1)?);
        let step = next.wrapping_sub(constant);
        let is_even =
            |row: u32| element(row) == Some(constant.wrapping_add(step.wrapping_mul(row as i32)));
        let form = Affine { constant: 0, ..evolution.start.clone() };
        let new = (form.clone(), step, store.bytes, BTreeSet::new());
        let known = mems.entry(store.mem).or_insert(new);
        if (&known.0, known.1) != (&form, step) || !(0..trips / period).all(is_even) {
            return None;
        }
        known.3.insert(constant);
    }
    let stretch =
        |(mem, (form, step, bytes, constants)): (_, (Affine, i32, u32, BTreeSet<i32>))| {
            let (least, most) = (*constants.first()?, *constants.last()?);
            let count = step.unsigned_abs();
            let is_dense = constants.len() as u64 == u64::from(count)
                && i64::from(most) - i64::from(least) == i64::from(count) - 1;
            let start = Affine { constant: least, ..form };
            is_dense.then_some(Stretch { mem, start, step, bytes })
        };
    let found: Vec<Stretch> = mems.into_iter().map(stretch).collect::<Option<_>>()?;
    let is_read = |mem: Mem| built.accesses.iter().any(|a| !a.is_store && a.mem == mem);
    (!found.is_empty() && !found.iter().any(|stretch| is_read(stretch.mem))).then_some(found)
}
