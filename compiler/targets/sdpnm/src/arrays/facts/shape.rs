//! The loops that arrays run: innermost, entered from one block, left from their one latch, which
//! counts. Their blocks without the way back are an acyclic graph.

use std::collections::{BTreeMap, BTreeSet};

use nbcc_analysis::{Loop, LoopForest};
use nbcc_base::Span;
use nbcc_ir::{
    BinaryOp, Block, BlockCall, Cfg, ConvertOp, Dominators, Function, Inst, IntCond, Op,
    Terminator, Type, Value, ValueDef,
};

/// A loop that an array could run.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The block it begins with.
    pub header: Block,
    /// Its blocks, each before those it leads to; the header is the first, the latch the last.
    pub blocks: Vec<Block>,
    /// The block that goes back or leaves.
    pub latch: Block,
    /// The block that enters, by a jump.
    pub preheader: Block,
    /// What the parameters of the header are in the first iteration.
    pub entry_args: Vec<Value>,
    /// What they are in the next.
    pub back_args: Vec<Value>,
    /// Where it leaves to.
    pub exit: BlockCall,
    /// How often it runs.
    pub trips: Trips,
    /// Where it is in the source.
    pub span: Option<Span>,
    inside: BTreeSet<Block>,
    homes: BTreeMap<Inst, Block>,
}

/// How often a loop runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trips {
    /// So often.
    Known(u32),
    /// Once, and again as long as a value that grows stands in a relation to one that does not.
    While {
        /// The relation of `value` to `limit`.
        cond: IntCond,
        /// The value, in the first iteration what it is after one.
        value: Value,
        /// What each iteration adds to it.
        step: i32,
        /// What the loop does not change.
        limit: Value,
    },
}

impl Shape {
    /// The shape of a loop.
    ///
    /// # Errors
    /// Why it is none of these loops, in words that follow "this loop stays on the core: ".
    pub fn new(func: &Function, cfg: &Cfg, forest: &LoopForest, l: Loop) -> Result<Shape, String> {
        match forest.loops[l].inner.is_empty() {
            true => Shape::around(func, cfg, forest, l),
            false => Err("there is a loop inside it".to_string()),
        }
    }

    /// The same of a loop with loops inside, of which `blocks` has no blocks.
    ///
    /// # Errors
    /// Why it is none of these loops.
    pub fn around(
        func: &Function,
        cfg: &Cfg,
        forest: &LoopForest,
        l: Loop,
    ) -> Result<Shape, String> {
        let mut shape = Shape::uncounted(func, cfg, forest, l)?;
        let known = func.blocks[shape.header].loop_info.as_ref().and_then(|info| info.trips);
        shape.trips = match known.and_then(|trips| u32::try_from(trips).ok()) {
            Some(trips) => Trips::Known(trips),
            None => {
                let asked = match func.terminator(shape.latch) {
                    Terminator::Branch(cond, then, _) => Some((*cond, then.block == shape.header)),
                    _ => None,
                };
                let counted = asked.and_then(|(cond, again)| shape.counted(func, cond, again));
                counted.ok_or("nothing counts its iterations".to_string())?
            }
        };
        Ok(shape)
    }

    /// The same of a loop that nothing may count; `trips` say nothing.
    ///
    /// # Errors
    /// Why it is none of these loops.
    pub fn uncounted(
        func: &Function,
        cfg: &Cfg,
        forest: &LoopForest,
        l: Loop,
    ) -> Result<Shape, String> {
        let data = &forest.loops[l];
        let why = |text: &str| Err(text.to_string());
        let &[latch] = &data.latches[..] else {
            return why("it goes back in more than one place");
        };
        let header = data.header;
        if data.own.len() > MAX_BLOCKS {
            return why("it has too many branches");
        }
        let exits = forest.exits(func, l);
        if exits.iter().any(|&(from, _)| from != latch) || exits.len() != 1 {
            return why("it is left in its middle (by `break`, `return` or what ends the run)");
        }
        let Terminator::Branch(_, then, other) = func.terminator(latch) else {
            return why("nothing counts its iterations");
        };
        let (back, exit) = if then.block == header { (then, other) } else { (other, then) };
        if back.block != header || exit.block == header {
            return why("nothing counts its iterations");
        }
        Shape::of(func, cfg, forest, l, (back.args.clone(), exit.clone()))
    }

    /// The shape of an innermost loop with one latch, of which a block is left as well, by a count; `trips` say
    /// nothing of the other ways out.
    pub fn left(
        func: &Function,
        cfg: &Cfg,
        forest: &LoopForest,
        l: Loop,
        block: Block,
    ) -> Option<Shape> {
        let data = &forest.loops[l];
        let &[latch] = &data.latches[..] else { return None };
        let Terminator::Branch(cond, then, other) = func.terminator(block) else { return None };
        let is_inside = |way: &BlockCall| forest.contains(l, way.block);
        let (exit, again) = match (is_inside(then), is_inside(other)) {
            (true, false) => (other, true),
            (false, true) => (then, false),
            _ => return None,
        };
        let backs = func.terminator(latch).successors().into_iter();
        let mut backs = backs.filter(|way| way.block == data.header);
        let (back, None) = (backs.next()?, backs.next()) else { return None };
        let mut shape = Shape::of(func, cfg, forest, l, (back.args.clone(), exit.clone())).ok()?;
        shape.trips = shape.counted(func, *cond, again)?;
        Some(shape)
    }

