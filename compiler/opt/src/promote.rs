//! Small arrays of a function whose subscripts are all constants become values: each element is a
//! variable, and variables become values of static single assignment form, by looking backwards for
//! what was stored last (Braun et al., "Simple and Efficient Construction of Static Single Assignment
//! Form", CC 2013).

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::SecondaryMap;
use nbcc_ir::{
    Block, Cfg, Constant, Func, Function, Inst, Mem, MemData, Module, Object, Op, RelocationTarget,
    Replacements, Scalar, Space, Storage, Type, Value,
};

use crate::params;

/// Elements of an array at most.
const ELEMENTS: u32 = 64;

/// What objects hold at the start, by the names that a function has for them: the first bytes, the
/// rest is zero.
pub type Contents = BTreeMap<Mem, Vec<u8>>;

/// The objects of a module that only this function names, once each, and what they hold. What they
/// hold at its end is lost where they become values: nobody may call it again.
pub fn own_objects(module: &Module, func: Func) -> Contents {
    let object = |data: &MemData| match data.storage {
        Storage::Object(object) => Some(object),
        _ => None,
    };
    let named = || {
        let mems = module.functions.values().flat_map(|func| func.mems.values());
        let relocations = module.objects.values().flat_map(|data| &data.relocations);
        let pointed = relocations.filter_map(|relocation| match relocation.target {
            RelocationTarget::Object(object) | RelocationTarget::Generic(object) => Some(object),
            RelocationTarget::Function(_) => None,
        });
        mems.filter_map(object).chain(pointed)
    };
    let mut times: SecondaryMap<Object, u32> = SecondaryMap::new();
    named().for_each(|object| times[object] += 1);
    let func = &module.functions[func];
    let own = func.mems.iter().filter_map(|(mem, data)| {
        let object = object(data).filter(|&object| times[object] == 1)?;
        let data = &module.objects[object];
        (data.relocations.is_empty() && !data.dynamic).then(|| (mem, data.bytes.clone()))
    });
    own.collect()
}

/// Makes values of such arrays.
pub fn run(func: &mut Function) -> bool {
    run_with(func, &Contents::new())
}

/// The same for objects of the module as well, of which [`own_objects`] says what they hold.
pub fn run_with(func: &mut Function, contents: &Contents) -> bool {
    let candidates = candidates(func, contents);
    if candidates.is_empty() {
        return false;
    }
    let cfg = Cfg::new(func);
    let mut promotion = Promotion {
        contents,
        at_end: BTreeMap::new(),
        at_start: BTreeMap::new(),
        params: Vec::new(),
        replacements: Replacements::new(),
    };
    let order: Vec<Block> = cfg.reverse_postorder().collect();
    // What each block stores last, without what it loads.
    let mut removed: BTreeSet<Inst> = BTreeSet::new();
    let mut loads: Vec<(Block, Variable, Inst)> = Vec::new();
    for &block in &order {
        let mut now: BTreeMap<Variable, Value> = BTreeMap::new();
        for inst in func.blocks[block].insts.clone() {
            match &func.insts[inst].op {
                Op::Store(mem, subscripts, value) if candidates.contains(mem) => {
                    let Some(element) = constant(func, subscripts) else { continue };
                    now.insert((*mem, element), *value);
                    removed.insert(inst);
                }
                Op::Load(_, mem, subscripts) if candidates.contains(mem) => {
                    let Some(element) = constant(func, subscripts) else { continue };
                    let variable = (*mem, element);
                    match now.get(&variable) {
                        Some(&value) => {
                            promotion.replacements.replace(func.insts[inst].results[0], value);
                        }
                        None => {
                            // The first of a block: what later ones read as well.
                            let value = func.insts[inst].results[0];
                            now.insert(variable, value);
                            loads.push((block, variable, inst));
                        }
                    }
                    removed.insert(inst);
                }
                _ => {}
            }
        }
        for (variable, value) in now {
            promotion.at_end.insert((block, variable), value);
        }
    }
    // A value that is loaded and what it is at the start of the block are one.
    for (block, variable, inst) in loads {
        let value = promotion.start(func, &cfg, block, variable);
        let loaded = func.insts[inst].results[0];
        if promotion.replacements.resolve(value) != loaded {
            promotion.replacements.replace(loaded, value);
        }
    }
    // Arguments for the parameters that were added, which may add more.
    let mut next = 0;
    while let Some(&(block, variable)) = promotion.params.get(next) {
        next += 1;
        let mut before: Vec<Block> =
            cfg.predecessors(block).iter().copied().filter(|&b| cfg.is_reachable(b)).collect();
        before.sort();
        before.dedup();
        for from in before {
            let value = promotion.end(func, &cfg, from, variable);
            let Some(terminator) = func.blocks[from].terminator.as_mut() else { continue };
            for to in terminator.successors_mut() {
                if to.block == block {
                    to.args.push(value);
                }
            }
        }
    }
    for &block in &order {
        func.blocks[block].insts.retain(|inst| !removed.contains(inst));
    }
    promotion.replacements.apply(func);
    params::run(func);
    true
}

