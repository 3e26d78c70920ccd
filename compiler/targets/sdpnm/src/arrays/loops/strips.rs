//! Loops whose objects are larger than a shared memory go through them in strips (strip mining: Bacon, Graham,
//! Sharp, "Compiler transformations for high-performance computing", ACM Computing Surveys, 1994, section 6.2.4).
//! Of such an object each strip has a window in a shared memory, to which the host controller moves the elements that
//! the iterations of the strip touch, and back those that may have changed.
//!
//! That asks for loops that run a known number of times, and for subscripts that slide: each is a multiple of the
//! iteration, what does not change in the strip, and a rest within limits. All accesses are inside, so that nothing
//! ends the run, and no strip sees of another one what was not moved back.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use nbcc_analysis::{Affine, AffineForms, Loop, LoopForest, MAX_TERMS, ValueRanges};
use nbcc_base::Span;
use nbcc_ir::{
    BinaryOp, Block, BlockCall, Builder, Cfg, ConvertOp, Counter, Dominators, Effect, Extent,
    Function, Inst, IntCond, IntrinsicCall, LoopInfo, Mem, MemData, Module, Op, Storage,
    Terminator, Type, UnaryOp, Value, ValueDef,
};
use nbcc_isa_sdpnm::Machine;
use nbcc_opt::clone_blocks::ClonedBlocks;
use nbcc_opt::{cse, dce, fold, params, simplify_cfg};

use super::flatten::{is_possible, trips};
use super::merge::enter_by_jump;
use super::nest::MAX_ITERATIONS as MAX_NEST_ITERATIONS;
use crate::arrays::facts::shape::Shape;
use crate::arrays::homes::{bytes_of, has_other_names};
use crate::arrays::versions::forms::form;
use crate::arrays::versions::version::results;

/// Moves elements from one object to another: the first of each, and how many bytes.
pub const MOVE: &str = "sdpnm.move";

/// Parts of a shared memory from which on an object may go through a window.
const WINDOW_PARTS: u64 = 16;

/// Iterations of a nest inside up to which it counts as short: to start it again and again would take longer than to
/// run it.
const MAX_SHORT_ITERATIONS: u64 = 1 << 10;

/// How often more elements may be moved than there are accesses to them.
const SPARSE: u64 = 4;

/// How far outside values may be that a branch keeps inside, for windows to have room for them.
const MAX_OVERHANG: i64 = 1 << 12;

/// How deep operands are followed.
const MAX_FOLLOWED: u32 = 24;

/// A loop that goes through its objects in strips.
#[derive(Clone, Debug)]
pub struct Strips {
    /// Its header.
    pub header: Block,
    /// That of the loop over strips.
    pub over: Block,
    /// The windows.
    pub windows: Vec<Mem>,
    /// Its iterations in a strip.
    pub each: u64,
    /// How often it runs.
    pub trips: u64,
    /// Where it is in the source.
    pub span: Option<Span>,
}

/// Lets loops go through large objects in strips, but those whose headers are among `refused`; and nests that have
/// more iterations than one loop may, if it is made of them ([`MAX_NEST_ITERATIONS`]).
pub fn run(
    module: &mut Module,
    func: nbcc_ir::Func,
    machine: &Machine,
    refused: &BTreeSet<Block>,
) -> Vec<Strips> {
    let room = u64::from(machine.shared_bytes());
    let function = &module.functions[func];
    let sizes: BTreeMap<Mem, u64> = touched(function, &function.layout)
        .into_iter()
        .filter_map(|mem| Some((mem, bytes_of(module, function, mem)?)))
        .collect();
    let is_large = sizes.values().sum::<u64>() > room;
    let func = &mut module.functions[func];
    if !is_large && !has_long_nests(func) {
        return vec![];
    }
    let mut trial = func.clone();
    for header in headers(func) {
        enter_by_jump(&mut trial, header);
    }
    let (streamed, nests) = choose(&trial, &sizes, room, refused);
    let long = long_nests(&trial, refused).into_iter().filter(|header| !nests.contains(header));
    let long: Vec<Block> = long.collect();
    let homes: u64 = sizes.iter().filter(|(mem, _)| !streamed.contains(mem)).map(|(_, n)| n).sum();
    let pool = room.saturating_sub(homes) / nests.len().max(1) as u64;
    let mut made = Vec::new();
    for &header in nests.iter().chain(&long) {
        let cfg = Cfg::new(&trial);
        let forest = LoopForest::new(&cfg, &Dominators::new(&trial));
        let Some(l) = forest.headed_by(header) else { continue };
        let Some(nest) = Nest::new(&trial, &cfg, &forest, l, room) else { continue };
        made.extend(nest.strip(&mut trial, &streamed, pool, u64::from(machine.home_alignment())));
    }
    if !made.is_empty() {
        *func = trial;
        for clean in [fold::run, cse::run, simplify_cfg::run, dce::run, params::run] {
            clean(func);
        }
    }
    made
}

