//! The SIMB instruction set, one row an instruction: Table I of the iPIM paper.
//! What the paper leaves open (lanes, ends of ranges, addressing) is said in each
//! row and, with reasons, in docs/fidelity.md.
//!
//! Instructions that run on engines have an engine mask `simb`: an engine whose bit
//! is clear does nothing. Addresses are byte addresses.

use nbcc_isa::{Imm, Role};

use crate::operands::{Addr, CompOp, IntOp, Mode, SimbMask, Source, VecMask};
pub use crate::operands::{FloatOp, PhysReg, RegClass};

/// What executes an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unit {
    /// The control core itself.
    Control,
    /// The SIMD unit of each engine.
    Simd,
    /// The integer ALU of each engine.
    IntAlu,
    /// The register files of each engine, without an ALU.
    Registers,
    /// The bank of each engine, through the controller of its group.
    Bank,
    /// The scratchpad of the group.
    Pgsm,
    /// The scratchpad of the vault, over the TSVs.
    Vsm,
    /// The network interface of the vault.
    Network,
}

/// What the time of an instruction depends on; [`crate::Machine`] holds the
/// numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Latency {
    /// A step of the control core.
    Control,
    /// Addition or subtraction: tADD.
    Add,
    /// Multiplication: tMUL.
    Mul,
    /// Multiplication and addition: tMAC.
    Mac,
    /// Shifts, bitwise operations and crops: tLOGIC.
    Logic,
    /// A read of one register file and a write of another.
    Move,
    /// A write of the DataRF.
    Reset,
    /// An access of the bank: commands, queueing and refresh.
    Bank,
    /// An access of the group's scratchpad: tPGSM.
    Pgsm,
    /// An access of the vault's scratchpad: tVSM, over the TSVs.
    Vsm,
    /// A message to another vault and back.
    Network,
    /// Until every vault is there.
    Sync,
}

/// Memories that instructions read and write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Memory {
    /// The engine's own bank.
    Bank,
    /// The group's scratchpad.
    Pgsm,
    /// The vault's scratchpad.
    Vsm,
    /// A bank of any vault, as `req` reads it: ordered by `sync` only.
    RemoteBank,
}

/// The categories of Table I, by which Fig. 11 of the paper breaks instructions down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Category {
    /// `comp`.
    Computation,
    /// `calc_arf`.
    IndexCalculation,
    /// Loads, stores, scratchpads, moves between register files.
    IntraVault,
    /// `req`.
    InterVault,
    /// Jumps and CtrlRF.
    ControlFlow,
    /// `sync`.
    Synchronization,
}

impl Category {
    /// Every category, in the order of Table I.
    pub const ALL: [Category; 6] = [
        Category::Computation,
        Category::IndexCalculation,
        Category::IntraVault,
        Category::InterVault,
        Category::ControlFlow,
        Category::Synchronization,
    ];
}

impl IntOp {
    /// The latency class.
    pub fn latency(self) -> Latency {
        match self {
            IntOp::Add | IntOp::Sub => Latency::Add,
            IntOp::Mul => Latency::Mul,
            IntOp::Mac => Latency::Mac,
            IntOp::Shl
            | IntOp::Shr
            | IntOp::Sra
            | IntOp::And
            | IntOp::Or
            | IntOp::Xor
            | IntOp::CropLsb
            | IntOp::CropMsb => Latency::Logic,
        }
    }
}

impl CompOp {
    /// The latency class.
    pub fn latency(self) -> Latency {
        match self {
            CompOp::Int(op) => op.latency(),
            CompOp::Float(FloatOp::Add | FloatOp::Sub) => Latency::Add,
            CompOp::Float(FloatOp::Mul) => Latency::Mul,
            CompOp::Float(FloatOp::Mac) => Latency::Mac,
        }
    }
}

/// An instruction that accumulates reads its destination; so does one that leaves
/// lanes of it as they are.
fn comp_destination(op: &CompOp, vec_mask: &VecMask) -> Role {
    if op.accumulates() || *vec_mask != VecMask::ALL { Role::UseDef } else { Role::Def }
}

fn calc_destination(op: &IntOp) -> Role {
    if op.accumulates() { Role::UseDef } else { Role::Def }
}

