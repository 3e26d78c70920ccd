//! A loop of the IR as operations of PEs, on demand from what leaves an iteration: stores, and values
//! that the next iteration or the code behind the loop reads. Branches become bits: values that meet
//! are chosen by `mux`, stores run under a condition.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use cranelift_entity::SecondaryMap;
use nbcc_analysis::{Affine, ValueRanges};
use nbcc_base::Span;
use nbcc_ir::{Block, Function, Inst, Mem, Op, Scalar, Type, Value, ValueDef};
use nbcc_isa_sdpnm::config::{Opcode, Options};

use super::accumulate;
use super::body::{Body, Global, Node, Numbers, Operand, Part};
use super::fuse;
use super::lines;
use super::pairs;
use super::reassociate;
use super::registers;
use super::reuse::{Reuse, reuses};
use super::spread;
use super::terms::{Facts, Terms};
use crate::arrays::facts::access::{Access, Apart, Subscript};
use crate::arrays::facts::evolution::{Evolution, Evolutions, Limit};
use crate::arrays::facts::shape::Shape;
use crate::arrays::placing::bands;
use crate::narrow::Upper;

/// Why a loop is none for an array: words that follow "this loop stays on the core: ".
pub type Refusal = String;

/// A result or a refusal.
pub type Building<T> = Result<T, Refusal>;

/// A truth value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// Known.
    Known(bool),
    /// The bit of an operation, or its opposite.
    Bit {
        /// The operation.
        node: usize,
        /// Whether the opposite is meant.
        inverted: bool,
    },
    /// A word, 0 or 1.
    Word(Operand),
}

/// A parameter of the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Carried {
    pub first: First,
    pub next: Value,
    /// Whether it is the high word of that.
    pub is_high: bool,
    /// Iterations after which it is read.
    pub distance: u32,
    /// The access that takes what stands where it says, which is meant instead.
    pub element: Option<usize>,
}

/// What is carried into the first iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum First {
    Value(Value),
    /// What an element holds before the loop.
    Element(Mem, Affine, Part),
    /// Zero.
    Zero,
}

/// What the builder knows and what it has built.
pub struct Builder<'a> {
    pub(super) func: &'a Function,
    pub(super) shape: &'a Shape,
    pub(super) evolutions: Evolutions<'a>,
    pub(super) ranges: ValueRanges<'a>,
    pub(super) body: Body,
    pub(super) accesses: Vec<Access>,
    pub(super) span: Option<Span>,
    /// Iterations there must be at least.
    pub(super) least_trips: u32,
    pub(super) depth: u32,
    /// Global registers from which on loads from before the loop are done again.
    kept: usize,
    pub(super) words: BTreeMap<Value, (Operand, Upper)>,
    /// How often innermost loops run that must not run seldom.
    pub(super) counts: Vec<Value>,
    /// How far apart accesses must be for the longer distances of orders.
    pub(super) apart: Vec<Apart>,
    /// The registers with first values of walks: what iterations of the outermost loop add, in as many bytes.
    pub(super) walks: Vec<(usize, (Value, i32))>,
    /// High words of values of 64 bits.
    pub(super) highs: BTreeMap<Value, Operand>,
    /// Subscripts of which the greatest of all iterations is asked for, by the objects.
    pub(super) watched: BTreeMap<Option<Mem>, Vec<Operand>>,
    /// Divisors that may be 0, and the blocks that divide by them.
    pub(super) divisors: Vec<(Block, Value)>,
    pub(super) truths: BTreeMap<Value, Truth>,
    equal: HashMap<(Opcode, Options, Operand, Operand, Option<usize>), usize>,
    carried: Vec<Carried>,
    pub(super) predicates: BTreeMap<Block, Option<Truth>>,
    /// Words that turn over with loops, by what they grow by.
    pub(super) turning: BTreeMap<Value, usize>,
    signed_loads: &'a SecondaryMap<Value, bool>,
    /// Loads that take what others loaded or stored.
    pub(super) reuses: BTreeMap<usize, Reuse>,
    /// Objects of which nobody reads what is stored.
    unread: BTreeSet<Mem>,
    /// How values that meet are chosen.
    pub(super) meetings: Meetings,
    /// Whether that makes a difference.
    pub(super) differs: bool,
}

