//! The instructions of a kernel as the checker sees them: which may follow each, and what each reads
//! and writes. It is made of the binary alone.

use nbcc_isa::{Imm, Instruction, Role};
use nbcc_isa_simt::operands::Space;
use nbcc_isa_simt::{INSTRUCTION_BYTES, Inst, Kernel, Op, PhysReg, Program};

use super::registers::RegisterSet;

/// A kernel's part of the text. Places are indices in the text.
#[derive(Clone, Copy, Debug)]
pub struct KernelCode<'a> {
    /// The instructions of the program.
    pub text: &'a [Inst<PhysReg>],
    /// The first of the kernel.
    pub entry: u32,
    /// The one behind its last.
    pub end: u32,
}

impl<'a> KernelCode<'a> {
    /// The code of a kernel.
    pub fn new(program: &'a Program, kernel: &Kernel) -> KernelCode<'a> {
        KernelCode {
            text: &program.code.text,
            entry: kernel.entry,
            end: kernel.entry + kernel.instructions,
        }
    }

    /// The instruction at a place.
    pub fn at(&self, at: u32) -> &'a Inst<PhysReg> {
        &self.text[at as usize]
    }

    /// Whether generic addresses may be those of shared memory: whether the kernel makes any of these.
    /// It calls nothing that could hand one over.
    pub fn makes_generic_shared(&self) -> bool {
        let code = &self.text[self.entry as usize..self.end as usize];
        code.iter().any(|inst| matches!(inst.op, Op::ToGeneric { space: Space::Shared, .. }))
    }

    /// Where the branch at a place leads; `None` for other instructions.
    pub fn target(&self, at: u32) -> Option<u32> {
        match self.at(at).op {
            Op::Bra { target: Imm::Value(target), .. } => Some(target as u32 / INSTRUCTION_BYTES),
            _ => None,
        }
    }

    /// Where the paths of the branch at a place meet, if it says so.
    pub fn reconvergence(&self, at: u32) -> Option<u32> {
        match self.at(at).op {
            Op::Bra { reconverge: Imm::Value(address), .. } if address >= 0 => {
                Some(address as u32 / INSTRUCTION_BYTES)
            }
            _ => None,
        }
    }

    /// The instructions that may come next in the kernel.
    pub fn successors(&self, at: u32) -> impl Iterator<Item = u32> + use<> {
        let inst = self.at(at);
        let falls = (!inst.is_branch() || inst.guard.is_some()).then_some(at + 1);
        let target = self.target(at).filter(|&to| Some(to) != falls);
        let range = self.entry..self.end;
        falls.into_iter().chain(target).filter(move |to| range.contains(to))
    }

    /// The registers that an instruction reads, its guard and what it keeps included, and those that
    /// it writes.
    pub fn accesses(&self, at: u32) -> (RegisterSet, RegisterSet) {
        let (mut reads, mut writes) = (RegisterSet::default(), RegisterSet::default());
        let inst = self.at(at);
        if let Some(guard) = &inst.guard {
            reads.insert(guard.reg);
        }
        inst.op.for_each_operand(|operand| {
            if operand.role != Role::Def {
                reads.insert(*operand.reg);
            }
            if operand.role != Role::Use {
                writes.insert(*operand.reg);
            }
        });
        (reads, writes)
    }

    /// The registers whose old values an instruction ends: a guarded one keeps them in some threads.
    pub fn kills(&self, at: u32) -> RegisterSet {
        match self.at(at).guard {
            None => self.accesses(at).1,
            Some(_) => RegisterSet::default(),
        }
    }

    /// Whether control can go from `from` to `to` within a range without passing `without`; `from`
    /// itself is no way.
    pub fn leads(&self, range: (u32, u32), from: u32, to: u32, without: u32) -> bool {
        let (begin, end) = range;
        let mut seen = vec![false; (end - begin) as usize];
        let mut work: Vec<u32> = self.successors(from).collect();
        while let Some(at) = work.pop() {
            if !(begin..end).contains(&at) || at == without {
                continue;
            }
            if at == to {
                return true;
            }
            if !std::mem::replace(&mut seen[(at - begin) as usize], true) {
                work.extend(self.successors(at));
            }
        }
        false
    }

    /// For each instruction of a range whether some way from it leaves the range to its end.
    pub fn leaving(&self, begin: u32, end: u32) -> Vec<bool> {
        let mut leaves = vec![false; (end - begin) as usize];
        loop {
            let before = leaves.clone();
            for at in (begin..end).rev() {
                let leads_out = |to: u32| {
                    to == end || (begin..end).contains(&to) && leaves[(to - begin) as usize]
                };
                leaves[(at - begin) as usize] = self.successors(at).any(leads_out);
            }
            if leaves == before {
                return leaves;
            }
        }
    }

    /// Whether every way from the begin of a range to `b` passes `a`.
    pub fn dominates(&self, range: (u32, u32), a: u32, b: u32) -> bool {
        a == range.0 || a == b || range.0 != b && !self.leads(range, range.0, b, a)
    }
}