/// Whether the loops of some nest run too often together, as far as that is noted.
fn has_long_nests(func: &Function) -> bool {
    let forest = LoopForest::new(&Cfg::new(func), &Dominators::new(func));
    let noted = |l: Loop| {
        let info = func.blocks[forest.loops[l].header].loop_info.as_ref();
        info.and_then(|info| info.trips).unwrap_or(u64::MAX)
    };
    forest.loops.keys().any(|l| {
        let around = std::iter::successors(Some(l), |&l| forest.loops[l].parent);
        let is_nest = forest.loops[l].parent.is_some() && forest.loops[l].inner.is_empty();
        is_nest && around.map(noted).fold(1, u64::saturating_mul) > MAX_NEST_ITERATIONS
    })
}

/// The headers of loops that have short nests inside, with more iterations together than one loop may have.
fn long_nests(func: &Function, refused: &BTreeSet<Block>) -> Vec<Block> {
    let cfg = Cfg::new(func);
    let forest = LoopForest::new(&cfg, &Dominators::new(func));
    let is_long = |l: &Loop| {
        let header = forest.loops[*l].header;
        let shape =
            Shape::around(func, &cfg, &forest, *l).ok().filter(|_| !refused.contains(&header));
        let trips = shape.and_then(|shape| trips(func, &shape, &AffineForms::new(func, &cfg)));
        let inner = inside(func, &cfg, &forest, *l);
        let is_long = trips
            .zip(inner)
            .is_some_and(|(trips, inner)| trips.saturating_mul(inner) > MAX_NEST_ITERATIONS);
        is_long && inner.is_some_and(|inner| (2..=MAX_SHORT_ITERATIONS).contains(&inner))
    };
    let long =
        forest.loops.keys().filter(|l| !func.blocks[forest.loops[*l].header].cold).filter(is_long);
    long.map(|l| forest.loops[l].header).collect()
}

/// How often the innermost loop runs in an iteration of a loop that has a nest inside, or none.
fn inside(func: &Function, cfg: &Cfg, forest: &LoopForest, l: Loop) -> Option<u64> {
    let inner = match forest.loops[l].inner[..] {
        [] => return Some(1),
        [inner] => inner,
        _ => return None,
    };
    let shape = Shape::around(func, cfg, forest, inner).ok()?;
    let trips = trips(func, &shape, &AffineForms::new(func, cfg))?;
    trips.checked_mul(inside(func, cfg, forest, inner)?)
}

/// The headers of all loops.
fn headers(func: &Function) -> Vec<Block> {
    let forest = LoopForest::new(&Cfg::new(func), &Dominators::new(func));
    forest.loops.values().map(|data| data.header).collect()
}

/// The objects that blocks load from or store to.
fn touched(func: &Function, blocks: &[Block]) -> BTreeSet<Mem> {
    let insts = blocks.iter().flat_map(|&block| &func.blocks[block].insts);
    insts.filter_map(|&inst| access(func, inst).map(|(mem, ..)| mem)).collect()
}

/// The object and the subscript of an access to an object of one dimension, and whether it is a store.
fn access(func: &Function, inst: Inst) -> Option<(Mem, Value, bool)> {
    match &func.insts[inst].op {
        Op::Load(_, mem, subscripts) => Some((*mem, *subscripts.first()?, false)),
        Op::Store(mem, subscripts, _) => Some((*mem, *subscripts.first()?, true)),
        _ => None,
    }
}