    /// A loop with one latch that goes back with these arguments and leaves that way.
    fn of(
        func: &Function,
        cfg: &Cfg,
        forest: &LoopForest,
        l: Loop,
        (back_args, exit): (Vec<Value>, BlockCall),
    ) -> Result<Shape, String> {
        let data = &forest.loops[l];
        let (header, latch) = (data.header, data.latches[0]);
        let outside: Vec<Block> =
            cfg.predecessors(header).iter().copied().filter(|&b| b != latch).collect();
        let &[preheader] = &outside[..] else {
            return Err("it is entered in more than one place".to_string());
        };
        let Terminator::Jump(entry) = func.terminator(preheader) else {
            return Err("it is entered by a branch".to_string());
        };
        let mut homes = BTreeMap::new();
        let inside: BTreeSet<Block> = forest.blocks(l).into_iter().collect();
        for &block in &inside {
            homes.extend(func.blocks[block].insts.iter().map(|&inst| (inst, block)));
        }
        let insts = func.blocks[header].insts.iter();
        let first = insts.filter_map(|&inst| func.insts[inst].span).next();
        Ok(Shape {
            header,
            blocks: data.own.clone(),
            latch,
            preheader,
            entry_args: entry.args.clone(),
            back_args,
            exit,
            trips: Trips::Known(0),
            span: func.blocks[latch].span.or(first),
            inside,
            homes,
        })
    }

    /// Whether the loop defines a value.
    pub fn defines(&self, func: &Function, value: Value) -> bool {
        match func.values[value].def {
            ValueDef::Param(block, _) => self.inside.contains(&block),
            ValueDef::Result(inst, _) => self.homes.contains_key(&inst),
        }
    }

    /// Whether a block belongs to the loop.
    pub fn contains(&self, block: Block) -> bool {
        self.inside.contains(&block)
    }

    /// Whether control flow stands inside: then an iteration is several basic blocks, and on an array a
    /// hyperblock, whose operations run under predicates (SDPNM paper, section 3.1).
    pub fn has_branches(&self, func: &Function) -> bool {
        let mut others = self.blocks.iter().filter(|&&block| block != self.latch);
        others.any(|&block| func.terminator(block).successors().len() > 1)
    }

    /// Whether each way from a block to the end of an iteration goes through another one.
    pub fn is_passed(&self, func: &Function, from: Block, block: Block) -> bool {
        !self.leads(func, from, self.latch, block)
    }

    /// Whether a way leads from a block to another in an iteration, not through a third.
    pub fn leads(&self, func: &Function, from: Block, to: Block, past: Block) -> bool {
        let mut seen = vec![from];
        let mut next = 0;
        while let Some(&at) = seen.get(next) {
            next += 1;
            if at == past {
                continue;
            }
            if at == to {
                return true;
            }
            if at == self.latch {
                continue;
            }
            for block in nbcc_ir::cfg::successors(func, at) {
                if self.contains(block) && !seen.contains(&block) {
                    seen.push(block);
                }
            }
        }
        false
    }

    fn counted(&self, func: &Function, cond: Value, again: bool) -> Option<Trips> {
        let Some(&Op::Icmp(cond, a, b)) = func.def_op(cond) else { return None };
        let cond = if again { cond } else { cond.negated() };
        let is_constant = |value: Value| matches!(func.def_op(value), Some(Op::Const(..)));
        let is_fixed = |value: Value| is_constant(value) || !self.defines(func, value);
        let (cond, value, limit) = match (is_fixed(a), is_fixed(b)) {
            (false, true) => (cond, a, b),
            (true, false) => (cond.swapped(), b, a),
            _ => return None,
        };
        if !matches!(func.ty(value), Type::I32 | Type::I64) {
            return None;
        }
        let step = self.step(func, value)?;
        let fits = match cond {
            IntCond::Slt | IntCond::Sle | IntCond::Ult | IntCond::Ule => step > 0,
            IntCond::Sgt | IntCond::Sge | IntCond::Ugt | IntCond::Uge => step < 0,
            IntCond::Ne => step.abs() == 1,
            IntCond::Eq => false,
        };
        fits.then_some(Trips::While { cond, value, step, limit })
    }

    /// What each iteration adds to a value: a header parameter, and on top of it constants and what the
    /// loop does not change. Sums wrap, and so does what they are compared as.
    fn step(&self, func: &Function, mut value: Value) -> Option<i32> {
        let is_fixed = |value: Value| !self.defines(func, value);
        for _ in 0..16 {
            match func.def_op(value) {
                Some(&Op::Binary(BinaryOp::Iadd | BinaryOp::Isub, a, b)) if is_fixed(b) => {
                    value = a
                }
                Some(&Op::Binary(BinaryOp::Iadd, a, b)) if is_fixed(a) => value = b,
                _ => break,
            }
        }
        let (param, _) = self.offset(func, value)?;
        let ValueDef::Param(_, number) = func.values[param].def else { return None };
        self.growth(func, number as usize).filter(|&step| step != 0)
    }

