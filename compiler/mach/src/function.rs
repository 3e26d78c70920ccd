//! Functions, blocks and virtual registers.

use cranelift_entity::{PrimaryMap, entity_impl};
use nbcc_base::Span;
use nbcc_isa::Instruction;

use crate::memory::MemoryAccess;

/// A virtual register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VReg(u32);
entity_impl!(VReg, "r");

/// A block of instructions. Its number is also the label that branches name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Block(u32);
entity_impl!(Block, "block");

/// What is known of a virtual register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VRegData<C> {
    /// The register file it must live in.
    pub class: C,
    /// The entry it stands for, if it is not to be chosen: a value the machine provides.
    pub fixed: Option<u16>,
    /// Which part of its file it is to have its entries in, by a number of the target's choice. 0
    /// where files have no parts.
    pub bank: u8,
}

/// An instruction in place.
#[derive(Clone, Debug)]
pub struct InstData<I: Instruction> {
    /// The instruction.
    pub inst: I,
    /// The source it comes from.
    pub span: Option<Span>,
    /// What is known of its accesses to memory: one of a memory at most. Where the row names a
    /// memory that stands here not, it may access any byte of it.
    pub accesses: Vec<MemoryAccess<I::Memory>>,
}

impl<I: Instruction> InstData<I> {
    /// An instruction of whose accesses nothing is known.
    pub fn new(inst: I, span: Option<Span>) -> InstData<I> {
        InstData { inst, span, accesses: Vec::new() }
    }

    /// What is known of its access to a memory.
    pub fn access_of(&self, memory: I::Memory) -> Option<&MemoryAccess<I::Memory>> {
        self.accesses.iter().find(|access| access.memory == memory)
    }
}

/// A block.
#[derive(Clone, Debug)]
pub struct BlockData<I: Instruction> {
    /// Its instructions; control leaves at the end, or by the branches at the end.
    pub insts: Vec<InstData<I>>,
    /// The blocks that may come next.
    pub successors: Vec<Block>,
    /// How many loops are around it.
    pub loop_depth: u32,
}

/// A function. Blocks are laid out in the order of their numbers; the first is the entry.
#[derive(Clone, Debug)]
pub struct Function<I: Instruction<Reg = VReg>> {
    /// Its name.
    pub name: String,
    /// Virtual registers.
    pub vregs: PrimaryMap<VReg, VRegData<I::Class>>,
    /// Blocks in layout order.
    pub blocks: PrimaryMap<Block, BlockData<I>>,
}

impl<I: Instruction<Reg = VReg>> Function<I> {
    /// A function without blocks.
    pub fn new(name: impl Into<String>) -> Self {
        Function { name: name.into(), vregs: PrimaryMap::new(), blocks: PrimaryMap::new() }
    }

    /// Where it begins in the source: at its first instruction that comes from there.
    pub fn first_span(&self) -> Option<Span> {
        self.blocks.values().flat_map(|block| &block.insts).find_map(|inst| inst.span)
    }

    /// A new virtual register of that class.
    pub fn vreg(&mut self, class: I::Class) -> VReg {
        self.vregs.push(VRegData { class, fixed: None, bank: 0 })
    }

    /// A virtual register that stands for one entry of a register file.
    pub fn fixed(&mut self, class: I::Class, entry: u16) -> VReg {
        self.vregs.push(VRegData { class, fixed: Some(entry), bank: 0 })
    }

    /// The registers that an instruction reads and those that it writes.
    pub fn uses_and_defs(inst: &I) -> (Vec<VReg>, Vec<VReg>) {
        let mut uses = Vec::new();
        let mut defs = Vec::new();
        inst.for_each_operand(|operand| {
            if operand.role.reads() {
                uses.push(*operand.reg);
            }
            if operand.role.writes() {
                defs.push(*operand.reg);
            }
        });
        (uses, defs)
    }

    /// How many instructions it has.
    pub fn len(&self) -> usize {
        self.blocks.values().map(|b| b.insts.len()).sum()
    }

    /// Whether it has no instruction.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
