//! Ends of blocks: branches, and the parallel copies that hand arguments to parameters.

use cranelift_entity::SecondaryMap;
use nbcc_ir::{BlockCall, IntCond, Op, Terminator, Value};
use nbcc_isa::Imm;
use nbcc_isa_sdpnm::core::{I12, Inst, TrapKind};
use nbcc_mach::{Block, VReg, copies};

use super::{Selecting, Selector, frame_offset};
use crate::core::NO_RESULT;

type Starts = SecondaryMap<nbcc_ir::Block, Option<Block>>;

impl Selector<'_> {
    pub(super) fn terminator(&mut self, terminator: &Terminator, starts: &Starts) -> Selecting<()> {
        match terminator {
            Terminator::Jump(to) => {
                self.copies(to);
                self.jump(start(starts, to));
            }
            Terminator::Branch(cond, then, other) => {
                let here = self.at;
                let [then, other] = [then, other].map(|to| self.edge(to, starts));
                self.at = here;
                self.branch(*cond, then);
                self.jump(other);
            }
            Terminator::Switch(value, cases, default) => {
                self.switch(*value, cases, default, starts);
            }
            Terminator::Return(values) => {
                let (frame, link, zero) = (self.frame, self.link, self.zero);
                if let Some(&value) = values.first() {
                    self.check_type(self.ir.ty(value))?;
                    let words = if self.is_wide(value) { 2 } else { 1 };
                    let regs = self.regs(value);
                    for (word, src) in regs.into_iter().enumerate().take(words) {
                        let offset = frame_offset(4 * word as u32);
                        self.emit(Inst::Sw { src, offset, base: frame });
                    }
                }
                self.emit(Inst::Jalr { dst: zero, offset: I12(0), base: link });
            }
            Terminator::Trap(message) => {
                let kind = match message == NO_RESULT {
                    true => TrapKind::Division,
                    false => TrapKind::Message(message.clone()),
                };
                let trap = self.trap(kind, &[]);
                self.jump(trap);
            }
            Terminator::Exit => return self.refuse("the end of a thread"),
        }
        Ok(())
    }

    fn jump(&mut self, to: Block) {
        let zero = self.zero;
        self.emit(Inst::Jal { dst: zero, to: Imm::Label(to.as_u32()) });
        self.func.blocks[self.at].successors.push(to);
    }

    /// The block that an edge goes to: one that copies arguments first, where there are some.
    fn edge(&mut self, to: &BlockCall, starts: &Starts) -> Block {
        if to.args.is_empty() {
            return start(starts, to);
        }
        let between = self.new_block(self.depth);
        self.order.push(between);
        self.at = between;
        self.copies(to);
        self.jump(start(starts, to));
        between
    }

    /// Hands arguments to parameters, all at once.
    fn copies(&mut self, to: &BlockCall) {
        let mut moves: Vec<(VReg, VReg)> = Vec::new();
        for (&param, &arg) in self.ir.blocks[to.block].params.iter().zip(&to.args) {
            let words = if self.is_wide(param) { 2 } else { 1 };
            let (dst, src) = (self.regs(param), self.regs(arg));
            moves.extend(dst.into_iter().zip(src).take(words));
        }
        for (dst, src) in copies::sequence(&moves, |_| self.register()) {
            self.copy(dst, src);
        }
    }

    /// Goes to a block where a truth value holds.
    fn branch(&mut self, cond: Value, to: Block) {
        let target = Imm::Label(to.as_u32());
        let zero = self.zero;
        let inst = match self.ir.def_op(cond) {
            Some(&Op::Icmp(cond, a, b)) if !self.is_wide(a) => {
                self.compare_and_branch(cond, a, b, target)
            }
            _ => {
                let truth = self.reg(cond);
                Inst::Bne { a: truth, b: zero, to: target }
            }
        };
        self.emit(inst);
        self.func.blocks[self.at].successors.push(to);
    }

    fn compare_and_branch(&mut self, cond: IntCond, a: Value, b: Value, to: Imm) -> Inst<VReg> {
        use IntCond::*;
        let signed = matches!(cond, Slt | Sle | Sgt | Sge);
        let [a, b] = [a, b].map(|value| match self.known(value) {
            Some(0) => self.zero,
            _ => self.operand(value, signed),
        });
        match cond {
            Eq => Inst::Beq { a, b, to },
            Ne => Inst::Bne { a, b, to },
            Slt => Inst::Blt { a, b, to },
            Sge => Inst::Bge { a, b, to },
            Sgt => Inst::Blt { a: b, b: a, to },
            Sle => Inst::Bge { a: b, b: a, to },
            Ult => Inst::Bltu { a, b, to },
            Uge => Inst::Bgeu { a, b, to },
            Ugt => Inst::Bltu { a: b, b: a, to },
            Ule => Inst::Bgeu { a: b, b: a, to },
        }
    }

    /// Goes to a case by its number, by halves.
    fn switch(&mut self, value: Value, cases: &[BlockCall], default: &BlockCall, starts: &Starts) {
        let here = self.at;
        let targets: Vec<Block> = cases.iter().map(|to| self.edge(to, starts)).collect();
        let default = self.edge(default, starts);
        self.at = here;
        let number = self.extended(value, false);
        if self.is_wide(value) {
            let [_, high] = self.regs(value);
            let go_on = self.new_block(self.depth);
            self.order.push(go_on);
            let zero = self.zero;
            self.branch_or(Inst::Bne { a: high, b: zero, to: label(default) }, default, go_on);
        }
        self.search(number, &targets, 0, default);
    }

    fn branch_or(&mut self, branch: Inst<VReg>, to: Block, go_on: Block) {
        self.emit(branch);
        self.func.blocks[self.at].successors.push(to);
        self.jump(go_on);
        self.at = go_on;
    }

    /// The number is at least `first`, that of the first target.
    fn search(&mut self, number: VReg, targets: &[Block], first: i32, default: Block) {
        match targets {
            [] => self.jump(default),
            [only] => {
                let known = self.word(first);
                self.emit(Inst::Beq { a: number, b: known, to: label(*only) });
                self.func.blocks[self.at].successors.push(*only);
                self.jump(default);
            }
            _ => {
                let (low, high) = targets.split_at(targets.len() / 2);
                let middle = first + low.len() as i32;
                let known = self.word(middle);
                let [below, above] = [(); 2].map(|()| {
                    let block = self.new_block(self.depth);
                    self.order.push(block);
                    block
                });
                let branch = Inst::Bltu { a: number, b: known, to: label(below) };
                self.branch_or(branch, below, above);
                self.search(number, high, middle, default);
                self.at = below;
                self.search(number, low, first, default);
            }
        }
    }
}

fn label(block: Block) -> Imm {
    Imm::Label(block.as_u32())
}

fn start(starts: &Starts, to: &BlockCall) -> Block {
    starts[to.block].expect("what is reached has a block")
}
