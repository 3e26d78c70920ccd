//! The operations of a PE: Table 1 of the paper, with what load/store units and routes need beside.
//! What each computes is stated once, by [`Opcode::evaluate`]; [`Opcode::meaning`] says it in a line.

use serde::{Deserialize, Serialize};

/// Declares the operations: name, mnemonic, which arrays have it, meaning.
macro_rules! opcodes {
    ($($name:ident, $mnemonic:literal, $npea:literal, $fpea:literal, $meaning:literal;)*) => {
        /// An operation of a PE.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Opcode {
            $(#[doc = $meaning] $name,)*
        }

        impl Opcode {
            /// All of them.
            pub const ALL: &[Opcode] = &[$(Opcode::$name),*];

            /// The name in assembly text.
            pub fn mnemonic(self) -> &'static str {
                match self { $(Opcode::$name => $mnemonic),* }
            }

            /// Whether NPEA has it.
            pub fn on_npea(self) -> bool {
                match self { $(Opcode::$name => $npea),* }
            }

            /// Whether FPEA and SPEA have it.
            pub fn on_fpea(self) -> bool {
                match self { $(Opcode::$name => $fpea),* }
            }

            /// What it computes, in a line.
            pub fn meaning(self) -> &'static str {
                match self { $(Opcode::$name => $meaning),* }
            }
        }
    };
}

opcodes! {
    Load, "load", true, true, "the element of memory at in1 + offset + stride * iteration, extended";
    Store, "store", true, true, "in2 to the element of memory at in1 + offset + stride * iteration";
    Pass, "pass", true, true, "in1: a route, or a copy";
    Add, "add", true, true, "in1 + in2, plus the bit as a carry where one is connected";
    Sub, "sub", false, true, "in1 - in2, less one where a bit (no borrow) is connected and 0";
    And, "and", false, true, "bitwise and";
    Or, "or", false, true, "bitwise or";
    Xor, "xor", false, true, "bitwise exclusive or";
    Mux, "mux", false, true, "bit ? in1 : in2";
    Lls, "lls", false, true, "in1 << (in2 mod 32)";
    Lrs, "lrs", false, true, "in1 >> (in2 mod 32), logical";
    Cmp, "cmp", false, true, "the smaller or larger of in1 and in2, signed or not";
    Bitrev, "bitrev", false, true, "the low `scale` bits of in1 in reverse order";
    Cat, "cat", false, true, "a half of in1 below a half of in2";
    RSftS, "rsfts", false, true, "in1 >> in2, arithmetic, of the word or of both halves";
    LSftS, "lsfts", false, true, "in1 << in2 of the word or of both halves";
    AddSpl, "addspl", false, true, "two sums of halves, wrapping";
    SubSpl, "subspl", false, true, "two differences of halves, wrapping";
    Square, "square", false, true, "the square of in1's chosen half, signed";
    MultS, "mults", false, true, "16 x 16 to 32 bits, halves and signedness chosen";
    RFa, "rfa", false, true, "in2 + in1 * coefficient, of a half or lane by lane";
    RFb, "rfb", false, true, "accumulators + (in1 + in2) * coefficient, lane by lane; packed after the shift";
    CFa, "cfa", false, true, "in2 + in1 * coefficient, complex, lanes of 16 bits";
    CFb, "cfb", false, true, "accumulators + (in1 + in2) * coefficient, complex; packed after the shift";
    CMult, "cmult", false, true, "in1 * in2, complex, shifted right by `scale` and packed";
    Mcc, "mcc", false, true, "in1 * conj(in2), complex, shifted right by `scale` and packed";
    Cmac, "cmac", false, true, "accumulators + in1 * in2, complex; packed after the shift";
    Cmsub, "cmsub", false, true, "accumulators - in1 * in2, complex; packed after the shift";
    Mcca, "mcca", false, true, "accumulators + in1 * conj(in2), complex; packed after the shift";
    Mccs, "mccs", false, true, "accumulators - in1 * conj(in2), complex; packed after the shift";
    Diff, "diff", true, false, "in1 - in1 of the iteration before";
    Sine, "sine", true, false, "low half of in1 * sin(high half of in1 in 2^-16 turns)";
    Cosine, "cosine", true, false, "low half of in1 * cos(high half of in1 in 2^-16 turns)";
    GainDiff, "gaindiff", true, false, "(in1 << c_gain) - in1 of the iteration before";
    DiffGain, "diffgain", true, false, "(in1 - in1 of the iteration before) << f_gain";
    SumGain, "sumgain", true, false, "(in1 + in1 of the iteration before) << f_gain";
    GainAdd, "gainadd", true, false, "(in1 << c_gain) + in2";
}

/// What of a complex result goes out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// The low halves of both parts, after the shift.
    #[default]
    Packed,
    /// The real part in 32 bits, after the shift.
    Real,
    /// The imaginary part, as [`Part::Real`].
    Imaginary,
}

/// What a context says about its operation beside the sources. Fields that an operation does not use
/// are at their defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// A shift, 0 to 31: right, of products and complex sums; left, a gain; bits of `bitrev`.
    pub scale: u8,
    /// `mults`, `cat`, `square`, `rfa`: take the high half of in1.
    pub high1: bool,
    /// `mults`, `cat`: take the high half of in2.
    pub high2: bool,
    /// `mults`: in1's half is unsigned; `cmp`: both operands are.
    pub unsigned1: bool,
    /// `mults`: in2's half is unsigned.
    pub unsigned2: bool,
    /// `cmp`: the larger one.
    pub larger: bool,
    /// `rsfts`, `lsfts`, `rfa`: each half by itself. `addspl`, `subspl`: in2 times j.
    pub halves: bool,
    /// Operations with accumulators: these begin at zero in each run. Without it they begin at zero
    /// before the first run, and where the bit in3 is 1.
    pub begin: bool,
    /// Complex products and operations with accumulators: what goes out.
    pub part: Part,
    /// `rfa` to `cfb`: the coefficient, real part in the low half; `rfa` and `rfb` take that alone.
    pub coefficient: u32,
}