/// The objects that go through windows, and the headers of the loops that go through them: as few objects as let
/// the others have half of the room.
fn choose(
    func: &Function,
    sizes: &BTreeMap<Mem, u64>,
    room: u64,
    refused: &BTreeSet<Block>,
) -> (BTreeSet<Mem>, Vec<Block>) {
    let mut left: u64 = sizes.values().sum();
    if left <= room {
        return Default::default();
    }
    let cfg = Cfg::new(func);
    let forest = LoopForest::new(&cfg, &Dominators::new(func));
    let mut nests: Vec<Nest> = Vec::new();
    let mut work: Vec<Loop> =
        forest.loops.keys().filter(|&l| forest.loops[l].parent.is_none()).collect();
    let mut fixed: BTreeSet<Mem> = BTreeSet::new();
    while let Some(l) = work.pop() {
        let blocks = forest.blocks(l);
        let large = |mem: &Mem, parts: u64| sizes.get(mem).is_some_and(|&n| n * parts > room);
        let mems = touched(func, &blocks);
        if func.blocks[forest.loops[l].header].cold
            || !mems.iter().any(|mem| large(mem, WINDOW_PARTS))
        {
            continue;
        }
        let is_refused = refused.contains(&forest.loops[l].header);
        let nest = Nest::new(func, &cfg, &forest, l, room).filter(|_| !is_refused);
        match nest
            .filter(|nest| mems.iter().all(|mem| !large(mem, 2) || nest.slides.contains_key(mem)))
        {
            Some(nest) => {
                fixed.extend(mems.iter().filter(|mem| !nest.slides.contains_key(mem)));
                nests.push(nest);
            }
            None if is_refused || forest.loops[l].inner.is_empty() => fixed.extend(mems),
            None => work.extend(&forest.loops[l].inner),
        }
    }
    let mut able: Vec<(u64, Mem)> = sizes
        .iter()
        .filter(|&(mem, &bytes)| bytes * WINDOW_PARTS > room && !fixed.contains(mem))
        .filter(|&(&mem, _)| !has_other_names(func, mem))
        .map(|(&mem, &bytes)| (bytes, mem))
        .collect();
    able.sort_by_key(|&(bytes, mem)| (std::cmp::Reverse(bytes), mem));
    let mut streamed = BTreeSet::new();
    for (bytes, mem) in able {
        if left <= room / 2 {
            break;
        }
        streamed.insert(mem);
        left -= bytes;
    }
    let mut headers: Vec<Block> = nests
        .iter()
        .filter(|nest| nest.slides.keys().any(|mem| streamed.contains(mem)))
        .map(|nest| nest.shape.header)
        .collect();
    headers.sort();
    match left <= room / 4 * 3 {
        true => (streamed, headers),
        false => Default::default(),
    }
}

/// Where the accesses of a loop to an object are.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Slide {
    /// Of which an iteration adds `step`: parameters of the header and what the loop does not change.
    base: Affine,
    step: i64,
    /// From where to where on top of that.
    low: i64,
    high: i64,
    is_stored: bool,
    /// Whether all of that is inside of the object.
    is_inside: bool,
    /// How many accesses there are.
    count: u64,
}

/// A loop, with loops inside or without.
struct Nest {
    shape: Shape,
    blocks: Vec<Block>,
    trips: u64,
    /// How often its innermost loop runs in an iteration.
    inside: u64,
    slides: BTreeMap<Mem, Slide>,
}

impl Nest {
    fn new(func: &Function, cfg: &Cfg, forest: &LoopForest, l: Loop, room: u64) -> Option<Nest> {
        let shape = Shape::around(func, cfg, forest, l).ok()?;
        let blocks = forest.blocks(l);
        let trips = trips(func, &shape, &AffineForms::new(func, cfg))?;
        if trips < 2 || !is_possible(func, &blocks) {
            return None;
        }
        let ranges = ValueRanges::new(func);
        let mut slides: BTreeMap<Mem, Option<Slide>> = BTreeMap::new();
        for &block in &blocks {
            for &inst in &func.blocks[block].insts {
                let Some((mem, subscript, is_stored)) = access(func, inst) else { continue };
                let new = slide(func, &shape, &ranges, (mem, subscript, is_stored), block);
                match slides.entry(mem) {
                    Entry::Vacant(entry) => _ = entry.insert(new),
                    Entry::Occupied(mut entry) => {
                        let known = entry.get_mut();
                        *known = known.take().zip(new).and_then(|(one, other)| one.with(other));
                    }
                }
            }
        }
        let is_narrow = |(mem, slide): &(Mem, Slide)| {
            slide.elements(1) * u64::from(func.mems[*mem].element.bytes()) <= room / 2
        };
        let slides = slides.into_iter().filter_map(|(mem, slide)| Some((mem, slide?)));
        let slides = slides.filter(is_narrow).collect();
        let inside = inside(func, cfg, forest, l).unwrap_or(1);
        Some(Nest { shape, blocks, trips, inside, slides })
    }

