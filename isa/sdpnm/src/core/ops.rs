//! The core's instructions, one row each: RV32IM ("The RISC-V Instruction Set Manual, Volume I:
//! Unprivileged ISA", chapters 2, 7 and the listings of 24), with its encodings.

use nbcc_isa::Imm;

use super::operands::{Branch, Category, Class, I12, Jump, Latency, Memory, Unit};

nbcc_isa::isa! {
    /// What the core does.
    pub enum Inst<R>;
    bits 32;
    class Class;
    unit Unit;
    latency Latency;
    memory Memory;
    category Category;

    /// The upper 20 bits, the others zero.
    0x00000037 Lui "lui" [Integer, Alu, Latency::Single] reads [] writes [] {
        dst: R = writes(X) @ 7..12,
        upper: u32 = immediate() @ 12..32,
    }

    /// The instruction's address plus the upper 20 bits.
    0x00000017 Auipc "auipc" [Integer, Alu, Latency::Single] reads [] writes [] {
        dst: R = writes(X) @ 7..12,
        upper: u32 = immediate() @ 12..32,
    }

    /// Sum with a constant.
    0x00000013 Addi "addi" [Integer, Alu, Latency::Single] reads [] writes [] {
        dst: R = writes(X) @ 7..12,
        a: R = reads(X) @ 15..20,
        imm: I12 = immediate() @ 20..32,
    }

    /// 1 where it is less than a constant, signed, else 0.
    0x00002013 Slti "slti" [Integer, Alu, Latency::Single] reads [] writes [] {
        dst: R = writes(X) @ 7..12,
        a: R = reads(X) @ 15..20,
        imm: I12 = immediate() @ 20..32,
    }

    /// 1 where it is less than a constant, unsigned, else 0.
    0x00003013 Sltiu "sltiu" [Integer, Alu, Latency::Single] reads [] writes [] {
        dst: R = writes(X) @ 7..12,
        a: R = reads(X) @ 15..20,
        imm: I12 = immediate() @ 20..32,
    }

    /// Exclusive or with a constant.
    0x00004013 Xori "xori" [Integer, Alu, Latency::Single] reads [] writes [] {
        dst: R = writes(X) @ 7..12,
        a: R = reads(X) @ 15..20,
        imm: I12 = immediate() @ 20..32,
    }

    /// Or with a constant.
    0x00006013 Ori "ori" [Integer, Alu, Latency::Single] reads [] writes [] {
        dst: R = writes(X) @ 7..12,
        a: R = reads(X) @ 15..20,
        imm: I12 = immediate() @ 20..32,
    }

    /// And with a constant.
    0x00007013 Andi "andi" [Integer, Alu, Latency::Single] reads [] writes [] {
        dst: R = writes(X) @ 7..12,
        a: R = reads(X) @ 15..20,
        imm: I12 = immediate() @ 20..32,
    }

    /// Shift left by a constant.
    0x00001013 Slli "slli" [Integer, Alu, Latency::Single] reads [] writes [] {
        dst: R = writes(X) @ 7..12,
        a: R = reads(X) @ 15..20,
        amount: u32 = immediate() @ 20..25,
    }

    /// Logical shift right by a constant.
    0x00005013 Srli "srli" [Integer, Alu, Latency::Single] reads [] writes [] {
        dst: R = writes(X) @ 7..12,
        a: R = reads(X) @ 15..20,
        amount: u32 = immediate() @ 20..25,
    }

    /// Arithmetic shift right by a constant.
    0x40005013 Srai "srai" [Integer, Alu, Latency::Single] reads [] writes [] {
        dst: R = writes(X) @ 7..12,
        a: R = reads(X) @ 15..20,
        amount: u32 = immediate() @ 20..25,
    }

    /// Sum.
    0x00000033 Add "add" [Integer, Alu, Latency::Single] reads [] writes [] {
        dst: R = writes(X) @ 7..12,
        a: R = reads(X) @ 15..20,
        b: R = reads(X) @ 20..25,
    }

    /// Difference.
    0x40000033 Sub "sub" [Integer, Alu, Latency::Single] reads [] writes [] {
        dst: R = writes(X) @ 7..12,
        a: R = reads(X) @ 15..20,
        b: R = reads(X) @ 20..25,
    }

    /// Shift left by the low five bits of the second.
    0x00001033 Sll "sll" [Integer, Alu, Latency::Single] reads [] writes [] {
        dst: R = writes(X) @ 7..12,
        a: R = reads(X) @ 15..20,
        b: R = reads(X) @ 20..25,
    }

    /// 1 where the first is less, signed, else 0.
    0x00002033 Slt "slt" [Integer, Alu, Latency::Single] reads [] writes [] {
        dst: R = writes(X) @ 7..12,
        a: R = reads(X) @ 15..20,
        b: R = reads(X) @ 20..25,
    }

    /// 1 where the first is less, unsigned, else 0.
    0x00003033 Sltu "sltu" [Integer, Alu, Latency::Single] reads [] writes [] {
        dst: R = writes(X) @ 7..12,
        a: R = reads(X) @ 15..20,
        b: R = reads(X) @ 20..25,
    }

    /// Exclusive or.
    0x00004033 Xor "xor" [Integer, Alu, Latency::Single] reads [] writes [] {
        dst: R = writes(X) @ 7..12,
        a: R = reads(X) @ 15..20,
        b: R = reads(X) @ 20..25,
    }

    /// Logical shift right by the low five bits of the second.
    0x00005033 Srl "srl" [Integer, Alu, Latency::Single] reads [] writes [] {
        dst: R = writes(X) @ 7..12,
        a: R = reads(X) @ 15..20,
        b: R = reads(X) @ 20..25,
    }

    /// Arithmetic shift right by the low five bits of the second.
    0x40005033 Sra "sra" [Integer, Alu, Latency::Single] reads [] writes [] {
        dst: R = writes(X) @ 7..12,
        a: R = reads(X) @ 15..20,
        b: R = reads(X) @ 20..25,
    }

    /// Or.
    0x00006033 Or "or" [Integer, Alu, Latency::Single] reads [] writes [] {
        dst: R = writes(X) @ 7..12,
        a: R = reads(X) @ 15..20,
        b: R = reads(X) @ 20..25,
    }

    /// And.
    0x00007033 And "and" [Integer, Alu, Latency::Single] reads [] writes [] {
        dst: R = writes(X) @ 7..12,
        a: R = reads(X) @ 15..20,
        b: R = reads(X) @ 20..25,
    }

    /// The low half of the product.
    0x02000033 Mul "mul" [Multiplication, Multiplier, Latency::Multiply] reads [] writes [] {
        dst: R = writes(X) @ 7..12,
        a: R = reads(X) @ 15..20,
        b: R = reads(X) @ 20..25,
    }

    /// The high half of the product, both signed.
    0x02001033 Mulh "mulh" [Multiplication, Multiplier, Latency::Multiply] reads [] writes [] {
        dst: R = writes(X) @ 7..12,
        a: R = reads(X) @ 15..20,
        b: R = reads(X) @ 20..25,
    }

    /// The high half of the product, the first signed, the second unsigned.
    0x02002033 Mulhsu "mulhsu" [Multiplication, Multiplier, Latency::Multiply] reads [] writes [] {
        dst: R = writes(X) @ 7..12,
        a: R = reads(X) @ 15..20,
        b: R = reads(X) @ 20..25,
    }

    /// The high half of the product, both unsigned.
    0x02003033 Mulhu "mulhu" [Multiplication, Multiplier, Latency::Multiply] reads [] writes [] {
        dst: R = writes(X) @ 7..12,
        a: R = reads(X) @ 15..20,
        b: R = reads(X) @ 20..25,
    }

    /// Signed quotient toward zero; by zero -1, the least by -1 itself.
    0x02004033 Div "div" [Multiplication, Divider, Latency::Divide] reads [] writes [] {
        dst: R = writes(X) @ 7..12,
        a: R = reads(X) @ 15..20,
        b: R = reads(X) @ 20..25,
    }

    /// Unsigned quotient; by zero all ones.
    0x02005033 Divu "divu" [Multiplication, Divider, Latency::Divide] reads [] writes [] {
        dst: R = writes(X) @ 7..12,
        a: R = reads(X) @ 15..20,
        b: R = reads(X) @ 20..25,
    }

    /// Signed remainder; by zero the dividend, of the least by -1 zero.
    0x02006033 Rem "rem" [Multiplication, Divider, Latency::Divide] reads [] writes [] {
        dst: R = writes(X) @ 7..12,
        a: R = reads(X) @ 15..20,
        b: R = reads(X) @ 20..25,
    }

    /// Unsigned remainder; by zero the dividend.
    0x02007033 Remu "remu" [Multiplication, Divider, Latency::Divide] reads [] writes [] {
        dst: R = writes(X) @ 7..12,
        a: R = reads(X) @ 15..20,
        b: R = reads(X) @ 20..25,
    }

    /// Loads a byte, sign extended.
    0x00000003 Lb "lb" [MemoryAccess, LoadStore, Latency::Load] reads [Data] writes [] {
        dst: R = writes(X) @ 7..12,
        offset: I12 = immediate() @ 20..32,
        base: R = base(X) @ 15..20,
    }

    /// Loads two bytes, sign extended.
    0x00001003 Lh "lh" [MemoryAccess, LoadStore, Latency::Load] reads [Data] writes [] {
        dst: R = writes(X) @ 7..12,
        offset: I12 = immediate() @ 20..32,
        base: R = base(X) @ 15..20,
    }

    /// Loads a word.
    0x00002003 Lw "lw" [MemoryAccess, LoadStore, Latency::Load] reads [Data] writes [] {
        dst: R = writes(X) @ 7..12,
        offset: I12 = immediate() @ 20..32,
        base: R = base(X) @ 15..20,
    }

    /// Loads a byte, zero extended.
    0x00004003 Lbu "lbu" [MemoryAccess, LoadStore, Latency::Load] reads [Data] writes [] {
        dst: R = writes(X) @ 7..12,
        offset: I12 = immediate() @ 20..32,
        base: R = base(X) @ 15..20,
    }

    /// Loads two bytes, zero extended.
    0x00005003 Lhu "lhu" [MemoryAccess, LoadStore, Latency::Load] reads [Data] writes [] {
        dst: R = writes(X) @ 7..12,
        offset: I12 = immediate() @ 20..32,
        base: R = base(X) @ 15..20,
    }

    /// Stores the low byte.
    0x00000023 Sb "sb" [MemoryAccess, LoadStore, Latency::Single] reads [] writes [Data] {
        src: R = reads(X) @ 20..25,
        offset: I12 = immediate() @ 7..12 + 25..32,
        base: R = base(X) @ 15..20,
    }

    /// Stores the low two bytes.
    0x00001023 Sh "sh" [MemoryAccess, LoadStore, Latency::Single] reads [] writes [Data] {
        src: R = reads(X) @ 20..25,
        offset: I12 = immediate() @ 7..12 + 25..32,
        base: R = base(X) @ 15..20,
    }

    /// Stores a word.
    0x00002023 Sw "sw" [MemoryAccess, LoadStore, Latency::Single] reads [] writes [Data] {
        src: R = reads(X) @ 20..25,
        offset: I12 = immediate() @ 7..12 + 25..32,
        base: R = base(X) @ 15..20,
    }

    /// Goes on elsewhere where both are equal.
    0x00000063 Beq "beq" [ControlFlow, Control, Latency::Branch] reads [] writes [] {
        a: R = reads(X) @ 15..20,
        b: R = reads(X) @ 20..25,
        to: Imm = relative(Branch) @ 7..12 + 25..32,
    }

    /// Goes on elsewhere where they differ.
    0x00001063 Bne "bne" [ControlFlow, Control, Latency::Branch] reads [] writes [] {
        a: R = reads(X) @ 15..20,
        b: R = reads(X) @ 20..25,
        to: Imm = relative(Branch) @ 7..12 + 25..32,
    }

    /// Goes on elsewhere where the first is less, signed.
    0x00004063 Blt "blt" [ControlFlow, Control, Latency::Branch] reads [] writes [] {
        a: R = reads(X) @ 15..20,
        b: R = reads(X) @ 20..25,
        to: Imm = relative(Branch) @ 7..12 + 25..32,
    }

    /// Goes on elsewhere where the first is not less, signed.
    0x00005063 Bge "bge" [ControlFlow, Control, Latency::Branch] reads [] writes [] {
        a: R = reads(X) @ 15..20,
        b: R = reads(X) @ 20..25,
        to: Imm = relative(Branch) @ 7..12 + 25..32,
    }

    /// Goes on elsewhere where the first is less, unsigned.
    0x00006063 Bltu "bltu" [ControlFlow, Control, Latency::Branch] reads [] writes [] {
        a: R = reads(X) @ 15..20,
        b: R = reads(X) @ 20..25,
        to: Imm = relative(Branch) @ 7..12 + 25..32,
    }

    /// Goes on elsewhere where the first is not less, unsigned.
    0x00007063 Bgeu "bgeu" [ControlFlow, Control, Latency::Branch] reads [] writes [] {
        a: R = reads(X) @ 15..20,
        b: R = reads(X) @ 20..25,
        to: Imm = relative(Branch) @ 7..12 + 25..32,
    }

    /// Goes on elsewhere; the register gets the address behind.
    0x0000006f Jal "jal" [ControlFlow, Control, Latency::Jump] reads [] writes [] {
        dst: R = writes(X) @ 7..12,
        to: Imm = relative(Jump) @ 12..32,
    }

    /// Goes on where a register says, plus a constant; the register gets the address behind.
    0x00000067 Jalr "jalr" [ControlFlow, Control, Latency::Jump] reads [] writes [] {
        dst: R = writes(X) @ 7..12,
        offset: I12 = immediate() @ 20..32,
        base: R = base(X) @ 15..20,
    }

    /// Orders accesses to memory, of all kinds: one core does so anyway.
    0x0ff0000f Fence "fence" [System, Control, Latency::Single] reads [] writes [] {}

    /// Calls the environment: the run ends with what the table of traps says.
    0x00000073 Ecall "ecall" [System, Control, Latency::Single] reads [] writes [] {}

    /// Stops for a debugger: here, the run ends.
    0x00100073 Ebreak "ebreak" [System, Control, Latency::Single] reads [] writes [] {}
}