/// How values are chosen where many branches lead to few ways.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Meetings {
    /// By the condition under which each way is taken: what is carried goes through few choices.
    ByWay,
    /// Branch by branch: few operations, and conditions that depend on what is carried are not put together.
    ByBranch,
}

/// How many loads from before the loop are kept where all of them would not be worth it.
const KEPT: [usize; 3] = [8, 4, 0];

/// About the cycles that a loop takes, with the global registers that the core writes before: one, and
/// four to put two halves together. An access to memory is the more in the way of others the more there
/// are: of 4 to 16 in a slot each one adds about a sixth of a cycle.
pub(super) fn cost(built: &Built, terms: &Terms<'_>) -> u32 {
    let write = |global: &Global| match *global {
        Global::Pair(low, high) if (terms.is_fresh)(low) || (terms.is_fresh)(high) => 5,
        _ => 1,
    };
    let written = built.body.globals.iter().chain(&built.spilled);
    let writes: u32 = written.map(write).sum();
    let sixths = 6 * (terms.interval)(&built.body) + built.body.accesses() as u32;
    (sixths.saturating_mul(terms.iterations) / 6).saturating_add(writes)
}

/// A loop as a body, and how what leaves it gets out.
#[derive(Clone, Debug)]
pub struct Built {
    /// The operations.
    pub body: Body,
    /// Its accesses to memory.
    pub accesses: Vec<Access>,
    /// Each value that the code behind the loop reads, and where it is then.
    pub results: Vec<(Value, Outcome)>,
    /// Iterations there must be at least.
    pub least_trips: u32,
    /// What must hold.
    pub limits: Vec<Limit>,
    /// How often it runs, where that is constant.
    pub trips: Option<u32>,
    /// The global registers that hold the greatest subscripts of objects that are known on the way only; of no object:
    /// whether a divisor was 0.
    pub watches: Vec<(Option<Mem>, usize)>,
    /// What is [`super::collect::MIN_INNER_ITERATIONS`] at least.
    pub counts: Vec<Value>,
    /// What must hold where orders reach more iterations ([`Body::apart`]).
    pub apart: Vec<Apart>,
    /// Global registers with first values of walks: what iterations of the outermost loop add, in as many
    /// bytes.
    pub walks: Vec<(usize, (Value, i32))>,
    /// What the core leaves in words of the shared memory, where global registers are too few.
    pub spilled: Vec<Global>,
}

/// Where a value is after the loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// In a global register.
    Export(usize),
    /// Its low and its high word in two.
    Wide(usize, usize),
    /// What it grew to.
    Last(Evolution),
}

/// Builds the body of a loop. `results` are the values that are used behind it.
///
/// # Errors
/// Why the loop is none for an array.
pub fn build(
    func: &Function,
    shape: &Shape,
    facts: &Facts<'_>,
    results: &[Value],
    terms: Terms<'_>,
) -> Building<Built> {
    let globals = terms.globals;
    let build_in = |kept: usize, spills: bool| {
        let by =
            |meetings| build_with(func, shape, facts, results, (kept, meetings, spills), terms);
        let (built, differs) = by(Meetings::ByWay)?;
        let other = differs.then(|| by(Meetings::ByBranch).ok()).flatten().map(|(built, _)| built);
        let size = |built: &Built| (cost(built, &terms), built.body.nodes.len());
        Building::Ok(match other {
            Some(other) if size(&other) < size(&built) => other,
            _ => built,
        })
    };
    let build = |kept: usize| build_in(kept, false);
    let fits = |built: &Built| built.body.globals.len() <= globals;
    // What was loaded before the loop is loaded in it, where that leaves registers for the others. Two
    // halves may share one, so that more may be kept than there are registers.
    let mut first = None;
    let mut next = Some(2 * globals);
    while let Some(kept) = next.filter(|&kept| first.is_none() && kept >= globals / 2) {
        let built = build(kept)?;
        // Each value that is not kept leaves one register at most.
        next = kept.checked_sub(built.body.globals.len().saturating_sub(globals).max(1));
        first = Some(built).filter(fits);
    }
    let fewer = KEPT.map(|kept| build(kept).ok()).into_iter().flatten().filter(fits);
    if let Some(best) = first.into_iter().chain(fewer).min_by_key(|built| cost(built, &terms)) {
        return Ok(best);
    }
    let kept = [2 * globals, globals / 2, 0].into_iter().filter(|_| terms.spills);
    let spilling = kept.filter_map(|kept| build_in(kept, true).ok()).filter(fits);
    if let Some(best) = spilling.min_by_key(|built| cost(built, &terms)) {
        return Ok(best);
    }
    let used = build(0)?.body.globals.len();
    Err(format!("it needs {used} global registers of {globals}"))
}