    /// Iterations of a strip, as many as windows have room for; rather a multiple of eight, or a divisor.
    fn each(
        &self,
        func: &Function,
        streamed: &BTreeSet<Mem>,
        pool: u64,
        alignment: u64,
    ) -> Option<u64> {
        let bytes = |iterations: u64| -> u64 {
            let of = |(mem, slide): (&Mem, &Slide)| {
                let elements = slide.elements(iterations).min(pool + 1);
                let bytes = elements * u64::from(func.mems[*mem].element.bytes());
                bytes.next_multiple_of(alignment)
            };
            self.slides.iter().filter(|(mem, _)| streamed.contains(mem)).map(of).sum()
        };
        let most = match self.inside <= MAX_SHORT_ITERATIONS {
            true => self.trips.min((MAX_NEST_ITERATIONS / self.inside).max(1)),
            false => self.trips,
        };
        let (mut fits, mut above) = (0, most + 1);
        while above - fits > 1 {
            let middle = fits + (above - fits) / 2;
            match bytes(middle) <= pool {
                true => fits = middle,
                false => above = middle,
            }
        }
        if fits == self.trips {
            return Some(fits);
        }
        let better = |&each: &u64| {
            let is_even = each.is_multiple_of(8);
            (is_even && self.trips.is_multiple_of(each), is_even, each)
        };
        (fits / 2 + 1..=fits).max_by_key(better)
    }

    fn strip(
        &self,
        func: &mut Function,
        streamed: &BTreeSet<Mem>,
        pool: u64,
        alignment: u64,
    ) -> Option<Strips> {
        let each = self.each(func, streamed, pool, alignment)?;
        let is_sparse = |(mem, slide): (&Mem, &Slide)| {
            let accesses = slide.count.saturating_mul(each).saturating_mul(self.inside);
            streamed.contains(mem) && slide.elements(each) > SPARSE * accesses
        };
        if self.slides.iter().any(is_sparse) {
            return None;
        }
        let (whole, rest) = (self.trips / each, self.trips % each);
        let shape = &self.shape;
        let outs = results(func, shape);
        let mut windows: BTreeMap<Mem, Window> = BTreeMap::new();
        for (&mem, slide) in self.slides.iter().filter(|(mem, _)| streamed.contains(mem)) {
            let elements = slide.elements(each) as u32;
            let data = MemData {
                name: format!("{}.strip{}", func.mems[mem].name, func.mems.len()),
                extents: vec![Extent::Fixed(elements)],
                storage: Storage::Own,
                ..func.mems[mem].clone()
            };
            let window = Window { mem: func.mems.push(data), first: slide.first(each) };
            windows.insert(mem, window);
        }
        let accesses = self.accesses(func, &windows);

        // Iterations are counted from the start of a strip.
        let counter = func.add_param(shape.header, Type::I32);
        for (block, inst, form) in accesses {
            self.redirect(func, (block, inst), form, counter, &windows);
        }
        let end = func.add_block();
        let leaves = BlockCall { block: end, args: [&shape.back_args[..], &outs].concat() };
        count(func, (shape.header, shape.latch), (counter, each), &shape.back_args, leaves);
        let tail = (rest > 0).then(|| {
            let copy = ClonedBlocks::before(func, &self.blocks, shape.header);
            let named = |value: &Value| copy.values[*value].unwrap_or(*value);
            let back: Vec<Value> = shape.back_args.iter().map(named).collect();
            let end = func.add_block();
            let leaves = BlockCall { block: end, args: outs.iter().map(named).collect() };
            let (header, latch) = (copy.blocks[&shape.header], copy.blocks[&shape.latch]);
            count(func, (header, latch), (named(&counter), rest), &back, leaves);
            (header, end, copy.blocks.into_values().collect::<Vec<Block>>())
        });

        // Around it strips are counted, and windows are filled and emptied.
        let fills = func.add_block();
        let named = |func: &mut Function, block: Block, like: &[Value]| -> Vec<Value> {
            like.iter().map(|&value| func.add_param(block, func.ty(value))).collect()
        };
        let header_params = func.blocks[shape.header].params.clone();
        let like = &header_params[..header_params.len() - 1];
        let begin = named(func, fills, like);
        let strip = func.add_param(fills, Type::I32);
        let next = named(func, end, like);
        let mut left = named(func, end, &outs);
        func.blocks[fills].loop_info = (whole > 1).then(|| LoopInfo {
            name: func.blocks[shape.header]
                .loop_info
                .as_ref()
                .map_or("strip".into(), |info| info.name.clone()),
            trips: Some(whole),
            counter: Some(Counter { value: strip, step: 1 }),
        });
        let mut b = Builder::at(func, shape.preheader);
        b.set_span(shape.span);
        let zero = b.i32(0);
        b.jump(fills, [&shape.entry_args[..], &[zero]].concat());
        b.switch_to(fills);
        self.moves(&mut b, &windows, &begin, each, false);
        let zero = b.i32(0);
        b.jump(shape.header, [&begin[..], &[zero]].concat());
        b.switch_to(end);
        self.moves(&mut b, &windows, &begin, each, true);
        let mut own: BTreeSet<Block> = self.blocks.iter().copied().chain([fills, end]).collect();
        if whole > 1 {
            let behind = b.func.add_block();
            let one = b.iadd_imm(strip, 1);
            let all = b.i32(whole as i32);
            let goes_on = b.value(Op::Icmp(IntCond::Ult, one, all));
            let again = BlockCall { block: fills, args: [&next[..], &[one]].concat() };
            let on = BlockCall { block: behind, args: vec![] };
            b.terminate(Terminator::Branch(goes_on, again, on));
            b.switch_to(behind);
            own.insert(behind);
        }
        if let Some((header, end, blocks)) = tail {
            self.moves(&mut b, &windows, &next, rest, false);
            let zero = b.i32(0);
            b.jump(header, [&next[..], &[zero]].concat());
            left = named(b.func, end, &outs);
            b.switch_to(end);
            self.moves(&mut b, &windows, &next, rest, true);
            own.extend(blocks.into_iter().chain([end]));
        }
        let known: BTreeMap<Value, Value> = outs.iter().copied().zip(left).collect();
        let rename = |value: &mut Value| *value = known.get(value).copied().unwrap_or(*value);
        let mut exit = shape.exit.clone();
        exit.args.iter_mut().for_each(rename);
        b.terminate(Terminator::Jump(exit));
        for block in func.layout.clone().into_iter().filter(|block| !own.contains(block)) {
            func.rename_in(block, rename);
        }
        let windows = windows.into_values().map(|window| window.mem).collect();
        let (header, over) = (shape.header, fills);
        Some(Strips { header, over, windows, each, trips: self.trips, span: shape.span })
    }