nbcc_isa::isa! {
    /// A SIMB instruction over registers `R`. Fields stand in the order of the text.
    pub enum Inst<R>;
    bits 128;
    class RegClass;
    unit Unit;
    latency Latency;
    memory Memory;
    category Category;

    /// Computes on the lanes of `vec`, on float or integer lanes. In mode `vv` lane by
    /// lane, in mode `sv` with lane 0 of `src1` for every lane. Lanes that `vec` leaves
    /// out keep their value.
    0x01 Comp "comp" [Computation, Simd, op.latency()] reads [] writes [] {
        op: CompOp = suffix() @ 8..13,
        mode: Mode = suffix() @ 13..14,
        dst: R = role(Data, comp_destination(op, vec_mask)) @ 32..40,
        src1: R = reads(Data) @ 40..48,
        src2: R = reads(Data) @ 48..56,
        vec_mask: VecMask = immediate() @ 16..20,
        simb_mask: SimbMask = immediate() @ 96..128,
    }

    /// Computes on AddrRF entries of each engine. Entries A0 to A3 cannot be written.
    0x02 CalcArf "calc_arf" [IndexCalculation, IntAlu, op.latency()] reads [] writes [] {
        op: IntOp = suffix() @ 8..12,
        dst: R = role(Addr, calc_destination(op)) @ 32..40,
        src1: R = reads(Addr) @ 40..48,
        src2: R = reads(Addr) @ 48..56,
        simb_mask: SimbMask = immediate() @ 96..128,
    }

    /// Loads 16 bytes of the engine's bank, at a multiple of 16, into a DataRF entry.
    0x10 LdRf "ld_rf" [IntraVault, Bank, Latency::Bank] reads [Bank] writes [] {
        dram: Addr<R> = either(Addr, 8) @ 64..96,
        drf: R = writes(Data) @ 32..40,
        simb_mask: SimbMask = immediate() @ 96..128,
    }

    /// Stores a DataRF entry into 16 bytes of the engine's bank, at a multiple of 16.
    0x11 StRf "st_rf" [IntraVault, Bank, Latency::Bank] reads [] writes [Bank] {
        dram: Addr<R> = either(Addr, 8) @ 64..96,
        drf: R = reads(Data) @ 32..40,
        simb_mask: SimbMask = immediate() @ 96..128,
    }

    /// Copies 16 bytes of the engine's bank, at a multiple of 16, to the group's
    /// scratchpad, at a multiple of 4.
    0x12 LdPgsm "ld_pgsm" [IntraVault, Bank, Latency::Bank] reads [Bank] writes [Pgsm] {
        dram: Addr<R> = either(Addr, 8) @ 64..96,
        pgsm: Addr<R> = either(Addr, 9) @ 32..64,
        simb_mask: SimbMask = immediate() @ 96..128,
    }

    /// Copies 16 bytes of the group's scratchpad, at a multiple of 4, to the engine's
    /// bank, at a multiple of 16.
    0x13 StPgsm "st_pgsm" [IntraVault, Bank, Latency::Bank] reads [Pgsm] writes [Bank] {
        dram: Addr<R> = either(Addr, 8) @ 64..96,
        pgsm: Addr<R> = either(Addr, 9) @ 32..64,
        simb_mask: SimbMask = immediate() @ 96..128,
    }

    /// Reads 16 bytes of the group's scratchpad, at a multiple of 4, into a DataRF entry.
    0x14 RdPgsm "rd_pgsm" [IntraVault, Pgsm, Latency::Pgsm] reads [Pgsm] writes [] {
        pgsm: Addr<R> = either(Addr, 9) @ 64..96,
        drf: R = writes(Data) @ 32..40,
        simb_mask: SimbMask = immediate() @ 96..128,
    }

    /// Writes a DataRF entry to 16 bytes of the group's scratchpad, at a multiple of 4.
    /// Where engines write the same bytes, the one with the highest id wins.
    0x15 WrPgsm "wr_pgsm" [IntraVault, Pgsm, Latency::Pgsm] reads [] writes [Pgsm] {
        pgsm: Addr<R> = either(Addr, 9) @ 64..96,
        drf: R = reads(Data) @ 32..40,
        simb_mask: SimbMask = immediate() @ 96..128,
    }

    /// Reads 16 bytes of the vault's scratchpad, at a multiple of 4, into a DataRF
    /// entry. With a direct address it is one transfer for all engines, else one an
    /// engine.
    0x16 RdVsm "rd_vsm" [IntraVault, Vsm, Latency::Vsm] reads [Vsm] writes [] {
        vsm: Addr<R> = either(Addr, 10) @ 64..96,
        drf: R = writes(Data) @ 32..40,
        simb_mask: SimbMask = immediate() @ 96..128,
    }

    /// Writes a DataRF entry to 16 bytes of the vault's scratchpad, at a multiple of 4,
    /// engine after engine in the order of the mask's bits.
    0x17 WrVsm "wr_vsm" [IntraVault, Vsm, Latency::Vsm] reads [] writes [Vsm] {
        vsm: Addr<R> = either(Addr, 10) @ 64..96,
        drf: R = reads(Data) @ 32..40,
        simb_mask: SimbMask = immediate() @ 96..128,
    }

    /// Writes an AddrRF entry to all four lanes of a DataRF entry.
    0x18 MovDrf "mov_drf" [IntraVault, Registers, Latency::Move] reads [] writes [] {
        arf: R = reads(Addr) @ 40..48,
        drf: R = writes(Data) @ 32..40,
        simb_mask: SimbMask = immediate() @ 96..128,
    }

    /// Writes lane 0 of a DataRF entry to an AddrRF entry. Entries A0 to A3 cannot be
    /// written.
    0x19 MovArf "mov_arf" [IntraVault, Registers, Latency::Move] reads [] writes [] {
        arf: R = writes(Addr) @ 40..48,
        drf: R = reads(Data) @ 32..40,
        simb_mask: SimbMask = immediate() @ 96..128,
    }

    /// Writes a 32-bit word to the vault's scratchpad, at a multiple of 4.
    0x1a SetiVsm "seti_vsm" [IntraVault, Vsm, Latency::Vsm] reads [] writes [Vsm] {
        vsm: u32 = immediate() @ 64..96,
        imm: Imm = symbolic() @ 96..128,
    }

    /// Sets all four lanes of a DataRF entry to zero.
    0x1b Reset "reset" [IntraVault, Registers, Latency::Reset] reads [] writes [] {
        drf: R = writes(Data) @ 32..40,
        simb_mask: SimbMask = immediate() @ 96..128,
    }

    /// Requests 16 bytes of the bank of an engine, at a multiple of 16, for the local
    /// vault's scratchpad, at a multiple of 4. It retires when the data is there. The
    /// vault may be the local one.
    0x20 Req "req" [InterVault, Network, Latency::Network] reads [RemoteBank] writes [Vsm] {
        chip: Source<R> = either(Ctrl, 8) @ 16..24,
        vault: Source<R> = either(Ctrl, 9) @ 24..32,
        pg: Source<R> = either(Ctrl, 10) @ 32..40,
        pe: Source<R> = either(Ctrl, 11) @ 40..48,
        dram: Source<R> = either(Ctrl, 12) @ 64..96,
        vsm: Source<R> = either(Ctrl, 13) @ 96..128,
    }

    /// Goes on at the byte address in .text that `target` holds.
    0x30 Jump "jump" [ControlFlow, Control, Latency::Control] reads [] writes [] {
        target: R = reads(Ctrl) @ 48..56,
    }

    /// Goes on at the byte address in .text that `target` holds if `cond` is not zero,
    /// else with the next instruction.
    0x31 CJump "cjump" [ControlFlow, Control, Latency::Control] reads [] writes [] {
        cond: R = reads(Ctrl) @ 40..48,
        target: R = reads(Ctrl) @ 48..56,
    }

    /// Computes on CtrlRF entries.
    0x32 CalcCrf "calc_crf" [ControlFlow, Control, Latency::Control] reads [] writes [] {
        op: IntOp = suffix() @ 8..12,
        dst: R = role(Ctrl, calc_destination(op)) @ 32..40,
        src1: R = reads(Ctrl) @ 40..48,
        src2: R = reads(Ctrl) @ 48..56,
    }

    /// Sets a CtrlRF entry; the immediate may be the address of a label.
    0x33 SetiCrf "seti_crf" [ControlFlow, Control, Latency::Control] reads [] writes [] {
        dst: R = writes(Ctrl) @ 32..40,
        imm: Imm = symbolic() @ 96..128,
    }

    /// Waits until every vault that runs the program has come to the same phase.
    0x40 Sync "sync" [Synchronization, Network, Latency::Sync] reads [] writes [] {
        phase: u32 = immediate() @ 96..128,
    }
}