/// An element of an array.
type Variable = (Mem, u32);

struct Promotion<'a> {
    contents: &'a Contents,
    /// What a block leaves in a variable.
    at_end: BTreeMap<(Block, Variable), Value>,
    /// What it finds there.
    at_start: BTreeMap<(Block, Variable), Value>,
    /// The parameters that were added, in the order in which they need arguments.
    params: Vec<(Block, Variable)>,
    replacements: Replacements,
}

impl Promotion<'_> {
    fn end(&mut self, func: &mut Function, cfg: &Cfg, block: Block, variable: Variable) -> Value {
        match self.at_end.get(&(block, variable)) {
            Some(&value) => value,
            None => self.start(func, cfg, block, variable),
        }
    }

    /// Follows single predecessors, so that only blocks where ways meet get parameters.
    fn start(&mut self, func: &mut Function, cfg: &Cfg, block: Block, variable: Variable) -> Value {
        let mut passed = Vec::new();
        let mut at = block;
        let value = loop {
            if let Some(&value) = self.at_start.get(&(at, variable)) {
                break value;
            }
            passed.push(at);
            if at == func.entry() {
                break self.first(func, variable);
            }
            let before: Vec<Block> =
                cfg.predecessors(at).iter().copied().filter(|&b| cfg.is_reachable(b)).collect();
            match before[..] {
                [only] => match self.at_end.get(&(only, variable)) {
                    Some(&value) => break value,
                    None => at = only,
                },
                _ => {
                    let ty = Type { scalar: func.mems[variable.0].element, lanes: 1 };
                    let param = func.add_param(at, ty);
                    self.params.push((at, variable));
                    break param;
                }
            }
        };
        for block in passed {
            self.at_start.insert((block, variable), value);
        }
        value
    }

    /// What a variable begins as, in a constant at the start of the function.
    fn first(&self, func: &mut Function, (mem, element): Variable) -> Value {
        let ty = Type { scalar: func.mems[mem].element, lanes: 1 };
        let width = ty.scalar.bytes() as usize;
        let bytes = self.contents.get(&mem).map_or(&[][..], |bytes| bytes);
        let own = bytes.iter().skip(element as usize * width).take(width);
        let bits = own.rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
        let inst = func.make_inst(Op::Const(ty, Constant::Splat(bits)), &[ty], None);
        let entry = func.entry();
        func.blocks[entry].insts.insert(0, inst);
        func.insts[inst].results[0]
    }
}

/// The arrays of which each access has one constant subscript that is inside.
fn candidates(func: &Function, contents: &Contents) -> BTreeSet<Mem> {
    let is_small = |mem: &Mem| {
        let data = &func.mems[*mem];
        let extents = data.fixed_extents();
        let is_integer = matches!(
            data.element,
            Scalar::I1 | Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64
        );
        let is_own = data.storage == Storage::Own && data.space == Space::Local;
        (is_own || contents.contains_key(mem))
            && is_integer
            && matches!(extents.as_deref(), Some([count]) if *count <= ELEMENTS)
    };
    let mut good: SecondaryMap<Mem, bool> = SecondaryMap::new();
    func.mems.keys().filter(is_small).for_each(|mem| good[mem] = true);
    let mut used: SecondaryMap<Mem, bool> = SecondaryMap::new();
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            match &func.insts[inst].op {
                Op::Load(ty, mem, subscripts) => {
                    used[*mem] = true;
                    good[*mem] &= inside(func, *mem, subscripts) && !ty.is_vector();
                }
                Op::Store(mem, subscripts, _) => {
                    used[*mem] = true;
                    good[*mem] &= inside(func, *mem, subscripts);
                }
                Op::Intrinsic(call) => call.mems.iter().for_each(|&mem| good[mem] = false),
                _ => {}
            }
        }
    }
    func.mems.keys().filter(|&mem| good[mem] && used[mem]).collect()
}

fn constant(func: &Function, subscripts: &[Value]) -> Option<u32> {
    match subscripts {
        [only] => func.splat_constant(*only).map(|bits| bits as u32),
        _ => None,
    }
}

fn inside(func: &Function, mem: Mem, subscripts: &[Value]) -> bool {
    let extents = func.mems[mem].fixed_extents().unwrap_or_default();
    constant(func, subscripts).is_some_and(|at| extents.first().is_some_and(|&count| at < count))
}
