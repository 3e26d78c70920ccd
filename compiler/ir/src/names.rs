//! The mnemonics of the text form: each enumeration with its words, stated once for the printer
//! and the parser.

use crate::{
    BinaryOp, ConvertOp, Effect, ExecutionModel, FloatCond, IntCond, Scalar, Space, UnaryOp,
};

macro_rules! names {
    ($type:ident { $($variant:ident = $name:literal,)* }) => {
        impl $type {
            /// Every variant, in the order of declaration.
            pub const ALL: &'static [$type] = &[$($type::$variant),*];

            /// The word for it in the text form.
            pub fn name(self) -> &'static str {
                match self { $($type::$variant => $name),* }
            }

            /// The variant of that word.
            pub fn from_name(name: &str) -> Option<$type> {
                $type::ALL.iter().copied().find(|variant| variant.name() == name)
            }
        }
    };
}

names!(UnaryOp {
    Ineg = "ineg",
    Not = "not",
    Fneg = "fneg",
    Fabs = "fabs",
    Sqrt = "sqrt",
    Floor = "floor",
    Ceil = "ceil",
    Nearest = "nearest",
    Trunc = "trunc",
    Exp = "exp",
    Log = "log",
    Sin = "sin",
    Cos = "cos",
    Tan = "tan",
    Asin = "asin",
    Acos = "acos",
    Atan = "atan",
    Sinh = "sinh",
    Cosh = "cosh",
    Tanh = "tanh",
});

names!(BinaryOp {
    Iadd = "iadd",
    Isub = "isub",
    Imul = "imul",
    Sdiv = "sdiv",
    Udiv = "udiv",
    Srem = "srem",
    Urem = "urem",
    DivEuclid = "div_euclid",
    ModEuclid = "mod_euclid",
    And = "and",
    Or = "or",
    Xor = "xor",
    Shl = "shl",
    Lshr = "lshr",
    Ashr = "ashr",
    Smin = "smin",
    Smax = "smax",
    Umin = "umin",
    Umax = "umax",
    Fadd = "fadd",
    Fsub = "fsub",
    Fmul = "fmul",
    Fdiv = "fdiv",
    Fmin = "fmin",
    Fmax = "fmax",
    Fmod = "fmod",
    Pow = "pow",
    Atan2 = "atan2",
});

names!(IntCond {
    Eq = "eq",
    Ne = "ne",
    Slt = "slt",
    Sle = "sle",
    Sgt = "sgt",
    Sge = "sge",
    Ult = "ult",
    Ule = "ule",
    Ugt = "ugt",
    Uge = "uge",
});

names!(FloatCond { Eq = "eq", Ne = "ne", Lt = "lt", Le = "le", Gt = "gt", Ge = "ge", });

names!(ConvertOp {
    Truncate = "truncate",
    ZeroExtend = "zero_extend",
    SignExtend = "sign_extend",
    FloatToSigned = "float_to_signed",
    FloatToUnsigned = "float_to_unsigned",
    SignedToFloat = "signed_to_float",
    UnsignedToFloat = "unsigned_to_float",
    FloatToFloat = "float_to_float",
    Bitcast = "bitcast",
});

names!(Effect { Pure = "pure", Read = "read", Write = "write", });

names!(ExecutionModel { Grid = "grid", Engines = "engines", Sequential = "sequential", });

names!(Scalar {
    I1 = "i1",
    I8 = "i8",
    I16 = "i16",
    I32 = "i32",
    I64 = "i64",
    F16 = "f16",
    F32 = "f32",
    F64 = "f64",
});

names!(Space {
    Global = "global",
    Shared = "shared",
    Local = "local",
    Param = "param",
    Const = "const",
    Generic = "generic",
});

impl UnaryOp {
    /// Whether its operand is a float; else it is an integer.
    pub fn is_float(self) -> bool {
        !matches!(self, UnaryOp::Ineg | UnaryOp::Not)
    }
}

impl BinaryOp {
    /// Whether its operands are floats; else they are integers.
    pub fn is_float(self) -> bool {
        use BinaryOp::*;
        matches!(self, Fadd | Fsub | Fmul | Fdiv | Fmin | Fmax | Fmod | Pow | Atan2)
    }

    /// Whether the operands may change places without changing the result. `Fmin` and `Fmax` do
    /// not commute: of two zeros, or with a NaN, they give the second operand.
    pub fn is_commutative(self) -> bool {
        use BinaryOp::*;
        matches!(self, Iadd | Imul | And | Or | Xor | Smin | Smax | Umin | Umax | Fadd | Fmul)
    }
}

impl IntCond {
    /// The condition that holds where this one does with the operands in the other order.
    pub fn swapped(self) -> IntCond {
        use IntCond::*;
        match self {
            Eq => Eq,
            Ne => Ne,
            Slt => Sgt,
            Sle => Sge,
            Sgt => Slt,
            Sge => Sle,
            Ult => Ugt,
            Ule => Uge,
            Ugt => Ult,
            Uge => Ule,
        }
    }

    /// The condition that holds where this one does not.
    pub fn negated(self) -> IntCond {
        use IntCond::*;
        match self {
            Eq => Ne,
            Ne => Eq,
            Slt => Sge,
            Sle => Sgt,
            Sgt => Sle,
            Sge => Slt,
            Ult => Uge,
            Ule => Ugt,
            Ugt => Ule,
            Uge => Ult,
        }
    }
}

impl FloatCond {
    /// The condition that holds where this one does with the operands in the other order.
    pub fn swapped(self) -> FloatCond {
        use FloatCond::*;
        match self {
            Eq => Eq,
            Ne => Ne,
            Lt => Gt,
            Le => Ge,
            Gt => Lt,
            Ge => Le,
        }
    }
}