/// Builds the body of a loop, and says whether it would be another one if values that meet were chosen
/// otherwise. Loads from before it are kept in the first `kept` global registers; what `spills` leaves some of the
/// others out where they are too many.
fn build_with(
    func: &Function,
    shape: &Shape,
    facts: &Facts<'_>,
    results: &[Value],
    (kept, meetings, spills): (usize, Meetings, bool),
    terms: Terms<'_>,
) -> Building<(Built, bool)> {
    let mut builder = Builder {
        func,
        shape,
        evolutions: Evolutions::new(func, shape, &facts.forms),
        ranges: facts.ranges.anew(),
        body: Body::default(),
        accesses: Vec::new(),
        span: None,
        least_trips: 1,
        depth: 0,
        kept,
        words: BTreeMap::new(),
        counts: Vec::new(),
        apart: Vec::new(),
        walks: Vec::new(),
        highs: BTreeMap::new(),
        watched: BTreeMap::new(),
        divisors: Vec::new(),
        truths: BTreeMap::new(),
        equal: HashMap::new(),
        carried: Vec::new(),
        predicates: BTreeMap::new(),
        turning: BTreeMap::new(),
        signed_loads: &facts.signed_loads,
        reuses: BTreeMap::new(),
        unread: BTreeSet::new(),
        meetings,
        differs: false,
    };
    builder.collect_accesses()?;
    if let Some(most) = terms.reuse {
        let is_signed = |value: Value| builder.is_signed(value);
        let is_always = |block: Block| builder.is_always(block);
        let is_zero = |access: &Access, iterations: u32| builder.is_zero(access, iterations, terms);
        builder.reuses = reuses(func, &builder.accesses, is_signed, is_always, is_zero, most);
        builder.unread = builder.unread(terms.own);
    }
    builder.stores()?;
    let mut outcomes = Vec::new();
    let mut exports = Vec::new();
    for &value in results {
        let outcome = builder.outcome(value)?;
        match outcome {
            Leaving::Known(outcome) => outcomes.push((value, outcome)),
            Leaving::Word(operand) => exports.push((value, operand)),
            Leaving::Wide(low, high) => exports.extend([(value, low), (value, high)]),
        }
    }
    let mut watches = builder.close(&mut exports)?;
    for (value, operand) in exports {
        let number = builder.export(operand)?;
        match outcomes.last_mut() {
            Some((last, outcome)) if *last == value => {
                if let Outcome::Export(low) = *outcome {
                    *outcome = Outcome::Wide(low, number);
                }
            }
            _ => outcomes.push((value, Outcome::Export(number))),
        }
    }
    builder.order()?;
    let (limits, trips) = (builder.evolutions.limits(), builder.evolutions.trips());
    let is_chain = !builder.turning.is_empty();
    let Builder { mut body, mut accesses, least_trips, mut walks, counts, apart, differs, .. } =
        builder;
    let mut numbers = improve(&mut body, is_chain, terms);
    let mut spilled = Vec::new();
    if body.globals.len() > terms.globals {
        let apart: Vec<usize> =
            watches.iter().filter_map(|&(_, number)| numbers.globals[number]).collect();
        numbers = numbers.then(&registers::share(&mut body, terms.globals, &apart));
        let form = |global: &Global| match global {
            Global::Value(value) if func.ty(*value) == Type::I32 => Some(facts.forms.get(*value)),
            _ => None,
        };
        if spills && let Some((later, words)) = registers::spill(&mut body, terms.globals, &form) {
            numbers = numbers.then(&later);
            spilled = words;
        }
    }
    for access in &mut accesses {
        access.node = access.node.and_then(|node| numbers.nodes[node]);
    }
    for (_, outcome) in &mut outcomes {
        let exported = match outcome {
            Outcome::Export(number) => vec![number],
            Outcome::Wide(low, high) => vec![low, high],
            Outcome::Last(_) => vec![],
        };
        for number in exported {
            *number = numbers.globals[*number].expect("what is exported stays");
        }
    }
    walks.retain_mut(|(number, _)| {
        let new = numbers.globals[*number];
        new.inspect(|&new| *number = new).is_some()
    });
    for (_, number) in &mut watches {
        *number = numbers.globals[*number].expect("what is exported stays");
    }
    if body.nodes.len() > MAX_NODES {
        return Err(format!(
            "it has {} operations, more than the {MAX_NODES} that are mapped",
            body.nodes.len()
        ));
    }
    let built = Built {
        body,
        accesses,
        results: outcomes,
        least_trips,
        limits,
        trips,
        watches,
        counts,
        apart,
        walks,
        spilled,
    };
    Ok((built, differs))
}

