//! Strength reduction of `i32` induction values: a product of a loop's counter and a constant, and
//! sums of such products with what does not change in the loop, become a header parameter that is
//! incremented each iteration (Allen, Cocke, Kennedy, "Reduction of Operator Strength", 1981; here
//! on the linear forms of values rather than on a hash table of temporaries).
//!
//! All arithmetic is modulo 2^32, in which `(i + c) * k = i * k + c * k` holds without exception.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::SecondaryMap;
use nbcc_analysis::{AffineForms, Loop, LoopForest};
use nbcc_ir::{
    BinaryOp, Block, Cfg, Constant, Dominators, Function, Inst, Op, Positions, Replacements,
    Terminator, Type, UnaryOp, Value, ValueDef,
};

/// Reduces what pays: chains of operations with a multiplication, or of two or more additions.
pub fn run(func: &mut Function) -> bool {
    let (cfg, dominators) = (Cfg::new(func), Dominators::new(func));
    let forest = LoopForest::new(&cfg, &dominators);
    if forest.loops.is_empty() {
        return false;
    }
    let forms = AffineForms::new(func, &cfg);
    let positions = Positions::new(func);
    let users = users(func);
    let mut reducer = Reducer {
        func,
        cfg: &cfg,
        dominators: &dominators,
        forest: &forest,
        forms: &forms,
        positions: &positions,
        users: &users,
        replacements: Replacements::new(),
    };
    // Outer loops first: what they replace does not change in inner ones.
    for l in forest.loops.keys() {
        reducer.reduce(l);
    }
    let Reducer { mut replacements, .. } = reducer;
    replacements.apply(func);
    !replacements.is_empty()
}

/// The instructions that use each value, and whether terminators do.
type Users = SecondaryMap<Value, (Vec<Inst>, bool)>;

fn users(func: &Function) -> Users {
    let mut users = Users::new();
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            func.insts[inst].op.for_each_arg(|value| users[value].0.push(inst));
        }
        func.terminator(block).for_each_arg(|value| users[value].1 = true);
    }
    users
}

/// The terms of a form, and how much it grows.
type Shape = (Vec<(Value, i32)>, i32);

/// An instruction of a loop whose value grows by a constant each iteration.
struct Derived {
    inst: Inst,
    value: Value,
    step: i32,
    /// A constant away from the operand: an addition either way, so it stays one.
    is_offset: bool,
    /// What the operation costs where a sum costs 1.
    weight: u32,
    /// Its operands that grow themselves.
    bases: Vec<Value>,
}

struct Reducer<'a> {
    func: &'a mut Function,
    cfg: &'a Cfg,
    dominators: &'a Dominators,
    forest: &'a LoopForest,
    forms: &'a AffineForms,
    positions: &'a Positions,
    users: &'a Users,
    replacements: Replacements,
}