    /// The accesses to objects with windows, and their subscripts.
    fn accesses(
        &self,
        func: &Function,
        windows: &BTreeMap<Mem, Window>,
    ) -> Vec<(Block, Inst, Affine)> {
        let mut found = Vec::new();
        for &block in &self.blocks {
            for &inst in &func.blocks[block].insts {
                if let Some((mem, subscript, _)) =
                    access(func, inst).filter(|of| windows.contains_key(&of.0))
                {
                    let inner =
                        linear(func, subscript, MAX_FOLLOWED).plus(&self.slides[&mem].base, -1);
                    found.push((block, inst, inner));
                }
            }
        }
        found
    }

    /// Lets an access go to the window.
    fn redirect(
        &self,
        func: &mut Function,
        (block, inst): (Block, Inst),
        mut inner: Affine,
        counter: Value,
        windows: &BTreeMap<Mem, Window>,
    ) {
        let Some((mem, ..)) = access(func, inst) else { return };
        let window = windows[&mem];
        let at = func.blocks[block].insts.iter().position(|&other| other == inst);
        let behind = func.blocks[block].insts.split_off(at.unwrap_or(0));
        let (terminator, span) = (func.blocks[block].terminator.take(), func.blocks[block].span);
        inner.constant = inner.constant.wrapping_sub(window.first as i32);
        let inner = inner.plus(&Affine::symbol(counter), self.slides[&mem].step as i32);
        let mut b = Builder::at(func, block);
        b.set_span(b.func.insts[inst].span);
        let index = form(&mut b, &inner);
        func.blocks[block].insts.extend(behind);
        (func.blocks[block].terminator, func.blocks[block].span) = (terminator, span);
        match &mut func.insts[inst].op {
            Op::Load(_, mem, subscripts) | Op::Store(mem, subscripts, _) => {
                (*mem, *subscripts) = (window.mem, vec![index]);
            }
            _ => {}
        }
    }

