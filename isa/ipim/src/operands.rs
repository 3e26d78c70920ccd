//! Operands of SIMB instructions that are no plain register: operations, modes,
//! masks, addresses; and the register files.
//! Table I of the iPIM paper, sections IV.C and IV.E.

use std::fmt::{self, Write};

use nbcc_isa::text::Cursor;
use nbcc_isa::{Field, LabelNames, RegisterClass, SyntaxError, named_field, reg_or_imm};

/// The register files of iPIM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RegClass {
    /// CtrlRF: 32-bit integers of the control core, one file a vault.
    Ctrl,
    /// AddrRF: 32-bit integers, one file an engine; A0 to A3 hold its ids.
    Addr,
    /// DataRF: four 32-bit lanes, one file an engine.
    Data,
}

/// As a place of values: `ctrl`, `addr`, `data`.
impl fmt::Display for RegClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RegClass::Ctrl => "ctrl",
            RegClass::Addr => "addr",
            RegClass::Data => "data",
        })
    }
}

impl RegisterClass for RegClass {
    const ALL: &'static [RegClass] = &[RegClass::Ctrl, RegClass::Addr, RegClass::Data];

    fn name(self) -> &'static str {
        match self {
            RegClass::Ctrl => "CtrlRF",
            RegClass::Addr => "AddrRF",
            RegClass::Data => "DataRF",
        }
    }

    fn prefix(self) -> &'static str {
        match self {
            RegClass::Ctrl => "C",
            RegClass::Addr => "A",
            RegClass::Data => "D",
        }
    }
}

/// A register of an iPIM machine.
pub type PhysReg = nbcc_isa::PhysReg<RegClass>;

/// The number of AddrRF entries that hold ids and cannot be written.
pub const RESERVED_ADDR_REGS: u16 = 4;
/// The entry that holds the engine's id in its group.
pub const PE_ID: PhysReg = PhysReg { class: RegClass::Addr, index: 0 };
/// The entry that holds the group's id in its vault.
pub const PG_ID: PhysReg = PhysReg { class: RegClass::Addr, index: 1 };
/// The entry that holds the vault's id in its cube.
pub const VAULT_ID: PhysReg = PhysReg { class: RegClass::Addr, index: 2 };
/// The entry that holds the cube's id.
pub const CHIP_ID: PhysReg = PhysReg { class: RegClass::Addr, index: 3 };

named_field! {
    /// Operations on 32-bit integers, the same in `comp`, `calc_arf` and `calc_crf`.
    pub enum IntOp as "integer operation" {
        /// Sum, low 32 bits.
        Add = 0 "add",
        /// Difference, low 32 bits.
        Sub = 1 "sub",
        /// Product, low 32 bits.
        Mul = 2 "mul",
        /// `dst + src1 * src2`, low 32 bits.
        Mac = 3 "mac",
        /// Shift left; 0 for an (unsigned) amount of 32 or more.
        Shl = 4 "shl",
        /// Logical shift right; 0 for an (unsigned) amount of 32 or more.
        Shr = 5 "shr",
        /// Arithmetic shift right; the sign for an (unsigned) amount of 32 or more.
        Sra = 6 "sra",
        /// Bitwise and.
        And = 7 "and",
        /// Bitwise or.
        Or = 8 "or",
        /// Bitwise exclusive or.
        Xor = 9 "xor",
        /// `src1` with all but its `src2` (unsigned) least significant bits cleared.
        CropLsb = 10 "croplsb",
        /// `src1` with all but its `src2` (unsigned) most significant bits cleared.
        CropMsb = 11 "cropmsb",
    }
}

named_field! {
    /// Operations on IEEE binary32: round to nearest even, subnormals kept.
    pub enum FloatOp as "float operation" {
        /// Sum.
        Add = 16 "add",
        /// Difference.
        Sub = 17 "sub",
        /// Product.
        Mul = 18 "mul",
        /// `dst + src1 * src2`, rounded after the multiplication and after the addition.
        Mac = 19 "mac",
    }
}

named_field! {
    /// Which lanes of `src1` a `comp` reads.
    pub enum Mode as "mode" {
        /// Vector-vector: lane by lane.
        Vv = 0 "vv",
        /// Scalar-vector: lane 0 of `src1` for every lane.
        Sv = 1 "sv",
    }
}

/// The operation of a `comp`. Written `add.f32`, `shl.i32`, ...
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CompOp {
    /// On 32-bit integers.
    Int(IntOp),
    /// On floats.
    Float(FloatOp),
}

