//! The `isa!` table: one row an instruction, from which the instruction enum (generic
//! over its register type), operand roles, encoder, decoder, assembler, disassembler
//! and the reference page are generated.
//!
//! A table looks like this:
//!
//! ```text
//! nbcc_isa::isa! {
//!     /// What the enum is.
//!     pub enum Inst<R>;
//!     bits 128; class RegClass; unit Unit; latency Latency;
//!     memory Memory; category Category;
//!
//!     /// What the instruction does.
//!     0x02 Calc "calc" [IndexCalculation, IntAlu, op.latency()] reads [] writes [] {
//!         op: IntOp = suffix() @ 8..12,
//!         dst: R = role(Addr, if op.accumulates() { Role::UseDef } else { Role::Def }) @ 32..40,
//!         src: R = reads(Addr) @ 40..48,
//!         address: Address<R> = either(Addr, 13) @ 64..96,
//!         mask: Mask = immediate() @ 96..128,
//!     }
//! }
//! ```
//!
//! A row is: opcode, variant, mnemonic, category, unit, latency class (an expression over
//! the fields), the memories it reads and writes, and its fields in the order of the text
//! with the bits that each takes, `@ 8..12`, or `@ 7..12 + 25..32` where they lie in two
//! places, the low ones first. The opcode is the bits that no field covers: no word fits
//! two rows. Instruction sets of this project have it in the low 8 bits, and zeros in the
//! rest; others have parts of it elsewhere (RISC-V's `funct3`). The kinds of field are:
//!
//! - `reads(C)`, `writes(C)`, `updates(C)`: a register of class `C`;
//! - `role(C, EXPR)`: the same, where the role follows from other fields;
//! - `either(C, B)`: a number, or a register that is read, where bit `B` is set;
//! - `base(C)`: a register that is read, in parentheses behind the field before it;
//! - `immediate()`: a [`crate::Field`];
//! - `symbolic()`: an [`crate::Imm`], an address;
//! - `relative(F)`: an [`crate::Imm`], the distance of an address from the instruction's
//!   own, encoded as the [`Distance`] `F` says;
//! - `suffix()`: a [`crate::Field`] written after the mnemonic; these come first.
//!
//! Bits that nothing covers are those of the opcode: written, and checked when read.
//! Overlapping or misplaced fields do not compile.

use std::fmt;

use crate::instruction::{DecodeError, EncodeError, Imm, PhysReg, RegOrImm, RegisterClass};
use crate::row::{Row, bit_mask, bits_of, field_bits};
use crate::text::{Cursor, Field, SyntaxError};

/// The bits that a row's fields and the low byte cover.
pub const fn covered_bits(row: &Row) -> u128 {
    0xff | field_bits(row.fields)
}

/// The row that a word fits.
///
/// # Errors
/// There is none: bits are set that the row with its low byte does not have, or no row has that.
pub fn find_row(rows: &'static [Row], word: u128) -> Result<&'static Row, DecodeError> {
    let mut near = None;
    for row in rows {
        let bits = (word ^ row.opcode as u128) & row.fixed;
        if bits == 0 {
            return Ok(row);
        }
        if bits as u8 == 0 && near.is_none() {
            near = Some(DecodeError::Reserved { mnemonic: row.mnemonic, bits });
        }
    }
    Err(near.unwrap_or(DecodeError::UnknownOpcode(word as u8)))
}

/// Checks at compile time that no fields overlap or reach beyond the word, that no
/// field is wider than 64 bits, and that no word fits two rows.
pub const fn check_rows(rows: &[Row], bits: u32) {
    assert!(bits == 32 || bits == 64 || bits == 128, "a word has 32, 64 or 128 bits");
    let mut i = 0;
    while i < rows.len() {
        let mut j = 0;
        while j < i {
            let both = rows[i].fixed & rows[j].fixed;
            let differ = (rows[i].opcode ^ rows[j].opcode) as u128;
            assert!(differ & both != 0, "a word fits two rows");
            j += 1;
        }
        assert!(rows[i].opcode as u128 & !rows[i].fixed == 0, "a field covers bits of the opcode");
        let mut covered = 0_u128;
        let mut f = 0;
        while f < rows[i].fields.len() {
            let field = &rows[i].fields[f];
            assert!(field.high <= bits, "a field reaches beyond the word");
            assert!(field.high - field.low <= 64, "a field is wider than 64 bits");
            if let Some((low, high)) = field.rest {
                assert!(high <= bits, "a field reaches beyond the word");
                assert!(field.high - field.low + high - low <= 64, "a field is wider than 64 bits");
                assert!(
                    bit_mask(field.low, field.high) & bit_mask(low, high) == 0,
                    "a field overlaps itself"
                );
            }
            let mask = bits_of(field);
            assert!(covered & mask == 0, "two fields overlap");
            covered |= mask;
            if let Some(flag) = field.flag {
                assert!(flag < bits, "a flag is beyond the word");
                let mask = bit_mask(flag, flag + 1);
                assert!(covered & mask == 0, "a flag overlaps a field");
                covered |= mask;
            }
            f += 1;
        }
        i += 1;
    }
}

/// Where a field lies, for the functions that generated code calls.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// The row's mnemonic.
    pub mnemonic: &'static str,
    /// The field's name.
    pub field: &'static str,
    /// The lowest bit.
    pub low: u32,
    /// One past the highest bit.
    pub high: u32,
    /// Where the bits behind those lie, if the field lies in two places.
    pub rest: Option<(u32, u32)>,
}

