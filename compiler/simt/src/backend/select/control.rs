//! Ends of blocks: branches with the point where threads meet again, switches as trees of
//! comparisons, copies of arguments on edges.

use std::collections::HashSet;

use cranelift_entity::SecondaryMap;
use nbcc_ir::{Block, BlockCall, Terminator, Value};
use nbcc_isa::{Imm, Instruction};
use nbcc_isa_simt::operands::{IntTest, NO_RECONVERGENCE, Source};
use nbcc_isa_simt::{Inst, Op as MachOp, RegClass};
use nbcc_mach::{VReg, copies};

use super::{MachFunction, Result, Selector, class_of};

impl Selector<'_> {
    pub(super) fn terminator(&mut self, block: Block) -> Result<()> {
        let ir = self.ir;
        match ir.terminator(block) {
            Terminator::Jump(to) => {
                self.copy_args(to);
                let target = self.main(to.block);
                self.jump(target);
            }
            Terminator::Branch(cond, then, other) => self.branch(block, *cond, then, other),
            Terminator::Switch(value, cases, default) => {
                self.switch(block, *value, cases, default)?;
            }
            Terminator::Return(_) | Terminator::Exit => self.push(MachOp::Exit {}),
            Terminator::Trap(message) => {
                let message = self.messages.number(message);
                self.push(MachOp::Trap { message });
            }
        }
        Ok(())
    }

    fn main(&self, block: Block) -> nbcc_mach::Block {
        self.block_of[block].unwrap_or_else(|| panic!("{block} is not reachable"))
    }

    fn jump(&mut self, to: nbcc_mach::Block) {
        let target = Imm::Label(to.as_u32());
        self.push(MachOp::Bra { target, reconverge: Imm::Value(NO_RECONVERGENCE) });
        self.out.blocks[self.current].successors.push(to);
    }

    fn jump_if(&mut self, to: nbcc_mach::Block, guard: VReg, negated: bool, reconverge: Imm) {
        let target = Imm::Label(to.as_u32());
        self.push_inst(Inst::guarded(MachOp::Bra { target, reconverge }, guard, negated));
        self.out.blocks[self.current].successors.push(to);
    }

    /// Where threads that part at the end of a block meet again.
    fn reconvergence(&mut self, block: Block) -> Imm {
        let condition = match self.ir.terminator(block) {
            Terminator::Branch(value, ..) | Terminator::Switch(value, ..) => Some(*value),
            _ => None,
        };
        let divergent = condition.is_some_and(|value| !self.uniformity.is_uniform(value));
        self.branches[usize::from(!divergent)] += 1;
        match self.post.immediate(block) {
            Some(meeting) if divergent => Imm::Label(self.main(meeting).as_u32()),
            _ => Imm::Value(NO_RECONVERGENCE),
        }
    }

    /// The block that an edge leads to: one of its own where arguments are copied on it, to be
    /// filled later.
    fn edge(&mut self, from: Block, to: &BlockCall) -> (nbcc_mach::Block, bool) {
        if to.args.is_empty() {
            return (self.main(to.block), false);
        }
        let depth = self.depth[from].min(self.depth[to.block]);
        (self.new_block(depth), true)
    }

    fn fill_edge(&mut self, edge: (nbcc_mach::Block, bool), to: &BlockCall) {
        if edge.1 {
            self.start(edge.0);
            self.copy_args(to);
            let target = self.main(to.block);
            self.jump(target);
        }
    }

    fn branch(&mut self, block: Block, cond: Value, then: &BlockCall, other: &BlockCall) {
        let reconverge = self.reconvergence(block);
        let (guard, negated) = self.guard(cond);
        let then_edge = self.edge(block, then);
        let other_edge = self.edge(block, other);
        self.jump_if(then_edge.0, guard, negated, reconverge);
        self.jump(other_edge.0);
        self.fill_edge(other_edge, other);
        self.fill_edge(then_edge, then);
    }

    /// A switch halves the cases that are left with each comparison.
    fn switch(
        &mut self,
        block: Block,
        value: Value,
        cases: &[BlockCall],
        default: &BlockCall,
    ) -> Result<()> {
        let reconverge = self.reconvergence(block);
        let scalar = self.ir.ty(value).scalar;
        if scalar.bits() == 1 {
            return Err("a switch on a truth value".to_string());
        }
        let selector = match self.constant(value, 0) {
            Some(bits) => self.materialize(class_of(scalar), bits),
            None => self.extended(value, 0, false),
        };
        let all: Vec<&BlockCall> = cases.iter().chain([default]).collect();
        let edges: Vec<_> = all.iter().map(|to| self.edge(block, to)).collect();
        // The cases `first..last` of `edges`, the last of which takes all from `last - 1` on.
        let depth = self.depth[block];
        let mut work = vec![(None, 0usize, edges.len())];
        while let Some((node, first, last)) = work.pop() {
            if let Some(node) = node {
                self.start(node);
            }
            if last - first == 1 {
                self.jump(edges[first].0);
                continue;
            }
            let middle = first + (last - first) / 2;
            let below = self.pred();
            let limit = Source::Imm(middle as u32);
            let test = IntTest::LtU;
            self.push(match class_of(scalar) {
                RegClass::Wide => MachOp::CmpWide { test, dst: below, a: selector, b: limit },
                _ => MachOp::Cmp { test, dst: below, a: selector, b: limit },
            });
            let mut target = |this: &mut Self, first: usize, last: usize| match last - first {
                1 => edges[first].0,
                _ => {
                    let node = this.new_block(depth);
                    work.push((Some(node), first, last));
                    node
                }
            };
            let low = target(self, first, middle);
            let high = target(self, middle, last);
            self.jump_if(low, below, false, reconverge);
            self.jump(high);
        }
        for (edge, to) in edges.into_iter().zip(all) {
            self.fill_edge(edge, to);
        }
        Ok(())
    }

    /// Copies arguments to the parameters of a block.
    fn copy_args(&mut self, to: &BlockCall) {
        let params = &self.ir.blocks[to.block].params;
        let mut moves = Vec::new();
        let mut numbers = Vec::new();
        for (&param, &arg) in params.iter().zip(&to.args) {
            for lane in 0..usize::from(self.ir.ty(param).lanes) {
                let dst = self.regs[param][lane];
                match self.constant(arg, lane) {
                    Some(bits) => numbers.push((dst, bits)),
                    None => moves.push((dst, self.regs[arg][lane])),
                }
            }
        }
        let out = &mut self.out;
        let ordered = copies::sequence(&moves, |like| out.vreg(out.vregs[like].class));
        for (dst, src) in ordered {
            self.copy(dst, src);
        }
        for (dst, bits) in numbers {
            let class = self.out.vregs[dst].class;
            self.set(class, dst, bits);
        }
    }

    /// Copies a register to one of its class.
    pub(super) fn copy(&mut self, dst: VReg, src: VReg) {
        self.push(match self.out.vregs[dst].class {
            RegClass::Word => MachOp::Mov { dst, src: Source::Reg(src) },
            RegClass::Wide => MachOp::MovWide { dst, src },
            RegClass::Pred => MachOp::PredMov { dst, src },
        });
    }
}

/// Renumbers blocks in the order of the layout.
pub(super) fn renumber(func: &mut MachFunction, layout: &[nbcc_mach::Block]) {
    let mut number: SecondaryMap<nbcc_mach::Block, u32> = SecondaryMap::new();
    for (at, &block) in layout.iter().enumerate() {
        number[block] = at as u32;
    }
    let mut blocks = cranelift_entity::PrimaryMap::new();
    for &block in layout {
        let data = &mut func.blocks[block];
        let mut data = nbcc_mach::BlockData {
            insts: std::mem::take(&mut data.insts),
            successors: std::mem::take(&mut data.successors),
            loop_depth: data.loop_depth,
        };
        for inst in &mut data.insts {
            inst.inst.for_each_symbolic_mut(|imm| {
                if let Imm::Label(label) = imm {
                    *label = number[nbcc_mach::Block::from_u32(*label)];
                }
            });
        }
        let mut seen = HashSet::new();
        data.successors.retain(|to| seen.insert(*to));
        for to in &mut data.successors {
            *to = nbcc_mach::Block::from_u32(number[*to]);
        }
        blocks.push(data);
    }
    func.blocks = blocks;
}