    /// What each iteration adds to the parameter of the header of that number, if that is a constant.
    pub fn growth(&self, func: &Function, number: usize) -> Option<i32> {
        let (from, step) = self.offset(func, self.back_args[number])?;
        let is_own = from == func.blocks[self.header].params[number];
        (is_own && step.unsigned_abs() <= MAX_STEP).then_some(step as i32)
    }

    /// What the value that counts is compared with first, where it is a constant.
    pub fn first(&self, func: &Function) -> Option<i64> {
        let Trips::While { value, .. } = self.trips else { return None };
        let (param, sum) = self.offset(func, value)?;
        let ValueDef::Param(_, number) = func.values[param].def else { return None };
        let first = self.entry_args[number as usize];
        let bits = func.splat_constant(first)?;
        nbcc_analysis::sign_extend(func.ty(first).scalar, bits).checked_add(sum)
    }

    /// How often it runs where that is known, about: by the constants that it counts between.
    pub fn usual_trips(&self, func: &Function) -> Option<u32> {
        match self.trips {
            Trips::Known(trips) => Some(trips),
            Trips::While { step, limit, .. } => {
                let bits = func.splat_constant(limit)?;
                let limit = nbcc_analysis::sign_extend(func.ty(limit).scalar, bits);
                let apart = limit.checked_sub(self.first(func)?)?;
                u32::try_from(apart / i64::from(step)).ok().map(|trips| trips.max(1))
            }
        }
    }

    /// The header parameter and the constant that make a value.
    pub(crate) fn offset(&self, func: &Function, mut value: Value) -> Option<(Value, i64)> {
        let mut sum = 0i64;
        for _ in 0..16 {
            if let ValueDef::Param(block, _) = func.values[value].def {
                return (block == self.header).then_some((value, sum));
            }
            let (op, a, b) = match *func.def_op(value)? {
                Op::Binary(op @ (BinaryOp::Iadd | BinaryOp::Isub), a, b) => (op, a, b),
                _ => return None,
            };
            let constant = |value: Value| {
                let bits = func.splat_constant(value)?;
                let number = nbcc_analysis::sign_extend(func.ty(value).scalar, bits);
                (number.unsigned_abs() <= MAX_STEP).then_some(number)
            };
            match (constant(a), constant(b), op) {
                (_, Some(more), BinaryOp::Iadd) => (value, sum) = (a, sum + more),
                (_, Some(more), _) => (value, sum) = (a, sum - more),
                (Some(more), _, BinaryOp::Iadd) => (value, sum) = (b, sum + more),
                _ => return None,
            }
        }
        None
    }

    /// The operations between the parameters of the header and a value, in order, where all are pure
    /// and few: what makes the value of the first iteration outside of the loop.
    pub fn slice(&self, func: &Function, value: Value) -> Option<Vec<Inst>> {
        let (mut order, mut seen) = (Vec::new(), BTreeSet::new());
        self.visit(func, value, &mut order, &mut seen).then_some(order)
    }

    fn visit(
        &self,
        func: &Function,
        value: Value,
        order: &mut Vec<Inst>,
        seen: &mut BTreeSet<Inst>,
    ) -> bool {
        if !self.defines(func, value) {
            return true;
        }
        let inst = match func.values[value].def {
            ValueDef::Param(block, _) => return block == self.header,
            ValueDef::Result(inst, _) => inst,
        };
        if seen.contains(&inst) {
            return true;
        }
        let op = &func.insts[inst].op;
        let is_simple = matches!(
            op,
            Op::Const(..)
                | Op::Binary(BinaryOp::Iadd | BinaryOp::Isub, ..)
                | Op::Convert(
                    ConvertOp::SignExtend | ConvertOp::ZeroExtend | ConvertOp::Truncate,
                    ..
                )
        );
        if !is_simple || seen.len() > 16 {
            return false;
        }
        seen.insert(inst);
        let fine = op.args().into_iter().all(|arg| self.visit(func, arg, order, seen));
        order.push(inst);
        fine
    }
}

/// What the loop around a loop computes each time, or everything where there is none.
pub(crate) fn fresh(func: &Function, shape: &Shape) -> BTreeSet<Inst> {
    let forest = LoopForest::new(&Cfg::new(func), &Dominators::new(func));
    let around = forest.headed_by(shape.header).and_then(|l| forest.loops[l].parent);
    let is_around = |block: &&Block| around.is_none_or(|around| forest.contains(around, **block));
    func.layout
        .iter()
        .filter(is_around)
        .flat_map(|&b| func.blocks[b].insts.iter().copied())
        .collect()
}

/// Blocks of a loop at most.
pub(crate) const MAX_BLOCKS: usize = 64;

/// What a counter grows by in an iteration at most.
const MAX_STEP: u64 = 1 << 20;
