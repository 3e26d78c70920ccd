//! The modifiers of grid operations: small enumerations with their words, stated once for the
//! printer and the parser. The words are those of PTX where it has one.

use crate::{Scalar, Type};

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)* })*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub enum $name { $($(#[$variant_doc])* $variant,)* }

            impl $name {
                /// Every variant, in the order of declaration.
                pub const ALL: &'static [$name] = &[$($name::$variant),*];

                /// The word for it in the text form.
                pub fn name(self) -> &'static str {
                    match self { $($name::$variant => $word),* }
                }

                /// The variant of that word.
                pub fn from_name(name: &str) -> Option<$name> {
                    $name::ALL.iter().copied().find(|variant| variant.name() == name)
                }
            }
        )*
    };
}

words! {
    /// A format of floats, by which an operation reads the bits of its operands.
    FloatFormat {
        /// IEEE binary16; an `i16` in the IR.
        F16 = "f16",
        /// The upper half of a binary32; an `i16` in the IR.
        Bf16 = "bf16",
        /// IEEE binary32.
        F32 = "f32",
        /// IEEE binary64.
        F64 = "f64",
        /// Two binary16, the first in the low half of an `i32`.
        F16x2 = "f16x2",
        /// Two bf16, the first in the low half of an `i32`.
        Bf16x2 = "bf16x2",
    }

    /// An integer with its sign. In the IR it is an integer of that width.
    IntType {
        /// 8 bits, unsigned.
        U8 = "u8",
        /// 8 bits, signed.
        S8 = "s8",
        /// 16 bits, unsigned.
        U16 = "u16",
        /// 16 bits, signed.
        S16 = "s16",
        /// 32 bits, unsigned.
        U32 = "u32",
        /// 32 bits, signed.
        S32 = "s32",
        /// 64 bits, unsigned.
        U64 = "u64",
        /// 64 bits, signed.
        S64 = "s64",
    }

    /// 32 or 64 bits.
    Width {
        /// 32 bits.
        B32 = "b32",
        /// 64 bits.
        B64 = "b64",
    }

    /// How a result that lies between two floats becomes one of them.
    Rounding {
        /// To nearest, ties to even.
        Rn = "rn",
        /// Toward zero.
        Rz = "rz",
        /// Toward negative infinity.
        Rm = "rm",
        /// Toward positive infinity.
        Rp = "rp",
    }

    /// Rounding of conversions.
    ConvertRounding {
        /// The conversion is exact, or between integers.
        Exact = "exact",
        /// To the nearest float, ties to even.
        Rn = "rn",
        /// To a float, toward zero.
        Rz = "rz",
        /// To a float, toward negative infinity.
        Rm = "rm",
        /// To a float, toward positive infinity.
        Rp = "rp",
        /// To the nearest float, ties away from zero.
        Rna = "rna",
        /// To the nearest integer, ties to even.
        Rni = "rni",
        /// To an integer, toward zero.
        Rzi = "rzi",
        /// To an integer, toward negative infinity.
        Rmi = "rmi",
        /// To an integer, toward positive infinity.
        Rpi = "rpi",
    }

    /// Float operations with one right result.
    FloatOp {
        /// Sum.
        Add = "add",
        /// Difference.
        Sub = "sub",
        /// Product.
        Mul = "mul",
        /// Product of the first two plus the third, rounded once.
        Fma = "fma",
        /// Quotient.
        Div = "div",
        /// Reciprocal.
        Rcp = "rcp",
        /// Square root.
        Sqrt = "sqrt",
        /// The lesser: -0 is less than +0; of a NaN and a number, the number.
        Min = "min",
        /// The greater: +0 is greater than -0; of a NaN and a number, the number.
        Max = "max",
        /// Magnitude.
        Abs = "abs",
        /// The other sign.
        Neg = "neg",
    }

    /// Float operations within an error bound. Here: the right result to nearest of what the
    /// operation is said to compute in binary64, then flushed.
    ApproxOp {
        /// Quotient; zero where the divisor is 2^126 or greater.
        Div = "adiv",
        /// Quotient over the full range.
        DivFull = "divfull",
        /// Reciprocal.
        Rcp = "arcp",
        /// Square root.
        Sqrt = "asqrt",
        /// Reciprocal of the square root.
        Rsqrt = "rsqrt",
        /// Sine of radians.
        Sin = "sin",
        /// Cosine of radians.
        Cos = "cos",
        /// Logarithm to base 2.
        Lg2 = "lg2",
        /// 2 to the operand.
        Ex2 = "ex2",
        /// Hyperbolic tangent.
        Tanh = "tanh",
    }

    /// Float comparisons. The unordered ones (`..u`) hold, too, where an operand is a NaN.
    FloatTest {
        /// Equal.
        Eq = "eq",
        /// Less or greater.
        Ne = "ne",
        /// Less.
        Lt = "lt",
        /// Less or equal.
        Le = "le",
        /// Greater.
        Gt = "gt",
        /// Greater or equal.
        Ge = "ge",
        /// Equal or unordered.
        Equ = "equ",
        /// Not equal or unordered.
        Neu = "neu",
        /// Less or unordered.
        Ltu = "ltu",
        /// Less, equal or unordered.
        Leu = "leu",
        /// Greater or unordered.
        Gtu = "gtu",
        /// Greater, equal or unordered.
        Geu = "geu",
        /// Neither is a NaN.
        Num = "num",
        /// One is a NaN.
        Nan = "nan",
    }

    /// What `testp` asks of a float.
    FloatProperty {
        /// Neither infinite nor a NaN.
        Finite = "finite",
        /// Infinite.
        Infinite = "infinite",
        /// No NaN.
        Number = "number",
        /// A NaN.
        NotANumber = "notanumber",
        /// Neither subnormal, infinite nor a NaN. Zero is normal.
        Normal = "normal",
        /// Subnormal.
        Subnormal = "subnormal",
    }

    /// What a position or amount beyond the width means.
    EdgeMode {
        /// As much as the width.
        Clamp = "clamp",
        /// Its value modulo the width.
        Wrap = "wrap",
    }

    /// Modes of the byte permutation.
    PrmtMode {
        /// Four selectors of any byte.
        Index = "idx",
        /// Forward 4 extract.
        F4e = "f4e",
        /// Backward 4 extract.
        B4e = "b4e",
        /// Replicate 8.
        Rc8 = "rc8",
        /// Edge clamp left.
        Ecl = "ecl",
        /// Edge clamp right.
        Ecr = "ecr",
        /// Replicate 16.
        Rc16 = "rc16",
    }

    /// Directions.
    Direction {
        /// Toward the most significant bit.
        Left = "l",
        /// Toward the least significant bit.
        Right = "r",
    }

    /// Operations on 2 or 4 integers in a register.
    SimdOp {
        /// Sum.
        Add = "vadd",
        /// Difference.
        Sub = "vsub",
        /// Average, rounded away from zero.
        Avrg = "vavrg",
        /// Magnitude of the difference.
        Absdiff = "vabsdiff",
        /// Lesser.
        Min = "vmin",
        /// Greater.
        Max = "vmax",
        /// 1 where equal.
        SetEq = "vset.eq",
        /// 1 where not equal.
        SetNe = "vset.ne",
        /// 1 where less.
        SetLt = "vset.lt",
        /// 1 where less or equal.
        SetLe = "vset.le",
        /// 1 where greater.
        SetGt = "vset.gt",
        /// 1 where greater or equal.
        SetGe = "vset.ge",
    }

    /// What an access promises to other threads beside its value.
    Ordering {
        /// Nothing.
        Weak = "weak",
        /// It happens as often and in the order as written.
        Volatile = "volatile",
        /// It is atomic.
        Relaxed = "relaxed",
        /// Later accesses of the thread come behind it.
        Acquire = "acquire",
        /// Earlier accesses of the thread come before it.
        Release = "release",
    }

    /// Atomic operations: what memory holds afterwards, of what it held and the operand.
    AtomOp {
        /// Bitwise and.
        And = "and",
        /// Bitwise or.
        Or = "or",
        /// Bitwise exclusive or.
        Xor = "xor",
        /// The operand.
        Exch = "exch",
        /// Sum, floats to nearest.
        Add = "add",
        /// Plus one, zero from the operand on (unsigned).
        Inc = "inc",
        /// Minus one, the operand from zero or from above the operand (unsigned).
        Dec = "dec",
        /// Lesser.
        Min = "min",
        /// Greater.
        Max = "max",
        /// The second operand where memory equals the first.
        Cas = "cas",
    }

    /// Which lane a shuffle reads.
    ShflMode {
        /// A lane below.
        Up = "up",
        /// A lane above.
        Down = "down",
        /// The exclusive or of both lane numbers.
        Bfly = "bfly",
        /// A lane by number.
        Idx = "idx",
    }

    /// What the lanes of a warp vote on.
    VoteMode {
        /// True for all.
        All = "all",
        /// True for one at least.
        Any = "any",
        /// The same for all.
        Uni = "uni",
        /// The mask of the lanes for which it is true.
        Ballot = "ballot",
    }

    /// Reductions over the lanes of a warp.
    ReduxOp {
        /// Sum.
        Add = "add",
        /// Lesser.
        Min = "min",
        /// Greater.
        Max = "max",
        /// Bitwise and.
        And = "and",
        /// Bitwise or.
        Or = "or",
        /// Bitwise exclusive or.
        Xor = "xor",
    }

    /// What a barrier of a block does.
    BarrierKind {
        /// Waits.
        Sync = "sync",
        /// Counts the thread as arrived, and goes on.
        Arrive = "arrive",
        /// Waits, and counts the threads whose predicate is true.
        RedPopc = "redpopc",
        /// Waits, and tells whether the predicate is true for all.
        RedAnd = "redand",
        /// Waits, and tells whether the predicate is true for one.
        RedOr = "redor",
    }

    /// Whose accesses a fence orders.
    Scope {
        /// The block's.
        Cta = "cta",
        /// The machine's.
        Gpu = "gpu",
        /// The host's as well.
        Sys = "sys",
    }
}