impl Slot {
    /// How many bits it has.
    fn bits(self) -> u32 {
        self.high - self.low + self.rest.map_or(0, |(low, high)| high - low)
    }

    fn put(self, value: u64) -> Result<u128, EncodeError> {
        let bits = self.bits();
        if bits < 64 && value >> bits != 0 {
            return Err(self.does_not_fit(value));
        }
        let value = u128::from(value);
        let first = value << self.low & bit_mask(self.low, self.high);
        let rest = self.rest.map_or(0, |(low, _)| value >> (self.high - self.low) << low);
        Ok(first | rest)
    }

    fn get(self, word: u128) -> u64 {
        let first = (word & bit_mask(self.low, self.high)) >> self.low;
        let rest = |(low, high)| (word & bit_mask(low, high)) >> low << (self.high - self.low);
        (first | self.rest.map_or(0, rest)) as u64
    }

    fn does_not_fit(self, value: u64) -> EncodeError {
        let Slot { mnemonic, field, .. } = self;
        EncodeError::DoesNotFit { mnemonic, field, bits: self.bits(), value }
    }

    fn bad(self, value: u64) -> DecodeError {
        DecodeError::BadField { mnemonic: self.mnemonic, field: self.field, value }
    }

    /// Encodes a register.
    pub fn put_reg<C: RegisterClass>(
        self,
        class: C,
        reg: &PhysReg<C>,
    ) -> Result<u128, EncodeError> {
        if reg.class != class {
            let Slot { mnemonic, field, .. } = self;
            let register = reg.to_string();
            return Err(EncodeError::WrongClass { mnemonic, field, register });
        }
        self.put(u64::from(reg.index))
    }

    /// Decodes a register.
    pub fn get_reg<C: RegisterClass>(
        self,
        class: C,
        word: u128,
    ) -> Result<PhysReg<C>, DecodeError> {
        let bits = self.get(word);
        let index = u16::try_from(bits).map_err(|_| self.bad(bits))?;
        Ok(PhysReg { class, index })
    }

    /// Encodes a number or a register, told apart by bit `flag`.
    pub fn put_either<C: RegisterClass, T: RegOrImm<Reg = PhysReg<C>>>(
        self,
        class: C,
        flag: u32,
        operand: &T,
    ) -> Result<u128, EncodeError> {
        match operand.split() {
            Ok(value) => self.put(u64::from(value)),
            Err(reg) => Ok(self.put_reg(class, reg)? | 1 << flag),
        }
    }

    /// Decodes a number or a register, told apart by bit `flag`.
    pub fn get_either<C: RegisterClass, T: RegOrImm<Reg = PhysReg<C>>>(
        self,
        class: C,
        flag: u32,
        word: u128,
    ) -> Result<T, DecodeError> {
        let bits = self.get(word);
        if word >> flag & 1 == 0 {
            return u32::try_from(bits).map(T::from_imm).map_err(|_| self.bad(bits));
        }
        // Entries beyond 255 are no valid numbers even where the field is wide.
        let index = u8::try_from(bits).map_err(|_| self.bad(bits))?;
        Ok(T::from_reg(PhysReg { class, index: index.into() }))
    }