/// Makes fewer operations of those of a body, and shorter ways from one iteration to the next; the new numbers
/// of what is left. `is_chain`: whether it counts the loops of a nest by walks.
fn improve(body: &mut Body, is_chain: bool, terms: Terms<'_>) -> Numbers {
    fuse::shorten(body);
    let paired = pairs::run(body);
    let paired = paired.then(&accumulate::run(body));
    let interval = (terms.interval)(body);
    if is_chain && interval > 1 {
        let mut other = body.clone();
        accumulate::differ(&mut other);
        if (terms.interval)(&other) < interval {
            *body = other;
        }
    }
    let later = match terms.array.and_then(|array| reassociate::run(body, array)) {
        Some((shorter, later)) => {
            *body = shorter;
            later
        }
        None => fuse::run(body),
    };
    if (terms.interval)(body) > 1 {
        lines::run(body);
    }
    if let Some(groups) = terms.groups {
        spread::run(body, groups);
    }
    paired.then(&later)
}

/// Operations in a chain at most: each is a level of the builder's recursion.
const MAX_DEPTH: u32 = 300;

/// Operations of an iteration at most.
const MAX_NODES: usize = 420;

/// A value that the code behind the loop reads.
enum Leaving {
    Known(Outcome),
    Word(Operand),
    Wide(Operand, Operand),
}