    /// Moves what so many iterations touch to the windows, or what they may have changed back. `begin` is what the
    /// parameters of the header are in the first of them.
    fn moves(
        &self,
        b: &mut Builder<'_>,
        windows: &BTreeMap<Mem, Window>,
        begin: &[Value],
        iterations: u64,
        is_back: bool,
    ) {
        let params = b.func.blocks[self.shape.header].params.clone();
        for (&mem, window) in windows {
            let slide = &self.slides[&mem];
            if is_back && !slide.is_stored {
                continue;
            }
            let mut first = Affine::constant(slide.first(iterations) as i32);
            for &(value, factor) in &slide.base.terms {
                let at = params.iter().position(|&param| param == value);
                let value = at.map_or(value, |number| begin[number]);
                first = first.plus(&Affine::symbol(value), factor);
            }
            let mut element = form(b, &first);
            let mut place = b.i32((slide.first(iterations) - window.first) as i32);
            let mut elements = b.i32(slide.elements(iterations) as i32);
            if let (false, [Extent::Fixed(extent)]) =
                (slide.is_inside, &b.func.mems[mem].extents[..])
            {
                let extent = *extent as i32;
                let (zero, extent) = (b.i32(0), b.i32(extent));
                let end = b.iadd(element, elements);
                let end = b.binary(BinaryOp::Smin, end, extent);
                let begin = b.binary(BinaryOp::Smax, element, zero);
                let left_out = b.binary(BinaryOp::Isub, begin, element);
                place = b.iadd(place, left_out);
                elements = b.binary(BinaryOp::Isub, end, begin);
                elements = b.binary(BinaryOp::Smax, elements, zero);
                element = begin;
            }
            let width = b.func.mems[mem].element.bytes();
            let bytes = b.imul_imm(elements, width as i32);
            let (args, mems) = match is_back {
                false => (vec![element, place, bytes], vec![mem, window.mem]),
                true => (vec![place, element, bytes], vec![window.mem, mem]),
            };
            let (name, effect, imms) = (MOVE, Effect::Write, vec![]);
            b.op(Op::Intrinsic(IntrinsicCall { name, effect, args, mems, imms, result: None }));
        }
    }
}

/// A window on an object.
#[derive(Clone, Copy, Debug)]
struct Window {
    mem: Mem,
    /// Its first element, as [`Slide::first`].
    first: i64,
}

impl Slide {
    /// Both, where they slide alike.
    fn with(self, other: Slide) -> Option<Slide> {
        ((&self.base, self.step) == (&other.base, other.step)).then(|| Slide {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            is_stored: self.is_stored || other.is_stored,
            is_inside: self.is_inside && other.is_inside,
            count: self.count + other.count,
            ..self
        })
    }

    /// The lowest element of so many iterations, on top of the base of the first.
    fn first(&self, iterations: u64) -> i64 {
        self.low + (self.step * (iterations as i64 - 1)).min(0)
    }

    /// The elements from the lowest to the highest of so many iterations.
    fn elements(&self, iterations: u64) -> u64 {
        let way = self.step.unsigned_abs().saturating_mul(iterations - 1);
        way.saturating_add((self.high - self.low) as u64 + 1)
    }
}

/// Lets a loop run so many times: `counter` counts, `back` goes back with it, and `leaves` leaves.
fn count(
    func: &mut Function,
    (header, latch): (Block, Block),
    (counter, iterations): (Value, u64),
    back: &[Value],
    leaves: BlockCall,
) {
    let mut b = Builder::at(func, latch);
    b.set_span(b.func.blocks[latch].span);
    let next = b.iadd_imm(counter, 1);
    let all = b.i32(iterations as i32);
    let goes_on = b.value(Op::Icmp(IntCond::Ult, next, all));
    let again = BlockCall { block: header, args: [back, &[next]].concat() };
    b.terminate(Terminator::Branch(goes_on, again, leaves));
    let info = &mut func.blocks[header].loop_info;
    let name = info.take().map(|info| info.name).unwrap_or_default();
    let counter = Some(Counter { value: counter, step: 1 });
    *info = Some(LoopInfo { name, trips: Some(iterations), counter });
}