    /// Encodes the distance of an address.
    pub fn put_distance<D: Distance>(self, imm: &Imm) -> Result<u128, EncodeError> {
        let Slot { mnemonic, field, .. } = self;
        match *imm {
            Imm::Label(_) => Err(EncodeError::Unresolved { mnemonic, field }),
            Imm::Value(value) => {
                let bits = D::to_bits(value).ok_or(self.does_not_fit(value as u32 as u64))?;
                self.put(bits)
            }
        }
    }

    /// Decodes the distance of an address.
    pub fn get_distance<D: Distance>(self, word: u128) -> Result<Imm, DecodeError> {
        Ok(Imm::Value(D::from_bits(self.get(word))))
    }

    /// Encodes a field.
    pub fn put_field<T: Field>(self, value: &T) -> Result<u128, EncodeError> {
        match value.to_bits() {
            Some(bits) => self.put(bits),
            None => {
                let Slot { mnemonic, field, .. } = self;
                Err(EncodeError::Unresolved { mnemonic, field })
            }
        }
    }

    /// Decodes a field.
    pub fn get_field<T: Field>(self, word: u128) -> Result<T, DecodeError> {
        let bits = self.get(word);
        T::from_bits(bits).ok_or_else(|| self.bad(bits))
    }
}

/// How the distance of an address from an instruction's own stands in a field.
pub trait Distance {
    /// The bits of a distance in bytes; `None` where it has no encoding.
    fn to_bits(distance: i32) -> Option<u64>;
    /// The distance of bits that the field can hold.
    fn from_bits(bits: u64) -> i32;
}

/// Writes what separates an operand from the one before it.
pub fn separate(f: &mut dyn fmt::Write, first: &mut bool) -> fmt::Result {
    f.write_str(if std::mem::take(first) { " " } else { ", " })
}

/// Reads what separates an operand from the one before it.
pub fn expect_separator(cursor: &mut Cursor<'_>, first: &mut bool) -> Result<(), SyntaxError> {
    if std::mem::take(first) { Ok(()) } else { cursor.expect(",") }
}

/// Reads a register of `class`.
pub fn parse_reg<C: RegisterClass>(
    cursor: &mut Cursor<'_>,
    class: C,
    slot: Slot,
) -> Result<PhysReg<C>, SyntaxError> {
    let start = cursor.position();
    let index = cursor.register(class.prefix(), class.name())?;
    let bits = (slot.high - slot.low).min(8);
    if u32::from(index) >> bits != 0 {
        let end = cursor.position();
        let message = format!("{} {index} is out of range", class.name());
        return Err(SyntaxError::new(message, start..end)
            .with_help(format!("the encoding has room for entries 0 to {}", (1 << bits) - 1)));
    }
    Ok(PhysReg { class, index })
}

/// Reads a number or a register of `class`.
pub fn parse_either<C: RegisterClass, T: RegOrImm<Reg = PhysReg<C>>>(
    cursor: &mut Cursor<'_>,
    class: C,
    slot: Slot,
) -> Result<T, SyntaxError> {
    let [open, close] = T::BRACKETS;
    if !open.is_empty() {
        cursor.expect(open)?;
    }
    let start = cursor.position();
    let operand = if cursor.name().is_some() {
        cursor.rewind(start);
        T::from_reg(parse_reg(cursor, class, slot)?)
    } else {
        let most = (bit_mask(slot.low, slot.high) >> slot.low).min(u32::MAX.into());
        T::from_imm(cursor.number_in(slot.field, 0, most as i64)? as u32)
    };
    if !close.is_empty() {
        cursor.expect(close)?;
    }
    Ok(operand)
}

/// Writes a number or a register.
pub fn write_either<T: RegOrImm>(f: &mut dyn fmt::Write, operand: &T) -> fmt::Result
where
    T::Reg: fmt::Display,
{
    let [open, close] = T::BRACKETS;
    f.write_str(open)?;
    match operand.split() {
        Ok(value) if open.is_empty() => write!(f, "{value}")?,
        Ok(value) => write!(f, "{value:#x}")?,
        Err(reg) => write!(f, "{reg}")?,
    }
    f.write_str(close)
}