impl Builder<'_> {
    /// A refusal for what there is no operation for.
    pub(super) fn refuse<T>(&self, what: impl Into<String>) -> Building<T> {
        Err(format!("arrays have no operation for {}", what.into()))
    }

    /// Adds an operation, or gives an equal one.
    pub(super) fn node(
        &mut self,
        op: Opcode,
        options: Options,
        in1: Operand,
        in2: Operand,
        in3: Option<usize>,
    ) -> usize {
        let key = (op, options, in1, in2, in3);
        if let Some(&node) = self.equal.get(&key) {
            return node;
        }
        let node = self.fresh(op, options, in1, in2, in3);
        self.equal.insert(key, node);
        node
    }

    /// Adds an operation of its own. A context has one constant: a second one gets an operation.
    pub(super) fn fresh(
        &mut self,
        op: Opcode,
        options: Options,
        in1: Operand,
        mut in2: Operand,
        in3: Option<usize>,
    ) -> usize {
        if let (Operand::Immediate(_), Operand::Immediate(_)) = (in1, in2) {
            let pass = self.node(Opcode::Pass, Options::default(), in2, Operand::None, None);
            in2 = Operand::node(pass);
        }
        let node = self.body.nodes.len();
        self.body.nodes.push(Node {
            options,
            in1,
            in2,
            in3,
            name: format!("{}{node}", op.mnemonic()),
            span: self.span,
            ..Node::new(op)
        });
        node
    }

    /// An operation of two words.
    pub(super) fn op(&mut self, op: Opcode, in1: Operand, in2: Operand) -> Operand {
        Operand::node(self.node(op, Options::default(), in1, in2, None))
    }

    /// The number of a global register.
    pub(super) fn global(&mut self, global: Global) -> Operand {
        if let Global::Constant(0) = global {
            return Operand::None;
        }
        let known =
            self.body.globals.iter().position(|other| *other == global && global != Global::Export);
        let number = known.unwrap_or_else(|| {
            self.body.globals.push(global);
            self.body.globals.len() - 1
        });
        Operand::Global(number)
    }

    pub(super) fn immediate(value: i32) -> Operand {
        if value == 0 { Operand::None } else { Operand::Immediate(value) }
    }

    /// The constant that a value is, as a signed number.
    pub(super) fn known(&self, value: Value) -> Option<i64> {
        let bits = self.func.splat_constant(value)?;
        let scalar = self.func.ty(value).scalar;
        Some(match scalar {
            Scalar::I1 => (bits & 1) as i64,
            _ => nbcc_analysis::sign_extend(scalar, bits),
        })
    }

    /// Whether a value of 64 bits is one of 32.
    pub(super) fn is_word(&self, value: Value) -> bool {
        self.func.ty(value).scalar.bits() <= 32
            || self.ranges.fits(value, i32::MIN.into(), i32::MAX.into())
    }

    /// The word of a value, and what is above it.
    pub(super) fn word(&mut self, value: Value) -> Building<(Operand, Upper)> {
        if let Some(&known) = self.words.get(&value) {
            return Ok(known);
        }
        let ty = self.func.ty(value);
        if ty.is_float() || ty.is_vector() {
            return self.refuse(format!("values of type {ty}"));
        }
        let before = self.span;
        self.enter()?;
        let made = self.make_word(value, ty)?;
        self.depth -= 1;
        self.span = before;
        self.words.insert(value, made);
        Ok(made)
    }

    /// One operand deeper.
    pub(super) fn enter(&mut self) -> Building<()> {
        self.depth += 1;
        match self.depth > MAX_DEPTH {
            true => Err(format!("its operations are chains of more than {MAX_DEPTH}")),
            false => Ok(()),
        }
    }

    fn make_word(&mut self, value: Value, ty: Type) -> Building<(Operand, Upper)> {
        if let Some(known) = self.known(value) {
            // Of 64 bits the low word.
            let upper = if known >= 0 { Upper::Both } else { Upper::Signs };
            return Ok((Self::immediate(known as i32), upper));
        }
        if ty.scalar == Scalar::I1 {
            let truth = self.truth(value)?;
            return Ok((self.word_of(truth), Upper::Both));
        }
        if !self.shape.defines(self.func, value) {
            if self.body.globals.len() >= self.kept
                && let Some(inst) = self.reloads(value)
            {
                return self.load(inst, value);
            }
            // The same of what only extends such a value.
            if self.body.globals.len() >= self.kept
                && let Some(&Op::Convert(op, from, _)) = self.func.def_op(value)
                && self.reloads(from).is_some()
            {
                return self.convert(op, from, value);
            }
            return Ok((self.global(Global::Value(value)), Upper::Signs));
        }
        match self.func.values[value].def {
            ValueDef::Param(block, number) if block == self.shape.header => {
                Ok((self.carry(number), Upper::Any))
            }
            ValueDef::Param(block, number) => self.phi(block, number, value),
            ValueDef::Result(inst, _) => {
                self.span = self.func.insts[inst].span.or(self.span);
                self.operation(inst, value)
            }
        }
    }

    /// The load from before the loop that made a value and can be done again: nothing ever stores to
    /// what it reads.
    fn reloads(&mut self, value: Value) -> Option<Inst> {
        let func = self.func;
        let inst = func.def_inst(value)?;
        let Op::Load(ty, mem, subscripts) = &func.insts[inst].op else { return None };
        let &[index] = &subscripts[..] else { return None };
        let stores = |inst: &Inst| matches!(&func.insts[*inst].op, Op::Store(to, ..) if to == mem);
        let blocks = func.layout.iter();
        if ty.is_vector()
            || ty.scalar == Scalar::I64
            || blocks.flat_map(|&b| &func.blocks[b].insts).any(stores)
        {
            return None;
        }
        let bytes = self.reachable(*mem).ok()?;
        let subscript = Subscript::Linear(Evolution::fixed(self.evolutions.fixed(index)));
        let block = self.shape.header;
        let is_known = self.accesses.iter().any(|access| access.inst == inst);
        if !is_known {
            let (mem, is_high, is_store, node) = (*mem, false, false, None);
            let of = Access { inst, block, mem, subscript, bytes, is_high, is_store, node };
            self.accesses.push(of);
        }
        Some(inst)
    }

    /// What a parameter of the header is.
    pub(super) fn carry(&mut self, number: u32) -> Operand {
        let number = number as usize;
        let first = First::Value(self.shape.entry_args[number]);
        let next = self.shape.back_args[number];
        self.carried(Carried { first, next, is_high: false, distance: 1, element: None })
    }

    /// The high word of a parameter of the header.
    pub(super) fn carry_high(&mut self, number: u32) -> Operand {
        let number = number as usize;
        let first = First::Value(self.shape.entry_args[number]);
        let next = self.shape.back_args[number];
        self.carried(Carried { first, next, is_high: true, distance: 1, element: None })
    }

    pub(super) fn carried(&mut self, carried: Carried) -> Operand {
        let known = self.carried.iter().position(|other| *other == carried);
        Operand::Carried(known.unwrap_or_else(|| {
            self.carried.push(carried);
            self.carried.len() - 1
        }))
    }

    /// Builds all stores, in the order of the source.
    fn stores(&mut self) -> Building<()> {
        for number in 0..self.accesses.len() {
            let access = self.accesses[number].clone();
            if !access.is_store || self.unread.contains(&access.mem) {
                continue;
            }
            let Op::Store(_, _, value) = self.func.insts[access.inst].op else { continue };
            let predicate = self.predicate(access.block)?;
            if predicate == Some(Truth::Known(false)) {
                continue;
            }
            self.span = self.func.insts[access.inst].span;
            let condition = match predicate {
                None | Some(Truth::Known(_)) => None,
                Some(truth) => Some(self.straight_bit(truth)),
            };
            let word = if access.is_high { self.high(value)? } else { self.word(value)?.0 };
            let (address, memory) = self.address(&access)?;
            let node = self.fresh(Opcode::Store, Options::default(), address, word, None);
            let store = &mut self.body.nodes[node];
            store.memory = memory;
            store.condition = condition;
            self.accesses[number].node = Some(node);
        }
        Ok(())
    }

    pub(super) fn is_signed(&self, load: Value) -> bool {
        self.signed_loads[load]
    }

    /// How a value that is used behind the loop gets there.
    fn outcome(&mut self, value: Value) -> Building<Leaving> {
        let ty = self.func.ty(value);
        if let Some(evolution) = self.evolutions.of(value).filter(|_| ty == Type::I32) {
            return Ok(Leaving::Known(Outcome::Last(evolution)));
        }
        if ty.scalar == Scalar::I64 && !self.is_word(value) {
            return Ok(Leaving::Wide(self.word(value)?.0, self.high(value)?));
        }
        Ok(Leaving::Word(self.word(value)?.0))
    }

    /// Adds the words of next values, which may carry more.
    fn carry_on(&mut self, next: &mut Vec<Operand>) -> Building<()> {
        while next.len() < self.carried.len() {
            let Carried { next: value, is_high, element, .. } = self.carried[next.len()];
            next.push(match element {
                Some(number) => self.element_at(number, value)?,
                None if is_high => self.high(value)?,
                None => self.word(value)?.0,
            });
        }
        Ok(())
    }

    /// Replaces what is carried by what computes it an iteration before; what is watched then.
    fn close(&mut self, exports: &mut [(Value, Operand)]) -> Building<Vec<(Option<Mem>, usize)>> {
        let mut done: Vec<Operand> = Vec::new();
        let mut copies: HashMap<(Operand, usize), usize> = HashMap::new();
        let mut next = Vec::new();
        self.carry_on(&mut next)?;
        self.see_unread()?;
        self.see_divisors()?;
        self.carry_on(&mut next)?;
        let watches = self.watch();
        let is_shared = bands::of(self.func, self.shape).is_some();
        for (number, &word) in next.iter().enumerate() {
            let initial = match self.carried[number].first.clone() {
                // What is another one in each part of a nest has a register of its own.
                First::Value(first) if is_shared && self.grows(word, number) => {
                    self.global_of(Global::Form(self.evolutions.fixed(first), 1))
                }
                First::Value(first) if self.carried[number].is_high => {
                    let high =
                        self.known(first).map(|known| Global::Constant((known >> 32) as i32));
                    self.global_of(high.unwrap_or(Global::High(first)))
                }
                First::Value(first) => match self.known(first) {
                    Some(known) => self.global_of(Global::Constant(known as i32)),
                    None => self.global_of_value(first),
                },
                First::Element(mem, index, part) => {
                    self.global_of(Global::Element(mem, index, part))
                }
                First::Zero => self.global_of(Global::Constant(0)),
            };
            let plain = match word {
                Operand::Node { node, distance: 0 } => {
                    let node_data = &self.body.nodes[node];
                    let is_free = node_data.initial.is_none_or(|other| other == initial)
                        && node_data.ahead == 0
                        && node_data.condition.is_none()
                        && node_data.op != Opcode::Store;
                    is_free.then_some(node)
                }
                _ => None,
            };
            let node = plain.or_else(|| copies.get(&(word, initial)).copied());
            let node = node.unwrap_or_else(|| {
                self.fresh(Opcode::Pass, Options::default(), word, Operand::None, None)
            });
            if plain.is_none() {
                copies.insert((word, initial), node);
            }
            self.body.nodes[node].initial = Some(initial);
            done.push(Operand::Node { node, distance: self.carried[number].distance });
        }
        let replace = |operand: &mut Operand| {
            if let Operand::Carried(number) = *operand {
                *operand = done[number];
            }
        };
        for node in &mut self.body.nodes {
            replace(&mut node.in1);
            replace(&mut node.in2);
        }
        exports.iter_mut().for_each(|(_, operand)| replace(operand));
        Ok(watches)
    }

    /// Whether what is carried under that number is a sum that grows by as much in each iteration.
    fn grows(&self, word: Operand, number: usize) -> bool {
        let Operand::Node { node, distance: 0 } = word else { return false };
        let Node { op, in1, in2, .. } = self.body.nodes[node];
        let own = Operand::Carried(number);
        let step = if in1 == own { in2 } else { in1 };
        let is_fixed = matches!(step, Operand::Immediate(_) | Operand::Global(_));
        op == Opcode::Add && (in1 == own || in2 == own) && is_fixed
    }

    /// The number of a global register, of 0 as well.
    pub(super) fn global_of(&mut self, global: Global) -> usize {
        let known = self.body.globals.iter().position(|other| *other == global);
        known.unwrap_or_else(|| {
            self.body.globals.push(global);
            self.body.globals.len() - 1
        })
    }

    pub(super) fn global_of_value(&mut self, value: Value) -> usize {
        match self.global(Global::Value(value)) {
            Operand::Global(number) => number,
            _ => unreachable!("a value has a register"),
        }
    }

    /// Exports a word; the number of the global register.
    fn export(&mut self, operand: Operand) -> Building<usize> {
        let plain = match operand {
            Operand::Node { node, distance: 0 } if self.body.nodes[node].op != Opcode::Store => {
                node
            }
            _ => self.fresh(Opcode::Pass, Options::default(), operand, Operand::None, None),
        };
        if let Some(number) = self.body.nodes[plain].export {
            return Ok(number);
        }
        self.body.globals.push(Global::Export);
        let number = self.body.globals.len() - 1;
        self.body.nodes[plain].export = Some(number);
        Ok(number)
    }
}
