//! Changes of functions that several passes make: replacing values, adding and removing block
//! parameters, preheaders.

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

use crate::{Block, BlockCall, Cfg, Function, Terminator, Type, Value, ValueDef};

/// Values that stand for others. Replacements are followed to their end.
#[derive(Clone, Debug, Default)]
pub struct Replacements {
    of: SecondaryMap<Value, PackedOption<Value>>,
    any: bool,
}

impl Replacements {
    /// No replacements.
    pub fn new() -> Replacements {
        Replacements::default()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        !self.any
    }

    /// Says that `new` stands for `old`. Panics where `old` stands for `new` already.
    pub fn replace(&mut self, old: Value, new: Value) {
        let new = self.resolve(new);
        assert!(old != new, "{old} would stand for itself");
        self.of[old] = new.into();
        self.any = true;
    }

    /// What stands for a value in the end: itself where nothing does.
    pub fn resolve(&mut self, value: Value) -> Value {
        let mut end = value;
        while let Some(next) = self.of[end].expand() {
            end = next;
        }
        // Path compression keeps long chains near linear.
        let mut at = value;
        while let Some(next) = self.of[at].expand() {
            self.of[at] = end.into();
            at = next;
        }
        end
    }

    /// Replaces every use in the blocks of a function.
    pub fn apply(&mut self, func: &mut Function) {
        if self.is_empty() {
            return;
        }
        for i in 0..func.layout.len() {
            func.rename_in(func.layout[i], |value| *value = self.resolve(*value));
        }
    }
}

impl Function {
    /// Gives each value that a block's instructions and its terminator use to `rename`.
    pub fn rename_in(&mut self, block: Block, mut rename: impl FnMut(&mut Value)) {
        let data = &mut self.blocks[block];
        for &inst in &data.insts {
            self.insts[inst].op.for_each_arg_mut(&mut rename);
        }
        if let Some(terminator) = &mut data.terminator {
            terminator.for_each_arg_mut(rename);
        }
    }

    /// How often instructions and terminators use each value.
    pub fn use_counts(&self) -> SecondaryMap<Value, u32> {
        let mut uses: SecondaryMap<Value, u32> = SecondaryMap::new();
        for &block in &self.layout {
            for &inst in &self.blocks[block].insts {
                self.insts[inst].op.for_each_arg(|value| uses[value] += 1);
            }
            self.terminator(block).for_each_arg(|value| uses[value] += 1);
        }
        uses
    }

    /// Removes block parameters, with the arguments that blocks give for them. The entry keeps
    /// its parameters. Nothing may use the removed ones any more. Linear in the function.
    pub fn remove_params(&mut self, remove: impl Fn(Value) -> bool) {
        let entry = self.entry();
        let mut kept: SecondaryMap<Block, Option<Vec<bool>>> = SecondaryMap::new();
        for &block in &self.layout {
            let params = &self.blocks[block].params;
            if block != entry && params.iter().any(|&p| remove(p)) {
                kept[block] = Some(params.iter().map(|&p| !remove(p)).collect());
            }
        }
        let retain = |values: &mut Vec<Value>, keep: &[bool]| {
            let mut keep = keep.iter();
            values.retain(|_| keep.next().copied().unwrap_or(true));
        };
        for &block in &self.layout {
            let data = &mut self.blocks[block];
            for to in data.terminator.iter_mut().flat_map(Terminator::successors_mut) {
                if let Some(keep) = &kept[to.block] {
                    retain(&mut to.args, keep);
                }
            }
            let Some(keep) = &kept[block] else { continue };
            if let Some(info) = &mut data.loop_info
                && info.counter.is_some_and(|counter| remove(counter.value))
            {
                info.counter = None;
            }
            retain(&mut data.params, keep);
            for (number, &param) in data.params.iter().enumerate() {
                self.values[param].def = ValueDef::Param(block, number as u32);
            }
        }
    }

    /// Adds a parameter to a block, and to each edge from the given predecessors the argument that
    /// `arg` gives for it.
    pub fn add_param_with_args(
        &mut self,
        block: Block,
        ty: Type,
        predecessors: &[Block],
        mut arg: impl FnMut(Block, Value) -> Value,
    ) -> Value {
        let param = self.add_param(block, ty);
        let mut predecessors = predecessors.to_vec();
        predecessors.sort();
        predecessors.dedup();
        for from in predecessors {
            let value = arg(from, param);
            for to in self.blocks[from].terminator.iter_mut().flat_map(Terminator::successors_mut) {
                if to.block == block {
                    to.args.push(value);
                }
            }
        }
        param
    }

    /// The block that every entry into a loop goes through, and which does nothing but go there:
    /// the only predecessor of `header` outside the loop where it ends in a jump, else a new block
    /// before the header in the layout. `is_inside` says which predecessors are in the loop.
    /// `None` where nothing enters the loop.
    pub fn preheader(
        &mut self,
        cfg: &Cfg,
        header: Block,
        is_inside: impl Fn(Block) -> bool,
    ) -> Option<Block> {
        let mut outside: Vec<Block> =
            cfg.predecessors(header).iter().copied().filter(|&b| !is_inside(b)).collect();
        if let [only] = outside[..]
            && matches!(self.terminator(only), Terminator::Jump(_))
        {
            return Some(only);
        }
        outside.sort();
        outside.dedup();
        let &first = outside.first()?;
        let types: Vec<Type> =
            self.blocks[header].params.iter().map(|&param| self.ty(param)).collect();
        let preheader = self.add_block();
        self.layout.pop();
        let at = self.layout.iter().position(|&b| b == header).unwrap_or(self.layout.len());
        self.layout.insert(at, preheader);
        let args: Vec<Value> = types.iter().map(|&ty| self.add_param(preheader, ty)).collect();
        let data = &mut self.blocks[preheader];
        data.terminator = Some(Terminator::Jump(BlockCall { block: header, args }));
        let span = self.blocks[first].span;
        self.blocks[preheader].span = span;
        for from in outside {
            for to in self.blocks[from].terminator.iter_mut().flat_map(Terminator::successors_mut) {
                if to.block == header {
                    to.block = preheader;
                }
            }
        }
        Some(preheader)
    }

    /// How many instructions stand in blocks of the layout.
    pub fn inst_count(&self) -> usize {
        self.layout.iter().map(|&block| self.blocks[block].insts.len()).sum()
    }
}
