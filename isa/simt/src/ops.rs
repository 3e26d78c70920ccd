//! The operations of SIMT machines, one row each: PTX's, in an encoding of our own. What PTX's
//! manual says of an operation holds here. Those from [`OPTIONAL`] are not every machine's.
//!
//! Bits 8 to 13 belong to every instruction (guard and hint, see `inst.rs`); 14 and 15 tell
//! numbers from registers. Addresses are byte addresses of 64 bits.

use nbcc_isa::Imm;

use crate::classes::{Category, Latency, Memory, Unit, double};
use crate::operands::{
    Access, Alignment, ApproxDivOp, ApproxOp, ApproxWideOp, AtomOp, AtomType, AtomWideType,
    BarrierReduction, Base, Bits64, ConvertMods, CountOp, FloatMods, FloatOp, FloatProperty,
    FloatTest, FloatUnaryOp, Format, FormatMods, IntOp, IntTest, NumType, Offset, Order, PredOp,
    ReduxOp, RegClass, Scope, ShflMode, ShiftOp, Sign, SimdMods, Source, Space, Special,
    SpecialWide, SyncMode, TernaryOp, UnaryOp, VoteMode, WideOp,
};

nbcc_isa::isa! {
    /// What an instruction does, over registers `R`. Fields stand in the order of the text.
    pub enum Op<R>;
    bits 128;
    class RegClass;
    unit Unit;
    latency Latency;
    memory Memory;
    category Category;

    /// Computes on two 32-bit integers.
    0x01 Int "int" [Integer, Alu, op.latency()] reads [] writes [] {
        op: IntOp = suffix() @ 16..24,
        dst: R = writes(Word) @ 32..40,
        a: R = reads(Word) @ 40..48,
        b: Source<R> = either(Word, 14) @ 96..128,
    }

    /// Computes on two 64-bit integers.
    0x02 IntWide "int64" [Integer, Alu, op.latency()] reads [] writes [] {
        op: WideOp = suffix() @ 16..24,
        dst: R = writes(Wide) @ 32..40,
        a: R = reads(Wide) @ 40..48,
        b: Source<R> = either(Wide, 14) @ 96..128,
    }

    /// Shifts a 64-bit integer.
    0x03 ShiftWide "shift64" [Integer, Alu, Latency::Alu] reads [] writes [] {
        op: ShiftOp = suffix() @ 16..24,
        dst: R = writes(Wide) @ 32..40,
        a: R = reads(Wide) @ 40..48,
        amount: Source<R> = either(Word, 14) @ 96..128,
    }

    /// Computes on a 32-bit integer.
    0x04 IntUnary "int1" [Integer, Alu, Latency::Alu] reads [] writes [] {
        op: UnaryOp = suffix() @ 16..24,
        dst: R = writes(Word) @ 32..40,
        a: R = reads(Word) @ 40..48,
    }

    /// Computes on a 64-bit integer.
    0x05 IntUnaryWide "int1_64" [Integer, Alu, Latency::Alu] reads [] writes [] {
        op: UnaryOp = suffix() @ 16..24,
        dst: R = writes(Wide) @ 32..40,
        a: R = reads(Wide) @ 40..48,
    }

    /// Counts in a 32-bit integer.
    0x06 Count "count" [Integer, Alu, Latency::Alu] reads [] writes [] {
        op: CountOp = suffix() @ 16..24,
        dst: R = writes(Word) @ 32..40,
        a: R = reads(Word) @ 40..48,
    }

    /// Counts in a 64-bit integer.
    0x07 CountWide "count64" [Integer, Alu, Latency::Alu] reads [] writes [] {
        op: CountOp = suffix() @ 16..24,
        dst: R = writes(Word) @ 32..40,
        a: R = reads(Wide) @ 40..48,
    }

    /// Computes on three 32-bit integers.
    0x08 Ternary "int3" [Integer, Alu, op.latency()] reads [] writes [] {
        op: TernaryOp = suffix() @ 16..24,
        dst: R = writes(Word) @ 32..40,
        a: R = reads(Word) @ 40..48,
        b: Source<R> = either(Word, 14) @ 48..64,
        c: Source<R> = either(Word, 15) @ 96..128,
    }

    /// `a * b + c`, low 64 bits.
    0x09 MadWideWide "mad64" [Integer, Alu, Latency::IntMul] reads [] writes [] {
        dst: R = writes(Wide) @ 32..40,
        a: R = reads(Wide) @ 40..48,
        b: R = reads(Wide) @ 48..56,
        c: Source<R> = either(Wide, 14) @ 96..128,
    }

    /// The whole product of two 32-bit integers.
    0x0a MulWide "mul_wide" [Integer, Alu, Latency::IntMul] reads [] writes [] {
        sign: Sign = suffix() @ 16..17,
        dst: R = writes(Wide) @ 32..40,
        a: R = reads(Word) @ 40..48,
        b: Source<R> = either(Word, 14) @ 96..128,
    }

    /// The whole product of two 32-bit integers, plus a 64-bit one.
    0x0b MadWide "mad_wide" [Integer, Alu, Latency::IntMul] reads [] writes [] {
        sign: Sign = suffix() @ 16..17,
        dst: R = writes(Wide) @ 32..40,
        a: R = reads(Word) @ 40..48,
        b: Source<R> = either(Word, 14) @ 96..128,
        c: R = reads(Wide) @ 48..56,
    }

    /// Magnitude of the difference of 64-bit integers, plus a third.
    0x0c SadWide "sad64" [Integer, Alu, Latency::Alu] reads [] writes [] {
        sign: Sign = suffix() @ 16..17,
        dst: R = writes(Wide) @ 32..40,
        a: R = reads(Wide) @ 40..48,
        b: R = reads(Wide) @ 48..56,
        c: Source<R> = either(Wide, 14) @ 96..128,
    }

    /// `length & 0xff` bits of a 64-bit integer from bit `position & 0xff`, extended.
    0x0d BfeWide "bfe64" [Integer, Alu, Latency::Alu] reads [] writes [] {
        sign: Sign = suffix() @ 16..17,
        dst: R = writes(Wide) @ 32..40,
        a: R = reads(Wide) @ 40..48,
        position: Source<R> = either(Word, 14) @ 48..64,
        length: Source<R> = either(Word, 15) @ 96..128,
    }

    /// `b` with `length & 0xff` bits from bit `position & 0xff` replaced by the low ones of `a`.
    0x0e Bfi "bfi" [Integer, Alu, Latency::Alu] reads [] writes [] {
        dst: R = writes(Word) @ 32..40,
        a: R = reads(Word) @ 40..48,
        b: R = reads(Word) @ 48..56,
        position: Source<R> = either(Word, 14) @ 64..80,
        length: Source<R> = either(Word, 15) @ 96..128,
    }

    /// The same on 64-bit integers.
    0x0f BfiWide "bfi64" [Integer, Alu, Latency::Alu] reads [] writes [] {
        dst: R = writes(Wide) @ 32..40,
        a: R = reads(Wide) @ 40..48,
        b: R = reads(Wide) @ 48..56,
        position: Source<R> = either(Word, 14) @ 64..80,
        length: Source<R> = either(Word, 15) @ 96..128,
    }

    /// For each bit the one of `table` that the bits of `a`, `b` and `c` number (`a` counts 4).
    0x10 Lop3 "lop3" [Integer, Alu, Latency::Alu] reads [] writes [] {
        dst: R = writes(Word) @ 32..40,
        a: R = reads(Word) @ 40..48,
        b: R = reads(Word) @ 48..56,
        c: Source<R> = either(Word, 14) @ 96..128,
        table: u32 = immediate() @ 16..24,
    }

    /// Computes on the bytes or halves of registers; `mask` has a bit a lane.
    0x11 Simd "simd" [Integer, Alu, Latency::Alu] reads [] writes [] {
        op: SimdMods = suffix() @ 16..28,
        dst: R = writes(Word) @ 32..40,
        a: R = reads(Word) @ 40..48,
        b: R = reads(Word) @ 48..56,
        c: R = reads(Word) @ 56..64,
        mask: u32 = immediate() @ 28..32,
    }

    /// Compares 32-bit integers.
    0x12 Cmp "cmp" [Integer, Alu, Latency::Alu] reads [] writes [] {
        test: IntTest = suffix() @ 16..24,
        dst: R = writes(Pred) @ 32..40,
        a: R = reads(Word) @ 40..48,
        b: Source<R> = either(Word, 14) @ 96..128,
    }

    /// Compares 64-bit integers.
    0x13 CmpWide "cmp64" [Integer, Alu, Latency::Alu] reads [] writes [] {
        test: IntTest = suffix() @ 16..24,
        dst: R = writes(Pred) @ 32..40,
        a: R = reads(Wide) @ 40..48,
        b: Source<R> = either(Wide, 14) @ 96..128,
    }

    /// Copies 32 bits.
    0x18 Mov "mov" [Move, Alu, Latency::Alu] reads [] writes [] {
        dst: R = writes(Word) @ 32..40,
        src: Source<R> = either(Word, 14) @ 96..128,
    }

    /// Copies 64 bits.
    0x19 MovWide "mov64" [Move, Alu, Latency::Alu] reads [] writes [] {
        dst: R = writes(Wide) @ 32..40,
        src: R = reads(Wide) @ 40..48,
    }

    /// Sets 64 bits.
    0x1a MovBits "movi64" [Move, Alu, Latency::Alu] reads [] writes [] {
        dst: R = writes(Wide) @ 32..40,
        bits: Bits64 = immediate() @ 64..128,
    }

    /// Joins two registers.
    0x1b Pack "pack" [Move, Alu, Latency::Alu] reads [] writes [] {
        dst: R = writes(Wide) @ 32..40,
        low: R = reads(Word) @ 40..48,
        high: Source<R> = either(Word, 14) @ 96..128,
    }

    /// The low half of 64 bits.
    0x1c Low "low" [Move, Alu, Latency::Alu] reads [] writes [] {
        dst: R = writes(Word) @ 32..40,
        src: R = reads(Wide) @ 40..48,
    }

    /// The high half of 64 bits.
    0x1d High "high" [Move, Alu, Latency::Alu] reads [] writes [] {
        dst: R = writes(Word) @ 32..40,
        src: R = reads(Wide) @ 40..48,
    }

    /// `a` where the predicate holds, else `b`.
    0x1e Sel "sel" [Move, Alu, Latency::Alu] reads [] writes [] {
        dst: R = writes(Word) @ 32..40,
        a: R = reads(Word) @ 40..48,
        b: Source<R> = either(Word, 14) @ 96..128,
        cond: R = reads(Pred) @ 48..56,
    }

    /// The same of 64 bits.
    0x1f SelWide "sel64" [Move, Alu, Latency::Alu] reads [] writes [] {
        dst: R = writes(Wide) @ 32..40,
        a: R = reads(Wide) @ 40..48,
        b: Source<R> = either(Wide, 14) @ 96..128,
        cond: R = reads(Pred) @ 48..56,
    }

    /// Reads a special register of 32 bits.
    0x20 Sreg "sreg" [Move, Alu, Latency::Alu] reads [] writes [] {
        special: Special = suffix() @ 16..24,
        dst: R = writes(Word) @ 32..40,
    }

    /// Reads a special register of 64 bits.
    0x21 SregWide "sreg64" [Move, Alu, Latency::Alu] reads [] writes [] {
        special: SpecialWide = suffix() @ 16..24,
        dst: R = writes(Wide) @ 32..40,
    }

    /// The address of data object number `object`, plus an offset. The loader places objects.
    0x22 Addr "addr" [Move, Alu, Latency::Alu] reads [] writes [] {
        dst: R = writes(Wide) @ 32..40,
        object: u32 = immediate() @ 64..96,
        offset: Offset = immediate() @ 96..128,
    }

    /// The generic address of an address of a space.
    0x23 ToGeneric "to_generic" [Move, Alu, Latency::Alu] reads [] writes [] {
        space: Space = suffix() @ 16..19,
        dst: R = writes(Wide) @ 32..40,
        src: R = reads(Wide) @ 40..48,
    }

    /// The address in a space of a generic address.
    0x24 FromGeneric "from_generic" [Move, Alu, Latency::Alu] reads [] writes [] {
        space: Space = suffix() @ 16..19,
        dst: R = writes(Wide) @ 32..40,
        src: R = reads(Wide) @ 40..48,
    }

    /// Whether a generic address lies in a space.
    0x25 IsSpace "is_space" [Move, Alu, Latency::Alu] reads [] writes [] {
        space: Space = suffix() @ 16..19,
        dst: R = writes(Pred) @ 32..40,
        src: R = reads(Wide) @ 40..48,
    }

    /// Combines two predicates.
    0x28 Pred "pred" [Predicate, Alu, Latency::Alu] reads [] writes [] {
        op: PredOp = suffix() @ 16..20,
        dst: R = writes(Pred) @ 32..40,
        a: R = reads(Pred) @ 40..48,
        b: R = reads(Pred) @ 48..56,
    }

    /// Sets a predicate: 0 or 1.
    0x29 PredSet "pset" [Predicate, Alu, Latency::Alu] reads [] writes [] {
        dst: R = writes(Pred) @ 32..40,
        value: u32 = immediate() @ 96..97,
    }

    /// Copies a predicate.
    0x2a PredMov "pmov" [Predicate, Alu, Latency::Alu] reads [] writes [] {
        dst: R = writes(Pred) @ 32..40,
        src: R = reads(Pred) @ 40..48,
    }

    /// Complements a predicate.
    0x2b PredNot "pnot" [Predicate, Alu, Latency::Alu] reads [] writes [] {
        dst: R = writes(Pred) @ 32..40,
        src: R = reads(Pred) @ 40..48,
    }

    /// `a` where `cond` holds, else `b`.
    0x2c PredSel "psel" [Predicate, Alu, Latency::Alu] reads [] writes [] {
        dst: R = writes(Pred) @ 32..40,
        a: R = reads(Pred) @ 40..48,
        b: R = reads(Pred) @ 48..56,
        cond: R = reads(Pred) @ 56..64,
    }

    /// 1 where the predicate holds, else 0.
    0x2d PredWord "p2r" [Predicate, Alu, Latency::Alu] reads [] writes [] {
        dst: R = writes(Word) @ 32..40,
        src: R = reads(Pred) @ 40..48,
    }

    /// Computes on two floats.
    0x30 Float "float" [Float, Alu, op.latency(*format)] reads [] writes [] {
        op: FloatOp = suffix() @ 16..20,
        format: Format = suffix() @ 20..23,
        mods: FloatMods = suffix() @ 24..32,
        dst: R = writes(Word) @ 32..40,
        a: R = reads(Word) @ 40..48,
        b: Source<R> = either(Word, 14) @ 96..128,
    }

    /// Computes on two binary64.
    0x31 FloatWide "float64" [Float, Alu, double(*op == FloatOp::Div)] reads [] writes [] {
        op: FloatOp = suffix() @ 16..20,
        mods: FloatMods = suffix() @ 24..32,
        dst: R = writes(Wide) @ 32..40,
        a: R = reads(Wide) @ 40..48,
        b: Source<R> = either(Wide, 14) @ 96..128,
    }

    /// `a * b + c`, rounded once.
    0x32 Fma "fma" [Float, Alu, format.latency()] reads [] writes [] {
        format: Format = suffix() @ 20..23,
        mods: FloatMods = suffix() @ 24..32,
        dst: R = writes(Word) @ 32..40,
        a: R = reads(Word) @ 40..48,
        b: R = reads(Word) @ 48..56,
        c: Source<R> = either(Word, 14) @ 96..128,
    }

    /// The same of binary64.
    0x33 FmaWide "fma64" [Float, Alu, Latency::Double] reads [] writes [] {
        mods: FloatMods = suffix() @ 24..32,
        dst: R = writes(Wide) @ 32..40,
        a: R = reads(Wide) @ 40..48,
        b: R = reads(Wide) @ 48..56,
        c: Source<R> = either(Wide, 14) @ 96..128,
    }

    /// Computes on a float.
    0x34 FloatUnary "float1" [Float, Alu, op.latency(*format)] reads [] writes [] {
        op: FloatUnaryOp = suffix() @ 16..20,
        format: Format = suffix() @ 20..23,
        mods: FloatMods = suffix() @ 24..32,
        dst: R = writes(Word) @ 32..40,
        a: R = reads(Word) @ 40..48,
    }

    /// Computes on a binary64.
    0x35 FloatUnaryWide "float1_64"
    [Float, Alu, double(matches!(op, FloatUnaryOp::Rcp | FloatUnaryOp::Sqrt))]
    reads [] writes [] {
        op: FloatUnaryOp = suffix() @ 16..20,
        mods: FloatMods = suffix() @ 24..32,
        dst: R = writes(Wide) @ 32..40,
        a: R = reads(Wide) @ 40..48,
    }

    /// A function of a float.
    0x36 Approx "approx" [Float, Sfu, op.latency()] reads [] writes [] {
        op: ApproxOp = suffix() @ 16..20,
        mods: FormatMods = suffix() @ 20..24,
        dst: R = writes(Word) @ 32..40,
        a: R = reads(Word) @ 40..48,
    }

    /// An approximate function of a binary64, with `.ftz` of its upper half.
    0x37 ApproxWide "approx64"
    [Float, Sfu, if *op == ApproxWideOp::Rcp { Latency::Rcp } else { Latency::Rsqrt }]
    reads [] writes [] {
        op: ApproxWideOp = suffix() @ 16..20,
        mods: FormatMods = suffix() @ 20..24,
        dst: R = writes(Wide) @ 32..40,
        a: R = reads(Wide) @ 40..48,
    }

    /// An approximate quotient of binary32.
    0x38 ApproxDiv "div" [Float, Alu, Latency::FloatDiv] reads [] writes [] {
        op: ApproxDivOp = suffix() @ 16..20,
        mods: FormatMods = suffix() @ 20..24,
        dst: R = writes(Word) @ 32..40,
        a: R = reads(Word) @ 40..48,
        b: Source<R> = either(Word, 14) @ 96..128,
    }

    /// Compares floats.
    0x39 FloatCmp "fcmp" [Float, Alu, mods.format.latency()] reads [] writes [] {
        test: FloatTest = suffix() @ 16..20,
        mods: FormatMods = suffix() @ 20..24,
        dst: R = writes(Pred) @ 32..40,
        a: R = reads(Word) @ 40..48,
        b: Source<R> = either(Word, 14) @ 96..128,
    }

    /// Compares binary64.
    0x3a FloatCmpWide "fcmp64" [Float, Alu, Latency::Double] reads [] writes [] {
        test: FloatTest = suffix() @ 16..20,
        dst: R = writes(Pred) @ 32..40,
        a: R = reads(Wide) @ 40..48,
        b: Source<R> = either(Wide, 14) @ 96..128,
    }

    /// Compares both floats of packed formats.
    0x3b FloatCmpPacked "fcmp2" [Float, Alu, Latency::Half] reads [] writes [] {
        test: FloatTest = suffix() @ 16..20,
        mods: FormatMods = suffix() @ 20..24,
        low: R = writes(Pred) @ 32..40,
        high: R = writes(Pred) @ 56..64,
        a: R = reads(Word) @ 40..48,
        b: Source<R> = either(Word, 14) @ 96..128,
    }

    /// `b` with the sign of `a`, binary32.
    0x3c Copysign "copysign" [Float, Alu, Latency::Alu] reads [] writes [] {
        dst: R = writes(Word) @ 32..40,
        a: R = reads(Word) @ 40..48,
        b: Source<R> = either(Word, 14) @ 96..128,
    }

    /// `b` with the sign of `a`, binary64.
    0x3d CopysignWide "copysign64" [Float, Alu, Latency::Alu] reads [] writes [] {
        dst: R = writes(Wide) @ 32..40,
        a: R = reads(Wide) @ 40..48,
        b: Source<R> = either(Wide, 14) @ 96..128,
    }

    /// Asks what a binary32 is.
    0x3e Testp "testp" [Float, Alu, Latency::Alu] reads [] writes [] {
        property: FloatProperty = suffix() @ 16..20,
        dst: R = writes(Pred) @ 32..40,
        a: R = reads(Word) @ 40..48,
    }

    /// Asks what a binary64 is.
    0x3f TestpWide "testp64" [Float, Alu, Latency::Double] reads [] writes [] {
        property: FloatProperty = suffix() @ 16..20,
        dst: R = writes(Pred) @ 32..40,
        a: R = reads(Wide) @ 40..48,
    }

    /// Converts between types of up to 32 bits.
    0x40 Cvt "cvt" [Float, Alu, Latency::Alu] reads [] writes [] {
        to: NumType = suffix() @ 16..20,
        from: NumType = suffix() @ 20..24,
        mods: ConvertMods = suffix() @ 24..32,
        dst: R = writes(Word) @ 32..40,
        src: R = reads(Word) @ 40..48,
    }

    /// Converts from up to 32 bits to 64.
    0x41 CvtWiden "cvt_widen" [Float, Alu, Latency::Alu] reads [] writes [] {
        to: NumType = suffix() @ 16..20,
        from: NumType = suffix() @ 20..24,
        mods: ConvertMods = suffix() @ 24..32,
        dst: R = writes(Wide) @ 32..40,
        src: R = reads(Word) @ 40..48,
    }

    /// Converts from 64 bits to up to 32.
    0x42 CvtNarrow "cvt_narrow" [Float, Alu, Latency::Alu] reads [] writes [] {
        to: NumType = suffix() @ 16..20,
        from: NumType = suffix() @ 20..24,
        mods: ConvertMods = suffix() @ 24..32,
        dst: R = writes(Word) @ 32..40,
        src: R = reads(Wide) @ 40..48,
    }

    /// Converts between types of 64 bits.
    0x43 CvtWide "cvt_wide" [Float, Alu, Latency::Alu] reads [] writes [] {
        to: NumType = suffix() @ 16..20,
        from: NumType = suffix() @ 20..24,
        mods: ConvertMods = suffix() @ 24..32,
        dst: R = writes(Wide) @ 32..40,
        src: R = reads(Wide) @ 40..48,
    }

    /// Converts two binary32 to a packed format: `a` to the high half, `b` to the low one.
    0x44 CvtPack "cvt_pack" [Float, Alu, Latency::Alu] reads [] writes [] {
        to: Format = suffix() @ 16..20,
        mods: ConvertMods = suffix() @ 24..32,
        dst: R = writes(Word) @ 32..40,
        a: R = reads(Word) @ 40..48,
        b: Source<R> = either(Word, 14) @ 96..128,
    }

    /// Loads.
    0x50 Ld "ld" [Memory, Lsu, Latency::Memory] reads [Any] writes [] {
        space: Space = suffix() @ 16..19,
        access: Access = suffix() @ 19..22,
        order: Order = suffix() @ 80..83,
        dst: R = writes(Word) @ 24..32,
        base: Base<R> = either(Wide, 14) @ 88..96,
        offset: Offset = immediate() @ 96..128,
    }

    /// Loads two neighbours.
    0x51 Ld2 "ld2" [Memory, Lsu, Latency::Memory] reads [Any] writes [] {
        space: Space = suffix() @ 16..19,
        access: Access = suffix() @ 19..22,
        order: Order = suffix() @ 80..83,
        dst0: R = writes(Word) @ 24..32,
        dst1: R = writes(Word) @ 32..40,
        base: Base<R> = either(Wide, 14) @ 88..96,
        offset: Offset = immediate() @ 96..128,
    }

    /// Loads four neighbours.
    0x52 Ld4 "ld4" [Memory, Lsu, Latency::Memory] reads [Any] writes [] {
        space: Space = suffix() @ 16..19,
        access: Access = suffix() @ 19..22,
        order: Order = suffix() @ 80..83,
        dst0: R = writes(Word) @ 24..32,
        dst1: R = writes(Word) @ 32..40,
        dst2: R = writes(Word) @ 40..48,
        dst3: R = writes(Word) @ 48..56,
        base: Base<R> = either(Wide, 14) @ 88..96,
        offset: Offset = immediate() @ 96..128,
    }

    /// Loads eight neighbours, weakly.
    0x53 Ld8 "ld8" [Memory, Lsu, Latency::Memory] reads [Any] writes [] {
        space: Space = suffix() @ 16..19,
        access: Access = suffix() @ 19..22,
        dst0: R = writes(Word) @ 24..32,
        dst1: R = writes(Word) @ 32..40,
        dst2: R = writes(Word) @ 40..48,
        dst3: R = writes(Word) @ 48..56,
        dst4: R = writes(Word) @ 56..64,
        dst5: R = writes(Word) @ 64..72,
        dst6: R = writes(Word) @ 72..80,
        dst7: R = writes(Word) @ 80..88,
        base: Base<R> = either(Wide, 14) @ 88..96,
        offset: Offset = immediate() @ 96..128,
    }

    /// Loads 64 bits.
    0x54 LdWide "ld64" [Memory, Lsu, Latency::Memory] reads [Any] writes [] {
        space: Space = suffix() @ 16..19,
        order: Order = suffix() @ 80..83,
        dst: R = writes(Wide) @ 24..32,
        base: Base<R> = either(Wide, 14) @ 88..96,
        offset: Offset = immediate() @ 96..128,
    }

    /// Loads two neighbours of 64 bits.
    0x55 LdWide2 "ld64x2" [Memory, Lsu, Latency::Memory] reads [Any] writes [] {
        space: Space = suffix() @ 16..19,
        order: Order = suffix() @ 80..83,
        dst0: R = writes(Wide) @ 24..32,
        dst1: R = writes(Wide) @ 32..40,
        base: Base<R> = either(Wide, 14) @ 88..96,
        offset: Offset = immediate() @ 96..128,
    }

    /// Loads four neighbours of 64 bits.
    0x56 LdWide4 "ld64x4" [Memory, Lsu, Latency::Memory] reads [Any] writes [] {
        space: Space = suffix() @ 16..19,
        order: Order = suffix() @ 80..83,
        dst0: R = writes(Wide) @ 24..32,
        dst1: R = writes(Wide) @ 32..40,
        dst2: R = writes(Wide) @ 40..48,
        dst3: R = writes(Wide) @ 48..56,
        base: Base<R> = either(Wide, 14) @ 88..96,
        offset: Offset = immediate() @ 96..128,
    }

    /// Stores.
    0x58 St "st" [Memory, Lsu, Latency::Memory] reads [] writes [Any] {
        space: Space = suffix() @ 16..19,
        access: Access = suffix() @ 19..22,
        order: Order = suffix() @ 80..83,
        base: Base<R> = either(Wide, 14) @ 88..96,
        offset: Offset = immediate() @ 96..128,
        src: R = reads(Word) @ 24..32,
    }

    /// Stores two neighbours.
    0x59 St2 "st2" [Memory, Lsu, Latency::Memory] reads [] writes [Any] {
        space: Space = suffix() @ 16..19,
        access: Access = suffix() @ 19..22,
        order: Order = suffix() @ 80..83,
        base: Base<R> = either(Wide, 14) @ 88..96,
        offset: Offset = immediate() @ 96..128,
        src0: R = reads(Word) @ 24..32,
        src1: R = reads(Word) @ 32..40,
    }

    /// Stores four neighbours.
    0x5a St4 "st4" [Memory, Lsu, Latency::Memory] reads [] writes [Any] {
        space: Space = suffix() @ 16..19,
        access: Access = suffix() @ 19..22,
        order: Order = suffix() @ 80..83,
        base: Base<R> = either(Wide, 14) @ 88..96,
        offset: Offset = immediate() @ 96..128,
        src0: R = reads(Word) @ 24..32,
        src1: R = reads(Word) @ 32..40,
        src2: R = reads(Word) @ 40..48,
        src3: R = reads(Word) @ 48..56,
    }

    /// Stores eight neighbours, weakly.
    0x5b St8 "st8" [Memory, Lsu, Latency::Memory] reads [] writes [Any] {
        space: Space = suffix() @ 16..19,
        access: Access = suffix() @ 19..22,
        base: Base<R> = either(Wide, 14) @ 88..96,
        offset: Offset = immediate() @ 96..128,
        src0: R = reads(Word) @ 24..32,
        src1: R = reads(Word) @ 32..40,
        src2: R = reads(Word) @ 40..48,
        src3: R = reads(Word) @ 48..56,
        src4: R = reads(Word) @ 56..64,
        src5: R = reads(Word) @ 64..72,
        src6: R = reads(Word) @ 72..80,
        src7: R = reads(Word) @ 80..88,
    }

    /// Stores 64 bits.
    0x5c StWide "st64" [Memory, Lsu, Latency::Memory] reads [] writes [Any] {
        space: Space = suffix() @ 16..19,
        order: Order = suffix() @ 80..83,
        base: Base<R> = either(Wide, 14) @ 88..96,
        offset: Offset = immediate() @ 96..128,
        src: R = reads(Wide) @ 24..32,
    }

    /// Stores two neighbours of 64 bits.
    0x5d StWide2 "st64x2" [Memory, Lsu, Latency::Memory] reads [] writes [Any] {
        space: Space = suffix() @ 16..19,
        order: Order = suffix() @ 80..83,
        base: Base<R> = either(Wide, 14) @ 88..96,
        offset: Offset = immediate() @ 96..128,
        src0: R = reads(Wide) @ 24..32,
        src1: R = reads(Wide) @ 32..40,
    }

    /// Stores four neighbours of 64 bits.
    0x5e StWide4 "st64x4" [Memory, Lsu, Latency::Memory] reads [] writes [Any] {
        space: Space = suffix() @ 16..19,
        order: Order = suffix() @ 80..83,
        base: Base<R> = either(Wide, 14) @ 88..96,
        offset: Offset = immediate() @ 96..128,
        src0: R = reads(Wide) @ 24..32,
        src1: R = reads(Wide) @ 32..40,
        src2: R = reads(Wide) @ 40..48,
        src3: R = reads(Wide) @ 48..56,
    }

    /// Changes memory in one step and gives what it held before.
    0x60 Atom "atom" [Atomic, Lsu, Latency::Memory] reads [Any] writes [Any] {
        op: AtomOp = suffix() @ 16..20,
        ty: AtomType = suffix() @ 20..24,
        space: Space = suffix() @ 24..27,
        order: Order = suffix() @ 27..30,
        dst: R = writes(Word) @ 32..40,
        base: Base<R> = either(Wide, 14) @ 88..96,
        offset: Offset = immediate() @ 96..128,
        src: R = reads(Word) @ 40..48,
    }

    /// Changes 64 bits of memory in one step and gives what they held before.
    0x61 AtomWide "atom64" [Atomic, Lsu, Latency::Memory] reads [Any] writes [Any] {
        op: AtomOp = suffix() @ 16..20,
        ty: AtomWideType = suffix() @ 20..24,
        space: Space = suffix() @ 24..27,
        order: Order = suffix() @ 27..30,
        dst: R = writes(Wide) @ 32..40,
        base: Base<R> = either(Wide, 14) @ 88..96,
        offset: Offset = immediate() @ 96..128,
        src: R = reads(Wide) @ 40..48,
    }

    /// Stores `new` where memory equals `expected`, and gives what it held before.
    0x62 AtomCas "cas" [Atomic, Lsu, Latency::Memory] reads [Any] writes [Any] {
        ty: AtomType = suffix() @ 20..24,
        space: Space = suffix() @ 24..27,
        order: Order = suffix() @ 27..30,
        dst: R = writes(Word) @ 32..40,
        base: Base<R> = either(Wide, 14) @ 88..96,
        offset: Offset = immediate() @ 96..128,
        expected: R = reads(Word) @ 40..48,
        new: R = reads(Word) @ 48..56,
    }

    /// The same of 64 bits.
    0x63 AtomCasWide "cas64" [Atomic, Lsu, Latency::Memory] reads [Any] writes [Any] {
        space: Space = suffix() @ 24..27,
        order: Order = suffix() @ 27..30,
        dst: R = writes(Wide) @ 32..40,
        base: Base<R> = either(Wide, 14) @ 88..96,
        offset: Offset = immediate() @ 96..128,
        expected: R = reads(Wide) @ 40..48,
        new: R = reads(Wide) @ 48..56,
    }

    /// Changes memory in one step.
    0x64 Red "red" [Atomic, Lsu, Latency::Memory] reads [Any] writes [Any] {
        op: AtomOp = suffix() @ 16..20,
        ty: AtomType = suffix() @ 20..24,
        space: Space = suffix() @ 24..27,
        order: Order = suffix() @ 27..30,
        base: Base<R> = either(Wide, 14) @ 88..96,
        offset: Offset = immediate() @ 96..128,
        src: R = reads(Word) @ 40..48,
    }

    /// Changes 64 bits of memory in one step.
    0x65 RedWide "red64" [Atomic, Lsu, Latency::Memory] reads [Any] writes [Any] {
        op: AtomOp = suffix() @ 16..20,
        ty: AtomWideType = suffix() @ 20..24,
        space: Space = suffix() @ 24..27,
        order: Order = suffix() @ 27..30,
        base: Base<R> = either(Wide, 14) @ 88..96,
        offset: Offset = immediate() @ 96..128,
        src: R = reads(Wide) @ 40..48,
    }

    /// Reads the register of another lane; `valid` tells whether there is one. `lane` and
    /// `clamp` are PTX's operands `b` and `c`.
    0x70 Shfl "shfl" [Lanes, Lanes, Latency::Lanes] reads [] writes [] {
        mode: ShflMode = suffix() @ 16..18,
        sync: SyncMode = suffix() @ 18..19,
        dst: R = writes(Word) @ 24..32,
        valid: R = writes(Pred) @ 32..40,
        src: R = reads(Word) @ 40..48,
        lane: Source<R> = either(Word, 14) @ 48..56,
        clamp: Source<R> = either(Word, 15) @ 56..72,
        mask: Source<R> = either(Word, 72) @ 96..128,
    }

    /// What the lanes say together.
    0x71 Vote "vote" [Lanes, Lanes, Latency::Lanes] reads [] writes [] {
        mode: VoteMode = suffix() @ 16..18,
        sync: SyncMode = suffix() @ 18..19,
        dst: R = writes(Pred) @ 32..40,
        src: R = reads(Pred) @ 40..48,
        mask: Source<R> = either(Word, 14) @ 96..128,
    }

    /// The mask of the lanes whose predicate holds.
    0x72 Ballot "ballot" [Lanes, Lanes, Latency::Lanes] reads [] writes [] {
        sync: SyncMode = suffix() @ 18..19,
        dst: R = writes(Word) @ 32..40,
        src: R = reads(Pred) @ 40..48,
        mask: Source<R> = either(Word, 14) @ 96..128,
    }

    /// The mask of the lanes that have the same value.
    0x73 MatchAny "match_any" [Lanes, Lanes, Latency::Lanes] reads [] writes [] {
        dst: R = writes(Word) @ 32..40,
        src: R = reads(Word) @ 40..48,
        mask: Source<R> = either(Word, 14) @ 96..128,
    }

    /// The same of 64 bits.
    0x74 MatchAnyWide "match_any64" [Lanes, Lanes, Latency::Lanes] reads [] writes [] {
        dst: R = writes(Word) @ 32..40,
        src: R = reads(Wide) @ 40..48,
        mask: Source<R> = either(Word, 14) @ 96..128,
    }

    /// The mask where all lanes have the same value, which `same` tells, else 0.
    0x75 MatchAll "match_all" [Lanes, Lanes, Latency::Lanes] reads [] writes [] {
        dst: R = writes(Word) @ 32..40,
        same: R = writes(Pred) @ 48..56,
        src: R = reads(Word) @ 40..48,
        mask: Source<R> = either(Word, 14) @ 96..128,
    }

    /// The same of 64 bits.
    0x76 MatchAllWide "match_all64" [Lanes, Lanes, Latency::Lanes] reads [] writes [] {
        dst: R = writes(Word) @ 32..40,
        same: R = writes(Pred) @ 48..56,
        src: R = reads(Wide) @ 40..48,
        mask: Source<R> = either(Word, 14) @ 96..128,
    }

    /// Combines the values of the lanes.
    0x77 Redux "redux" [Lanes, Lanes, Latency::Lanes] reads [] writes [] {
        op: ReduxOp = suffix() @ 16..20,
        dst: R = writes(Word) @ 32..40,
        src: R = reads(Word) @ 40..48,
        mask: Source<R> = either(Word, 14) @ 96..128,
    }

    /// The mask of the lanes that execute it together.
    0x78 ActiveMask "activemask" [Lanes, Lanes, Latency::Lanes] reads [] writes [] {
        dst: R = writes(Word) @ 32..40,
    }

    /// Waits for the lanes of the mask.
    0x79 WarpSync "warpsync" [Synchronization, Lanes, Latency::Barrier] reads [] writes [] {
        mask: Source<R> = either(Word, 14) @ 96..128,
    }

    /// Waits at barrier `id` until `count` threads are there; 0 stands for all of the block.
    0x80 Bar "bar" [Synchronization, Sync, Latency::Barrier] reads [] writes [] {
        alignment: Alignment = suffix() @ 16..17,
        id: Source<R> = either(Word, 14) @ 40..48,
        count: Source<R> = either(Word, 15) @ 96..128,
    }

    /// Counts as arrived at barrier `id`, and goes on.
    0x81 BarArrive "bar_arrive" [Synchronization, Sync, Latency::Barrier] reads [] writes [] {
        alignment: Alignment = suffix() @ 16..17,
        id: Source<R> = either(Word, 14) @ 40..48,
        count: Source<R> = either(Word, 15) @ 96..128,
    }

    /// Waits as `bar`, and counts the threads whose predicate holds.
    0x82 BarPopc "bar_popc" [Synchronization, Sync, Latency::Barrier] reads [] writes [] {
        alignment: Alignment = suffix() @ 16..17,
        dst: R = writes(Word) @ 32..40,
        id: Source<R> = either(Word, 14) @ 40..48,
        count: Source<R> = either(Word, 15) @ 96..128,
        src: R = reads(Pred) @ 48..56,
    }

    /// Waits as `bar`, and combines the predicates of the threads.
    0x83 BarRed "bar_red" [Synchronization, Sync, Latency::Barrier] reads [] writes [] {
        op: BarrierReduction = suffix() @ 17..18,
        alignment: Alignment = suffix() @ 16..17,
        dst: R = writes(Pred) @ 32..40,
        id: Source<R> = either(Word, 14) @ 40..48,
        count: Source<R> = either(Word, 15) @ 96..128,
        src: R = reads(Pred) @ 48..56,
    }

    /// Orders accesses before and after it, as others see them.
    0x84 Fence "fence" [Synchronization, Sync, Latency::Alu] reads [Any] writes [Any] {
        scope: Scope = suffix() @ 16..18,
    }

    /// Goes on at `target`. Where lanes part, they meet again at `reconverge`, the immediate
    /// post-dominator of the branch, or not at all if it is -1.
    0x90 Bra "bra" [ControlFlow, Control, Latency::Control] reads [] writes [] {
        target: Imm = symbolic() @ 96..128,
        reconverge: Imm = symbolic() @ 64..96,
    }

    /// Ends the thread.
    0x91 Exit "exit" [ControlFlow, Control, Latency::Control] reads [] writes [] {
    }

    /// Ends the run with a message of the program, by its number.
    0x92 Trap "trap" [ControlFlow, Control, Latency::Control] reads [] writes [] {
        message: u32 = immediate() @ 96..128,
    }

    /// Ends the run: a breakpoint without a debugger.
    0x93 Brkpt "brkpt" [ControlFlow, Control, Latency::Control] reads [] writes [] {
    }

    /// Lets others go ahead for some nanoseconds.
    0x94 Nanosleep "nanosleep" [ControlFlow, Control, Latency::Control] reads [] writes [] {
        time: Source<R> = either(Word, 14) @ 96..128,
    }

    /// Prints: format and arguments lie at generic addresses; gives the number of arguments, or
    /// -1.
    0x95 Vprintf "vprintf" [ControlFlow, Host, Latency::Host] reads [Any] writes [] {
        dst: R = writes(Word) @ 32..40,
        format: R = reads(Wide) @ 40..48,
        arguments: R = reads(Wide) @ 48..56,
    }

    /// Ends the run with an assertion's text, file, line and function; texts lie at generic
    /// addresses.
    0x96 AssertFail "assert_fail" [ControlFlow, Host, Latency::Host] reads [Any] writes [] {
        message: R = reads(Wide) @ 40..48,
        file: R = reads(Wide) @ 48..56,
        line: R = reads(Word) @ 56..64,
        function: R = reads(Wide) @ 64..72,
    }

    /// Begins region `number` of those that the program's metadata describes. It does nothing to a
    /// thread: a machine that has it may run the region elsewhere.
    0xe0 Region "region" [ControlFlow, Control, Latency::Control] reads [] writes [] {
        number: u32 = immediate() @ 96..128,
    }
}

/// The opcodes from here are those of optional instructions: an instruction set names those that it
/// has, see [`crate::Isa::optional`].
pub const OPTIONAL: u8 = 0xe0;