impl IntOp {
    /// Whether it reads its destination.
    pub fn accumulates(self) -> bool {
        self == IntOp::Mac
    }
}

impl CompOp {
    /// Every operation, in the order of the encoding.
    pub fn all() -> impl Iterator<Item = CompOp> {
        let ints = IntOp::ALL.iter().map(|op| CompOp::Int(*op));
        ints.chain(FloatOp::ALL.iter().map(|op| CompOp::Float(*op)))
    }

    /// Whether it reads its destination.
    pub fn accumulates(self) -> bool {
        matches!(self, CompOp::Int(IntOp::Mac) | CompOp::Float(FloatOp::Mac))
    }
}

impl Field for CompOp {
    fn to_bits(&self) -> Option<u64> {
        match self {
            CompOp::Int(op) => op.to_bits(),
            CompOp::Float(op) => op.to_bits(),
        }
    }

    fn from_bits(bits: u64) -> Option<Self> {
        let int = IntOp::from_bits(bits).map(CompOp::Int);
        int.or_else(|| FloatOp::from_bits(bits).map(CompOp::Float))
    }

    fn write(&self, f: &mut dyn Write, _: &dyn LabelNames) -> fmt::Result {
        match self {
            CompOp::Int(op) => write!(f, "{}.i32", op.name()),
            CompOp::Float(op) => write!(f, "{}.f32", op.name()),
        }
    }

    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, SyntaxError> {
        let start = cursor.position() + 1;
        let op = cursor.expect_suffix("an operation")?;
        let type_start = cursor.position() + 1;
        match cursor.expect_suffix("`i32` or `f32`")? {
            "i32" => IntOp::parse_name(op, start).map(CompOp::Int),
            "f32" => FloatOp::parse_name(op, start).map(CompOp::Float),
            other => Err(SyntaxError::new(
                format!("unknown type `{other}`"),
                type_start..type_start + other.len(),
            )
            .with_help("lanes are `i32` or `f32`")),
        }
    }
}

/// Lanes that a `comp` computes, bit i for lane i; the others keep their value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VecMask(u8);

impl VecMask {
    /// All four lanes.
    pub const ALL: VecMask = VecMask(0xf);

    /// The lanes whose bit is set; bits above the fourth are dropped.
    pub fn new(bits: u8) -> VecMask {
        VecMask(bits & 0xf)
    }

    /// The four bits.
    pub fn bits(self) -> u8 {
        self.0
    }

    /// Whether `lane` is in it.
    pub fn contains(self, lane: usize) -> bool {
        self.0 >> lane & 1 != 0
    }
}

impl Field for VecMask {
    fn to_bits(&self) -> Option<u64> {
        Some(self.0.into())
    }
    fn from_bits(bits: u64) -> Option<Self> {
        (bits <= 0xf).then_some(VecMask(bits as u8))
    }
    fn write(&self, f: &mut dyn Write, _: &dyn LabelNames) -> fmt::Result {
        write!(f, "vec={:#x}", self.0)
    }
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, SyntaxError> {
        cursor.expect("vec")?;
        cursor.expect("=")?;
        Ok(VecMask(cursor.number_in("the lane mask", 0, 0xf)? as u8))
    }
}

/// Engines of the vault that execute an instruction: bit `pg * engines + pe`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SimbMask(pub u32);

impl Field for SimbMask {
    fn to_bits(&self) -> Option<u64> {
        Some(self.0.into())
    }
    fn from_bits(bits: u64) -> Option<Self> {
        u32::try_from(bits).ok().map(SimbMask)
    }
    fn write(&self, f: &mut dyn Write, _: &dyn LabelNames) -> fmt::Result {
        write!(f, "simb={:#x}", self.0)
    }
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, SyntaxError> {
        cursor.expect("simb")?;
        cursor.expect("=")?;
        Ok(SimbMask(cursor.number_in("the engine mask", 0, u32::MAX.into())? as u32))
    }
}

reg_or_imm! {
    /// A byte address in a bank or a scratchpad: the same for every engine, or the value
    /// of an AddrRF entry of each engine. Written `[0x40]` or `[A7]`.
    pub enum Addr<R> in ["[", "]"] {
        /// The address itself.
        Direct(u32),
        /// The AddrRF entry that holds it.
        Indirect(R),
    }
}

reg_or_imm! {
    /// A field of `req`: a number, or the CtrlRF entry that holds it.
    pub enum Source<R> in ["", ""] {
        /// The number itself.
        Imm(u32),
        /// The CtrlRF entry that holds it.
        Ctrl(R),
    }
}
