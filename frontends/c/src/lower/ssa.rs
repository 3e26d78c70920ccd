//! SSA form while blocks are built (Braun et al., "Simple and Efficient Construction of Static
//! Single Assignment Form", CC 2013): a variable that is read where several blocks meet becomes a
//! parameter there. A block is sealed once all that lead to it are known.

use std::collections::HashMap;

use nbcc_ir::{Block, Constant, Function, Op, Terminator, Type, Value};

/// A variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Var(u32);

/// What is known of variables and blocks.
#[derive(Debug, Default)]
pub(crate) struct Ssa {
    types: Vec<Type>,
    values: HashMap<(Block, Var), Value>,
    blocks: HashMap<Block, Known>,
    zeros: HashMap<Type, Value>,
}

#[derive(Debug, Default)]
struct Known {
    sealed: bool,
    /// The blocks that lead here, each once.
    from: Vec<Block>,
    /// Parameters that wait for those that lead here.
    waiting: Vec<(Var, Value)>,
}

impl Ssa {
    /// A new variable.
    pub(crate) fn variable(&mut self, ty: Type) -> Var {
        self.types.push(ty);
        Var(self.types.len() as u32 - 1)
    }

    /// The type of a variable.
    pub(crate) fn type_of(&self, var: Var) -> Type {
        self.types[var.0 as usize]
    }

    /// Gives a variable a value from the end of a block on.
    pub(crate) fn write(&mut self, block: Block, var: Var, value: Value) {
        self.values.insert((block, var), value);
    }

    /// The value of a variable at the end of a block.
    pub(crate) fn read(&mut self, func: &mut Function, block: Block, var: Var) -> Value {
        // Blocks with one way in are passed through.
        let mut passed = Vec::new();
        let mut at = block;
        let value = loop {
            if let Some(&value) = self.values.get(&(at, var)) {
                break value;
            }
            let known = self.blocks.entry(at).or_default();
            if !known.sealed {
                let value = func.add_param(at, self.types[var.0 as usize]);
                known.waiting.push((var, value));
                break value;
            }
            match known.from[..] {
                [] => break self.zero(func, var),
                [only] => {
                    passed.push(at);
                    at = only;
                }
                _ => {
                    let value = func.add_param(at, self.types[var.0 as usize]);
                    self.values.insert((at, var), value);
                    self.arguments(func, at, var);
                    break value;
                }
            }
        };
        self.values.insert((at, var), value);
        for block in passed {
            self.values.insert((block, var), value);
        }
        value
    }

    /// What a variable holds that nothing was written to.
    fn zero(&mut self, func: &mut Function, var: Var) -> Value {
        let ty = self.types[var.0 as usize];
        if let Some(&value) = self.zeros.get(&ty) {
            return value;
        }
        let inst = func.make_inst(Op::Const(ty, Constant::Splat(0)), &[ty], None);
        let entry = func.entry();
        func.blocks[entry].insts.insert(0, inst);
        let value = func.insts[inst].results[0];
        self.zeros.insert(ty, value);
        value
    }

    /// Every block that leads to `block` gives it the value of the variable.
    fn arguments(&mut self, func: &mut Function, block: Block, var: Var) {
        let from = self.blocks[&block].from.clone();
        for pred in from {
            let value = self.read(func, pred, var);
            let Some(terminator) = &mut func.blocks[pred].terminator else { continue };
            for to in terminator.successors_mut() {
                if to.block == block {
                    to.args.push(value);
                }
            }
        }
    }

    /// Notes where a terminator leads.
    pub(crate) fn leads(&mut self, block: Block, terminator: &Terminator) {
        for to in terminator.successors() {
            let known = self.blocks.entry(to.block).or_default();
            assert!(!known.sealed, "{} is sealed", to.block);
            if !known.from.contains(&block) {
                known.from.push(block);
            }
        }
    }

    /// Says that all blocks that lead to `block` are known.
    pub(crate) fn seal(&mut self, func: &mut Function, block: Block) {
        let known = self.blocks.entry(block).or_default();
        if known.sealed {
            return;
        }
        known.sealed = true;
        let waiting = std::mem::take(&mut known.waiting);
        for (var, _) in waiting {
            self.arguments(func, block, var);
        }
    }
}