impl FloatFormat {
    /// The type of its values in the IR.
    pub fn ty(self) -> Type {
        let scalar = match self {
            FloatFormat::F16 | FloatFormat::Bf16 => Scalar::I16,
            FloatFormat::F32 => Scalar::F32,
            FloatFormat::F64 => Scalar::F64,
            FloatFormat::F16x2 | FloatFormat::Bf16x2 => Scalar::I32,
        };
        Type { scalar, lanes: 1 }
    }

    /// The format of one of its halves: itself where it has none.
    pub fn element(self) -> FloatFormat {
        match self {
            FloatFormat::F16x2 => FloatFormat::F16,
            FloatFormat::Bf16x2 => FloatFormat::Bf16,
            scalar => scalar,
        }
    }

    /// Whether it packs two floats.
    pub fn is_packed(self) -> bool {
        self.element() != self
    }

    /// Whether it is of 16 bits, packed or not.
    pub fn is_half(self) -> bool {
        !matches!(self, FloatFormat::F32 | FloatFormat::F64)
    }
}

impl IntType {
    /// Width in bits.
    pub fn bits(self) -> u32 {
        match self {
            IntType::U8 | IntType::S8 => 8,
            IntType::U16 | IntType::S16 => 16,
            IntType::U32 | IntType::S32 => 32,
            IntType::U64 | IntType::S64 => 64,
        }
    }