impl<R> Inst<R> {
    /// Whether it may go on elsewhere than with the next instruction.
    pub fn is_branch(&self) -> bool {
        matches!(self, Inst::Jump { .. } | Inst::CJump { .. })
    }

    /// The engines that execute it; `None` where the vault itself does.
    pub fn simb_mask(&self) -> Option<SimbMask> {
        match self {
            Inst::Comp { simb_mask, .. }
            | Inst::CalcArf { simb_mask, .. }
            | Inst::LdRf { simb_mask, .. }
            | Inst::StRf { simb_mask, .. }
            | Inst::LdPgsm { simb_mask, .. }
            | Inst::StPgsm { simb_mask, .. }
            | Inst::RdPgsm { simb_mask, .. }
            | Inst::WrPgsm { simb_mask, .. }
            | Inst::RdVsm { simb_mask, .. }
            | Inst::WrVsm { simb_mask, .. }
            | Inst::MovDrf { simb_mask, .. }
            | Inst::MovArf { simb_mask, .. }
            | Inst::Reset { simb_mask, .. } => Some(*simb_mask),
            Inst::SetiVsm { .. }
            | Inst::Req { .. }
            | Inst::Jump { .. }
            | Inst::CJump { .. }
            | Inst::CalcCrf { .. }
            | Inst::SetiCrf { .. }
            | Inst::Sync { .. } => None,
        }
    }
}