impl Reducer<'_> {
    fn reduce(&mut self, l: Loop) {
        let basic = self.basic(l);
        if basic.is_empty() {
            return;
        }
        let derived = self.derived(l, &basic);
        let roots = self.roots(l, &basic, &derived);
        if roots.is_empty() {
            return;
        }
        let header = self.forest.loops[l].header;
        let inside = |block| self.forest.contains(l, block);
        let Some(preheader) = self.func.preheader(self.cfg, header, inside) else { return };
        let first = self.first_values(preheader, header, &basic, &derived, &roots);

        // Roots with forms that differ by a constant share a parameter.
        let mut shared: BTreeMap<Shape, (Value, i32)> = BTreeMap::new();
        let mut offsets: BTreeMap<Inst, Inst> = BTreeMap::new();
        for &number in &roots {
            let Derived { inst, value, step, .. } = derived[number];
            let form = self.forms.get(value);
            let span = self.func.insts[inst].span;
            let shape = (form.terms, step);
            match shared.get(&shape) {
                Some(&(param, constant)) => {
                    let offset = form.constant.wrapping_sub(constant);
                    if offset == 0 {
                        self.replacements.replace(value, param);
                        continue;
                    }
                    // The instruction becomes the sum of the parameter and the offset.
                    let op = constant_op(offset);
                    let constant = self.func.make_inst(op, &[Type::I32], span);
                    let offset = self.func.insts[constant].results[0];
                    self.func.insts[inst].op = Op::Binary(BinaryOp::Iadd, param, offset);
                    offsets.insert(inst, constant);
                }
                None => {
                    let param = self.new_param(l, preheader, first[&value], step, inst);
                    self.replacements.replace(value, param);
                    shared.insert(shape, (param, form.constant));
                }
            }
        }
        for &block in &self.forest.loops[l].own {
            if offsets.is_empty() {
                break;
            }
            let insts = std::mem::take(&mut self.func.blocks[block].insts);
            let with_offset = insts
                .into_iter()
                .flat_map(|inst| [offsets.remove(&inst), Some(inst)].into_iter().flatten());
            self.func.blocks[block].insts = with_offset.collect();
        }
    }

    /// The header's parameters that change by the same constant on every way back, with it.
    fn basic(&self, l: Loop) -> BTreeMap<Value, i32> {
        let data = &self.forest.loops[l];
        let mut basic = BTreeMap::new();
        for (number, &param) in self.func.blocks[data.header].params.iter().enumerate() {
            if self.func.ty(param) != Type::I32 {
                continue;
            }
            let mut steps = BTreeSet::new();
            for &latch in &data.latches {
                for to in self.func.terminator(latch).successors() {
                    if to.block == data.header {
                        let next = self.forms.get(to.args[number]);
                        let constant = next.terms == [(param, 1)];
                        steps.insert(constant.then_some(next.constant));
                    }
                }
            }
            if let (1, Some(&Some(step))) = (steps.len(), steps.first())
                && step != 0
            {
                basic.insert(param, step);
            }
        }
        basic
    }

    /// The instructions of a loop, but not of those inside it, that grow by a constant, in an
    /// order in which operands come first.
    fn derived(&mut self, l: Loop, basic: &BTreeMap<Value, i32>) -> Vec<Derived> {
        let mut steps = basic.clone();
        let mut derived = Vec::new();
        for &block in &self.forest.loops[l].own {
            for &inst in &self.func.blocks[block].insts {
                let Some(value) = self.func.result(inst) else { continue };
                if self.func.ty(value) != Type::I32 {
                    continue;
                }
                let found = self.classify(l, &steps, inst, value);
                if let Some(found) = found.filter(|found| found.step != 0) {
                    steps.insert(value, found.step);
                    derived.push(found);
                }
            }
        }
        derived
    }

    fn classify(
        &self,
        l: Loop,
        steps: &BTreeMap<Value, i32>,
        inst: Inst,
        value: Value,
    ) -> Option<Derived> {
        let op = &self.func.insts[inst].op;
        let mut bases = Vec::new();
        let mut others_fixed = true;
        op.for_each_arg(|arg| match steps.contains_key(&arg) {
            true => bases.push(arg),
            false => others_fixed &= self.is_fixed(l, arg),
        });
        if bases.is_empty() || !others_fixed {
            return None;
        }
        let step = |value: &Value| steps.get(value).copied().unwrap_or(0);
        let constant = |value: &Value| self.func.splat_constant(*value).map(|bits| bits as i32);
        let one_base = bases.len() == 1;
        let (step, is_offset, weight) = match op {
            Op::Unary(UnaryOp::Ineg, a) => (step(a).wrapping_neg(), false, 1),
            Op::Binary(BinaryOp::Iadd, a, b) => {
                let offset = one_base && (constant(a).is_some() || constant(b).is_some());
                (step(a).wrapping_add(step(b)), offset, 1)
            }
            Op::Binary(BinaryOp::Isub, a, b) => {
                let offset = one_base && constant(b).is_some();
                (step(a).wrapping_sub(step(b)), offset, 1)
            }
            Op::Binary(BinaryOp::Imul, a, b) if one_base => match (constant(a), constant(b)) {
                (_, Some(factor)) => (step(a).wrapping_mul(factor), false, 2),
                (Some(factor), _) => (step(b).wrapping_mul(factor), false, 2),
                _ => return None,
            },
            Op::Binary(BinaryOp::Shl, a, b) if one_base && steps.contains_key(a) => {
                let amount = constant(b).filter(|amount| (0..32).contains(amount))?;
                (step(a).wrapping_shl(amount as u32), false, 1)
            }
            _ => return None,
        };
        Some(Derived { inst, value, step, is_offset, weight, bases })
    }

    /// Whether a value is a constant or defined outside of a loop.
    fn is_fixed(&self, l: Loop, value: Value) -> bool {
        if self.func.splat_constant(value).is_some() {
            return true;
        }
        // What earlier reductions made stands outside, or is a header parameter.
        let block = match self.func.values[value].def {
            ValueDef::Param(block, _) => Some(block),
            ValueDef::Result(inst, _) => self.positions.of(inst).map(|(block, _)| block),
        };
        block.is_none_or(|block| !self.forest.contains(l, block))
    }

    /// The numbers of the derived values to replace, in order.
    fn roots(&self, l: Loop, basic: &BTreeMap<Value, i32>, derived: &[Derived]) -> Vec<usize> {
        let by_inst: BTreeMap<Inst, usize> =
            derived.iter().enumerate().map(|(number, d)| (d.inst, number)).collect();
        let by_value: BTreeMap<Value, usize> =
            derived.iter().enumerate().map(|(number, d)| (d.value, number)).collect();
        // Used by something that does not grow: computed in any case.
        let directly: Vec<bool> = derived
            .iter()
            .map(|d| {
                let (insts, by_terminator) = &self.users[d.value];
                *by_terminator || insts.iter().any(|inst| !by_inst.contains_key(inst))
            })
            .collect();
        // The cost of a chain down to what is computed in any case.
        let mut cost = vec![0u32; derived.len()];
        for (number, d) in derived.iter().enumerate() {
            let below = d.bases.iter().map(|base| match by_value.get(base) {
                Some(&below) if !directly[below] => cost[below],
                _ => 0,
            });
            cost[number] = below.fold(d.weight, u32::saturating_add);
        }
        let latches = &self.forest.loops[l].latches;
        let every_iteration = |d: &Derived| {
            let block = self.positions.of(d.inst).map(|(block, _)| block);
            block.is_some_and(|b| latches.iter().all(|&latch| self.dominators.dominates(b, latch)))
        };
        let mut needed = directly;
        let mut roots = Vec::new();
        for (number, d) in derived.iter().enumerate().rev() {
            if !needed[number] {
                continue;
            }
            if !d.is_offset && cost[number] >= 2 && every_iteration(d) {
                roots.push(number);
                continue;
            }
            for base in &d.bases {
                if let Some(&below) = by_value.get(base) {
                    needed[below] = true;
                }
            }
        }
        debug_assert!(roots.iter().all(|&number| !basic.contains_key(&derived[number].value)));
        roots.reverse();
        roots
    }

    /// The values that roots have in the first iteration, computed in the preheader.
    fn first_values(
        &mut self,
        preheader: Block,
        header: Block,
        basic: &BTreeMap<Value, i32>,
        derived: &[Derived],
        roots: &[usize],
    ) -> BTreeMap<Value, Value> {
        let mut first: BTreeMap<Value, Value> = BTreeMap::new();
        let Terminator::Jump(to) = self.func.terminator(preheader) else {
            unreachable!("{preheader} is a preheader")
        };
        for (&param, &arg) in self.func.blocks[header].params.iter().zip(&to.args) {
            if basic.contains_key(&param) {
                first.insert(param, arg);
            }
        }
        let mut wanted: BTreeSet<Value> = roots.iter().map(|&n| derived[n].value).collect();
        for d in derived.iter().rev() {
            if wanted.contains(&d.value) {
                wanted.extend(&d.bases);
            }
        }
        for d in derived.iter().filter(|d| wanted.contains(&d.value)) {
            let span = self.func.insts[d.inst].span;
            let mut op = self.func.insts[d.inst].op.clone();
            op.for_each_arg_mut(|arg| {
                *arg = match first.get(arg) {
                    Some(&value) => value,
                    // Constants may stand in the loop: they get a copy.
                    None => match self.func.splat_constant(*arg) {
                        Some(bits) => append(self.func, preheader, constant_op(bits as i32), span),
                        None => self.replacements.resolve(*arg),
                    },
                }
            });
            let value = append(self.func, preheader, op, span);
            first.insert(d.value, value);
        }
        first
    }

    /// A header parameter that starts with `first` and grows by `step`.
    fn new_param(
        &mut self,
        l: Loop,
        preheader: Block,
        first: Value,
        step: i32,
        root: Inst,
    ) -> Value {
        let data = &self.forest.loops[l];
        let span = self.func.insts[root].span;
        let param = self.func.add_param(data.header, Type::I32);
        self.add_arg(preheader, data.header, first);
        for &latch in &data.latches {
            let step = append(self.func, latch, constant_op(step), span);
            let next = append(self.func, latch, Op::Binary(BinaryOp::Iadd, param, step), span);
            self.add_arg(latch, data.header, next);
        }
        param
    }

    fn add_arg(&mut self, from: Block, to: Block, value: Value) {
        let terminator = self.func.blocks[from].terminator.iter_mut();
        for edge in terminator.flat_map(Terminator::successors_mut) {
            if edge.block == to {
                edge.args.push(value);
            }
        }
    }
}

fn constant_op(value: i32) -> Op {
    Op::Const(Type::I32, Constant::Splat(u64::from(value as u32)))
}

/// Adds an instruction with an `i32` result at the end of a block.
fn append(func: &mut Function, block: Block, op: Op, span: Option<nbcc_base::Span>) -> Value {
    let inst = func.make_inst(op, &[Type::I32], span);
    func.blocks[block].insts.push(inst);
    func.insts[inst].results[0]
}