    /// Whether it is signed.
    pub fn is_signed(self) -> bool {
        matches!(self, IntType::S8 | IntType::S16 | IntType::S32 | IntType::S64)
    }

    /// The type of its values in the IR.
    pub fn ty(self) -> Type {
        let scalar = match self.bits() {
            8 => Scalar::I8,
            16 => Scalar::I16,
            32 => Scalar::I32,
            _ => Scalar::I64,
        };
        Type { scalar, lanes: 1 }
    }
}

impl Width {
    /// Width in bits.
    pub fn bits(self) -> u32 {
        match self {
            Width::B32 => 32,
            Width::B64 => 64,
        }
    }

    /// The type of its values in the IR.
    pub fn ty(self) -> Type {
        match self {
            Width::B32 => Type::I32,
            Width::B64 => Type::I64,
        }
    }
}

/// A number: an integer with its sign, or a float.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NumType {
    /// An integer.
    Int(IntType),
    /// A float.
    Float(FloatFormat),
}

impl NumType {
    /// The type of its values in the IR.
    pub fn ty(self) -> Type {
        match self {
            NumType::Int(int) => int.ty(),
            NumType::Float(format) => format.ty(),
        }
    }

    /// Whether its values may be negative.
    pub fn is_signed(self) -> bool {
        !matches!(self, NumType::Int(IntType::U8 | IntType::U16 | IntType::U32 | IntType::U64))
    }

    /// The word for it in the text form.
    pub fn name(self) -> &'static str {
        match self {
            NumType::Int(int) => int.name(),
            NumType::Float(format) => format.name(),
        }
    }

    /// The type of that word.
    pub fn from_name(name: &str) -> Option<NumType> {
        let int = IntType::from_name(name).map(NumType::Int);
        int.or_else(|| FloatFormat::from_name(name).map(NumType::Float))
    }

    /// Every type.
    pub fn all() -> impl Iterator<Item = NumType> {
        let ints = IntType::ALL.iter().copied().map(NumType::Int);
        ints.chain(FloatFormat::ALL.iter().copied().map(NumType::Float))
    }
}