/// Where an access is, in a loop.
fn slide(
    func: &Function,
    shape: &Shape,
    ranges: &ValueRanges<'_>,
    (mem, subscript, is_stored): (Mem, Value, bool),
    block: Block,
) -> Option<Slide> {
    let [Extent::Fixed(elements)] = func.mems[mem].extents[..] else { return None };
    let all = linear(func, subscript, MAX_FOLLOWED);
    let (mut base, mut step) = (Affine::default(), 0);
    // What stays the same in an iteration, the rest, and both where the access runs.
    let constant = Sum(all.constant.into(), all.constant.into());
    let (mut same, mut rest, mut there) = (Sum(0, 0), constant, constant);
    for &(value, factor) in &all.terms {
        let grows = match func.values[value].def {
            ValueDef::Param(block, number) if block == shape.header => {
                shape.growth(func, number as usize)
            }
            _ if shape.defines(func, value) => None,
            _ => Some(0),
        };
        let known = ranges.at(value, block);
        there = there.plus(known, factor)?;
        match grows {
            Some(growth) => {
                base = base.plus(&Affine::symbol(value), factor);
                step += i64::from(factor) * i64::from(growth);
                same = same.plus(ranges.of(value), factor)?;
            }
            None => {
                // What a branch keeps inside comes near it in other iterations.
                let all = ranges.of(value);
                let is_near = all.0 >= known.0.saturating_sub(MAX_OVERHANG)
                    && all.1 <= known.1.saturating_add(MAX_OVERHANG);
                rest = rest.plus(if is_near { all } else { known }, factor)?;
            }
        }
    }
    let is_within = |(low, high): (i64, i64)| low >= 0 && high < i64::from(elements);
    let is_inside = is_within((same.0.checked_add(rest.0)?, same.1.checked_add(rest.1)?));
    let is_inside_there = is_within((there.0, there.1)) || is_within(ranges.at(subscript, block));
    let Sum(low, high) = rest;
    // A window wider than the object is none.
    high.checked_sub(low).filter(|&width| width < i64::from(elements))?;
    let slide = Slide { base, step, low, high, is_stored, is_inside, count: 1 };
    ((is_inside || is_inside_there) && step != 0).then_some(slide)
}

/// The least and the greatest value of a sum.
#[derive(Clone, Copy, Debug)]
struct Sum(i64, i64);

impl Sum {
    /// With so many times a value; `None` where that is too much.
    fn plus(self, (low, high): (i64, i64), factor: i32) -> Option<Sum> {
        let ends = [low, high].map(|end| end.checked_mul(factor.into()));
        let (one, other) = (ends[0]?, ends[1]?);
        Some(Sum(self.0.checked_add(one.min(other))?, self.1.checked_add(one.max(other))?))
    }
}

/// A subscript as a sum, modulo 2^32.
fn linear(func: &Function, value: Value, depth: u32) -> Affine {
    let of = |value: Value| linear(func, value, depth - 1);
    let word = |value: Value| matches!(func.ty(value), Type::I32 | Type::I64);
    let form = match func.def_op(value) {
        _ if depth == 0 => None,
        Some(Op::Const(..)) => func.splat_constant(value).map(|bits| Affine::constant(bits as i32)),
        Some(&Op::Unary(UnaryOp::Ineg, a)) => Some(of(a).times(-1)),
        Some(&Op::Binary(BinaryOp::Iadd, a, b)) => Some(of(a).plus(&of(b), 1)),
        Some(&Op::Binary(BinaryOp::Isub, a, b)) => Some(of(a).plus(&of(b), -1)),
        Some(&Op::Binary(BinaryOp::Imul, a, b)) => {
            let (a, b) = (of(a), of(b));
            match (a.as_constant(), b.as_constant()) {
                (_, Some(factor)) => Some(a.times(factor)),
                (Some(factor), _) => Some(b.times(factor)),
                _ => None,
            }
        }
        Some(&Op::Binary(BinaryOp::Shl, a, b)) => {
            let amount = func.splat_constant(b).filter(|&amount| amount < 32);
            amount.map(|amount| of(a).times(1 << amount))
        }
        Some(&Op::Convert(
            ConvertOp::Truncate | ConvertOp::SignExtend | ConvertOp::ZeroExtend,
            a,
            _,
        )) => word(a).then(|| of(a)),
        _ => None,
    };
    form.filter(|form| form.terms.len() <= MAX_TERMS).unwrap_or_else(|| Affine::symbol(value))
}