/// The instruction table of an instruction set; see [`crate::table`].
#[macro_export]
macro_rules! isa {
    (
        $(#[$enum_doc:meta])*
        $vis:vis enum $Inst:ident<$R:ident>;
        bits $bits:literal;
        class $Class:ident;
        unit $Unit:ident;
        latency $Latency:ident;
        memory $Memory:ident;
        category $Category:ident;
        $(
            $(#[doc = $doc:literal])+
            $opcode:literal $Variant:ident $mnemonic:literal
            [$category:ident, $unit:ident, $latency:expr]
            reads [$($reads:ident),*] writes [$($writes:ident),*]
            {
                $(
                    $(#[$field_doc:meta])*
                    $field:ident : $ty:ty = $kind:ident $args:tt
                        @ $low:literal..$high:literal $(+ $low2:literal..$high2:literal)?
                ),* $(,)?
            }
        )+
    ) => {
        $(#[$enum_doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        $vis enum $Inst<$R> {
            $(
                $(#[doc = $doc])+
                $Variant { $( $(#[$field_doc])* $field: $ty ),* },
            )+
        }

        /// The rows of the table.
        $vis const ROWS: &[$crate::row::Row] = &[
            $( $crate::row::Row {
                opcode: $opcode,
                mnemonic: $mnemonic,
                doc: &[$($doc),+],
                category: stringify!($category),
                unit: stringify!($unit),
                latency: stringify!($latency),
                memory_reads: &[$(stringify!($reads)),*],
                memory_writes: &[$(stringify!($writes)),*],
                fields: &[
                    $( $crate::row::FieldRow {
                        name: stringify!($field),
                        kind: stringify!($kind),
                        class: $crate::isa_kind!(class $args),
                        flag: $crate::isa_kind!(flag $kind $args),
                        ty: stringify!($ty),
                        low: $low,
                        high: $high,
                        rest: $crate::isa_kind!(rest $($low2 $high2)?),
                    } ),*
                ],
                fixed: 0,
            }.with_fixed() ),+
        ];

        const _: () = $crate::table::check_rows(ROWS, $bits);

        #[allow(unused_variables, unused_mut, unused_assignments)]
        impl<$R> $crate::Instruction for $Inst<$R> {
            type Reg = $R;
            type Class = $Class;
            type Unit = $Unit;
            type Latency = $Latency;
            type Memory = $Memory;
            type Category = $Category;
            type With<S> = $Inst<S>;

            fn opcode(&self) -> u8 {
                match self { $( $Inst::$Variant { .. } => ($opcode & 0xff) as u8 ),+ }
            }

            fn mnemonic(&self) -> &'static str {
                match self { $( $Inst::$Variant { .. } => $mnemonic ),+ }
            }

            fn unit(&self) -> $Unit {
                match self { $( $Inst::$Variant { .. } => $Unit::$unit ),+ }
            }

            fn latency(&self) -> $Latency {
                match self { $( $Inst::$Variant { $($field),* } => $latency ),+ }
            }

            fn category(&self) -> $Category {
                match self { $( $Inst::$Variant { .. } => $Category::$category ),+ }
            }

            fn memory_reads(&self) -> &'static [$Memory] {
                match self { $( $Inst::$Variant { .. } => &[$($Memory::$reads),*] ),+ }
            }

            fn memory_writes(&self) -> &'static [$Memory] {
                match self { $( $Inst::$Variant { .. } => &[$($Memory::$writes),*] ),+ }
            }

            fn for_each_operand<'a>(
                &'a self,
                mut f: impl FnMut($crate::Operand<$Class, &'a $R>),
            ) {
                match self { $(
                    $Inst::$Variant { $($field),* } => {
                        $( $crate::isa_kind!(visit $Class $kind $args $field f); )*
                    }
                )+ }
            }

            fn for_each_operand_mut<'a>(
                &'a mut self,
                mut f: impl FnMut($crate::Operand<$Class, &'a mut $R>),
            ) {
                match self { $(
                    $Inst::$Variant { $($field),* } => {
                        $( $crate::isa_kind!(visit_mut $Class $kind $args $field f); )*
                    }
                )+ }
            }

            fn map_regs<S>(
                &self,
                mut f: impl FnMut($crate::Operand<$Class, &$R>) -> S,
            ) -> $Inst<S> {
                match self { $(
                    $Inst::$Variant { $($field),* } => $Inst::$Variant {
                        $( $field: $crate::isa_kind!(map $Class $kind $args $field f) ),*
                    },
                )+ }
            }

            fn is_relative(&self) -> bool {
                let mut relative = false;
                match self { $(
                    $Inst::$Variant { .. } => {
                        $( $crate::isa_kind!(is_relative $kind relative); )*
                    }
                )+ }
                relative
            }

            fn symbolic(&self) -> Option<$crate::Imm> {
                let mut found: Option<&$crate::Imm> = None;
                match self { $(
                    $Inst::$Variant { $($field),* } => {
                        $( $crate::isa_kind!(symbolic $kind $field found); )*
                    }
                )+ }
                found.copied()
            }

            fn symbolic_mut(&mut self) -> Option<&mut $crate::Imm> {
                let mut found: Option<&mut $crate::Imm> = None;
                match self { $(
                    $Inst::$Variant { $($field),* } => {
                        $( $crate::isa_kind!(symbolic $kind $field found); )*
                    }
                )+ }
                found
            }

            fn for_each_symbolic_mut(&mut self, mut f: impl FnMut(&mut $crate::Imm)) {
                match self { $(
                    $Inst::$Variant { $($field),* } => {
                        $( $crate::isa_kind!(each_symbolic $kind $field f); )*
                    }
                )+ }
            }
        }

        impl<$R: std::fmt::Display> $Inst<$R> {
            /// Writes the text, with `labels` naming the labels.
            #[allow(unused_variables)]
            pub fn write_with(
                &self,
                f: &mut dyn std::fmt::Write,
                labels: &dyn $crate::LabelNames,
            ) -> std::fmt::Result {
                match self { $(
                    $Inst::$Variant { $($field),* } => {
                        f.write_str($mnemonic)?;
                        let mut first = true;
                        $( $crate::isa_kind!(write $kind $field f labels first); )*
                        Ok(())
                    }
                )+ }
            }
        }

        impl<$R: std::fmt::Display> std::fmt::Display for $Inst<$R> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.write_with(f, &())
            }
        }

        impl $crate::MachineInstruction for $Inst<$crate::PhysReg<$Class>> {
            const BYTES: usize = $bits / 8;
            const ROWS: &'static [$crate::row::Row] = ROWS;

            fn encode(&self) -> Result<u128, $crate::EncodeError> {
                match self { $(
                    $Inst::$Variant { $($field),* } => {
                        let mut word = $opcode as u128;
                        $(
                            let slot = $crate::isa_kind!(slot $mnemonic $field $low $high $($low2 $high2)?);
                            word |= $crate::isa_kind!(encode $Class $kind $args $field slot)?;
                        )*
                        Ok(word)
                    }
                )+ }
            }

            fn decode(word: u128) -> Result<Self, $crate::DecodeError> {
                match $crate::table::find_row(ROWS, word)?.opcode {
                    $( $opcode => Ok($Inst::$Variant {
                        $( $field: {
                            let slot = $crate::isa_kind!(slot $mnemonic $field $low $high $($low2 $high2)?);
                            $crate::isa_kind!(decode $Class $kind $args slot word)?
                        } ),*
                    }), )+
                    other => Err($crate::DecodeError::UnknownOpcode(other as u8)),
                }
            }

            fn write_text(
                &self,
                f: &mut dyn std::fmt::Write,
                labels: &dyn $crate::LabelNames,
            ) -> std::fmt::Result {
                self.write_with(f, labels)
            }

            #[allow(unused_variables, unused_mut, unused_assignments)]
            fn parse_text(
                cursor: &mut $crate::text::Cursor<'_>,
            ) -> Result<Self, $crate::text::SyntaxError> {
                let start = cursor.position();
                let mnemonic = cursor.expect_name("an instruction")?;
                let mut first = true;
                match mnemonic {
                    $( $mnemonic => Ok($Inst::$Variant {
                        $( $field: {
                            let slot = $crate::isa_kind!(slot $mnemonic $field $low $high $($low2 $high2)?);
                            $crate::isa_kind!(parse $Class $kind $args slot cursor first)
                        } ),*
                    }), )+
                    other => Err($crate::table::unknown_mnemonic(other, start, ROWS)),
                }
            }
        }
    };
}

/// The error for a word that is no mnemonic of `rows`.
pub fn unknown_mnemonic(word: &str, start: usize, rows: &'static [Row]) -> SyntaxError {
    let error =
        SyntaxError::new(format!("unknown instruction `{word}`"), start..start + word.len());
    match nbcc_base::nearest(word, rows.iter().map(|row| row.mnemonic)) {
        Some(near) => error.with_help(format!("did you mean `{near}`?")),
        None => error,
    }
}

/// What `isa!` generates for each kind of field.
#[doc(hidden)]
#[macro_export]
macro_rules! isa_kind {
    // The register class and the flag bit, for the row.
    (class ()) => { None };
    (class ($class:ident $(, $($rest:tt)*)?)) => { Some(stringify!($class)) };
    (flag either ($class:ident, $flag:literal)) => { Some($flag) };
    (flag $kind:ident $args:tt) => { None };

    (rest) => { None };
    (rest $low:literal $high:literal) => { Some(($low, $high)) };

    (slot $mnemonic:literal $field:ident $low:literal $high:literal $($rest:literal)*) => {
        $crate::table::Slot {
            mnemonic: $mnemonic,
            field: stringify!($field),
            low: $low,
            high: $high,
            rest: $crate::isa_kind!(rest $($rest)*),
        }
    };

    // Visiting of operands.
    (visit $C:ident reads ($class:ident) $field:ident $f:ident) => {
        $f($crate::Operand { role: $crate::Role::Use, class: $C::$class, reg: $field })
    };
    (visit $C:ident writes ($class:ident) $field:ident $f:ident) => {
        $f($crate::Operand { role: $crate::Role::Def, class: $C::$class, reg: $field })
    };
    (visit $C:ident updates ($class:ident) $field:ident $f:ident) => {
        $f($crate::Operand { role: $crate::Role::UseDef, class: $C::$class, reg: $field })
    };
    (visit $C:ident role ($class:ident, $role:expr) $field:ident $f:ident) => {{
        let role: $crate::Role = $role;
        $f($crate::Operand { role, class: $C::$class, reg: $field })
    }};
    (visit $C:ident either ($class:ident, $flag:literal) $field:ident $f:ident) => {
        if let Err(reg) = $crate::RegOrImm::split($field) {
            $f($crate::Operand { role: $crate::Role::Use, class: $C::$class, reg })
        }
    };
    (visit $C:ident base ($class:ident) $field:ident $f:ident) => {
        $f($crate::Operand { role: $crate::Role::Use, class: $C::$class, reg: $field })
    };
    (visit $C:ident relative ($form:ident) $field:ident $f:ident) => {};
    (visit $C:ident $kind:ident () $field:ident $f:ident) => {};

    (visit_mut $C:ident either ($class:ident, $flag:literal) $field:ident $f:ident) => {
        if let Some(reg) = $crate::RegOrImm::reg_mut($field) {
            $f($crate::Operand { role: $crate::Role::Use, class: $C::$class, reg })
        }
    };
    (visit_mut $C:ident $kind:ident $args:tt $field:ident $f:ident) => {
        $crate::isa_kind!(visit $C $kind $args $field $f)
    };

    // Replacing of registers.
    (map $C:ident either ($class:ident, $flag:literal) $field:ident $f:ident) => {
        match $crate::RegOrImm::split($field) {
            Ok(value) => $crate::RegOrImm::from_imm(value),
            Err(reg) => $crate::RegOrImm::from_reg($f($crate::Operand {
                role: $crate::Role::Use,
                class: $C::$class,
                reg,
            })),
        }
    };
    (map $C:ident $kind:ident () $field:ident $f:ident) => { *$field };
    (map $C:ident relative ($form:ident) $field:ident $f:ident) => { *$field };
    (map $C:ident $kind:ident $args:tt $field:ident $f:ident) => {
        $crate::isa_kind!(visit $C $kind $args $field $f)
    };

    (symbolic symbolic $field:ident $found:ident) => {
        if $found.is_none() {
            $found = Some($field);
        }
    };
    (symbolic relative $field:ident $found:ident) => {
        $crate::isa_kind!(symbolic symbolic $field $found)
    };
    (symbolic $kind:ident $field:ident $found:ident) => {};
    (is_relative relative $found:ident) => { $found = true };
    (is_relative $kind:ident $found:ident) => {};
    (each_symbolic symbolic $field:ident $f:ident) => { $f($field) };
    (each_symbolic relative $field:ident $f:ident) => { $f($field) };
    (each_symbolic $kind:ident $field:ident $f:ident) => {};

    // Encoding.
    (encode $C:ident $kind:ident () $field:ident $slot:ident) => { $slot.put_field($field) };
    (encode $C:ident either ($class:ident, $flag:literal) $field:ident $slot:ident) => {
        $slot.put_either($C::$class, $flag, $field)
    };
    (encode $C:ident relative ($form:ident) $field:ident $slot:ident) => {
        $slot.put_distance::<$form>($field)
    };
    (encode $C:ident $kind:ident ($class:ident $(, $role:expr)?) $field:ident $slot:ident) => {
        $slot.put_reg($C::$class, $field)
    };
    (decode $C:ident $kind:ident () $slot:ident $word:ident) => { $slot.get_field($word) };
    (decode $C:ident either ($class:ident, $flag:literal) $slot:ident $word:ident) => {
        $slot.get_either($C::$class, $flag, $word)
    };
    (decode $C:ident relative ($form:ident) $slot:ident $word:ident) => {
        $slot.get_distance::<$form>($word)
    };
    (decode $C:ident $kind:ident ($class:ident $(, $role:expr)?) $slot:ident $word:ident) => {
        $slot.get_reg($C::$class, $word)
    };

    // Text.
    (write suffix $field:ident $f:ident $labels:ident $first:ident) => {
        $f.write_str(".")?;
        $crate::Field::write($field, $f, $labels)?;
    };
    (write immediate $field:ident $f:ident $labels:ident $first:ident) => {
        $crate::table::separate($f, &mut $first)?;
        $crate::Field::write($field, $f, $labels)?;
    };
    (write symbolic $field:ident $f:ident $labels:ident $first:ident) => {
        $crate::table::separate($f, &mut $first)?;
        $crate::Field::write($field, $f, $labels)?;
    };
    (write relative $field:ident $f:ident $labels:ident $first:ident) => {
        $crate::isa_kind!(write symbolic $field $f $labels $first)
    };
    (write base $field:ident $f:ident $labels:ident $first:ident) => {
        write!($f, "({})", $field)?;
    };
    (write either $field:ident $f:ident $labels:ident $first:ident) => {
        $crate::table::separate($f, &mut $first)?;
        $crate::table::write_either($f, $field)?;
    };
    (write $kind:ident $field:ident $f:ident $labels:ident $first:ident) => {
        $crate::table::separate($f, &mut $first)?;
        write!($f, "{}", $field)?;
    };
    (parse $C:ident suffix () $slot:ident $cursor:ident $first:ident) => {
        $crate::Field::parse($cursor)?
    };
    (parse $C:ident $kind:ident () $slot:ident $cursor:ident $first:ident) => {{
        $crate::table::expect_separator($cursor, &mut $first)?;
        $crate::Field::parse($cursor)?
    }};
    (parse $C:ident relative ($form:ident) $slot:ident $cursor:ident $first:ident) => {
        $crate::isa_kind!(parse $C symbolic () $slot $cursor $first)
    };
    (parse $C:ident base ($class:ident) $slot:ident $cursor:ident $first:ident) => {{
        $cursor.expect("(")?;
        let reg = $crate::table::parse_reg($cursor, $C::$class, $slot)?;
        $cursor.expect(")")?;
        reg
    }};
    (parse $C:ident either ($class:ident, $flag:literal) $slot:ident $cursor:ident $first:ident) => {{
        $crate::table::expect_separator($cursor, &mut $first)?;
        $crate::table::parse_either($cursor, $C::$class, $slot)?
    }};
    (parse $C:ident $kind:ident ($class:ident $(, $role:expr)?) $slot:ident $cursor:ident $first:ident) => {{
        $crate::table::expect_separator($cursor, &mut $first)?;
        $crate::table::parse_reg($cursor, $C::$class, $slot)?
    }};
}
