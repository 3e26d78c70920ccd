//! How operands that are no register are declared: enums that are written by name and encoded
//! by number, and operands that are a number or a register.

/// Declares an enum that is written by name and encoded by number.
macro_rules! named_field {
    (
        $(#[$meta:meta])*
        pub enum $name:ident as $what:literal {
            $( $(#[$variant_meta:meta])* $variant:ident = $bits:literal $text:literal ),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $( $(#[$variant_meta])* $variant ),+ }

        impl $name {
            /// Every one, in the order of the encoding.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// The name in assembly.
            pub fn name(self) -> &'static str {
                match self { $( $name::$variant => $text ),+ }
            }

            /// The one with this name in assembly.
            pub fn from_name(name: &str) -> Option<$name> {
                match name { $( $text => Some($name::$variant), )+ _ => None }
            }
        }

        impl nbcc_isa::Field for $name {
            fn to_bits(&self) -> Option<u64> {
                Some(match self { $( $name::$variant => $bits ),+ })
            }
            fn from_bits(bits: u64) -> Option<Self> {
                match bits { $( $bits => Some($name::$variant), )+ _ => None }
            }
            fn write(
                &self,
                f: &mut dyn std::fmt::Write,
                _: &dyn nbcc_isa::LabelNames,
            ) -> std::fmt::Result {
                f.write_str(self.name())
            }
            fn parse(
                cursor: &mut nbcc_isa::text::Cursor<'_>,
            ) -> Result<Self, nbcc_isa::SyntaxError> {
                let start = cursor.position() + 1;
                let word = cursor.expect_suffix($what)?;
                $name::from_name(word).ok_or_else(|| {
                    let names: Vec<&str> = $name::ALL.iter().map(|v| v.name()).collect();
                    nbcc_isa::SyntaxError::new(
                        format!("unknown {} `{word}`", $what),
                        start..start + word.len(),
                    )
                    .with_help(format!("expected one of {}", names.join(", ")))
                })
            }
        }
    };
}

/// Declares an operand that is a number or a register, with its brackets in the text.
macro_rules! reg_or_imm {
    ($(#[$meta:meta])* $name:ident, $brackets:expr) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name<R> {
            /// The number itself.
            Imm(u32),
            /// The register that holds it.
            Reg(R),
        }

        impl<R> nbcc_isa::RegOrImm for $name<R> {
            type Reg = R;
            const BRACKETS: [&'static str; 2] = $brackets;

            fn split(&self) -> Result<u32, &R> {
                match self {
                    $name::Imm(value) => Ok(*value),
                    $name::Reg(reg) => Err(reg),
                }
            }

            fn reg_mut(&mut self) -> Option<&mut R> {
                match self {
                    $name::Imm(_) => None,
                    $name::Reg(reg) => Some(reg),
                }
            }

            fn from_imm(value: u32) -> Self {
                $name::Imm(value)
            }

            fn from_reg(reg: R) -> Self {
                $name::Reg(reg)
            }
        }
    };
}

/// Declares flags that are written as suffixes where they are set, in their order.
macro_rules! flags_field {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $first:ident: $first_ty:ident as $first_doc:literal in $first_bits:literal bits;
            $( $(#[$flag_meta:meta])* $flag:ident = $text:literal ),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name {
            #[doc = $first_doc]
            pub $first: $first_ty,
            $( $(#[$flag_meta])* pub $flag: bool ),+
        }

        impl $name {
            /// With no flag set.
            pub fn plain($first: $first_ty) -> $name {
                $name { $first, $( $flag: false ),+ }
            }
        }

        impl nbcc_isa::Field for $name {
            fn to_bits(&self) -> Option<u64> {
                let mut bits = self.$first.to_bits()?;
                let mut at = $first_bits;
                for flag in [$( self.$flag ),+] {
                    bits |= u64::from(flag) << at;
                    at += 1;
                }
                Some(bits)
            }
            fn from_bits(bits: u64) -> Option<Self> {
                let mut out = $name::plain($first_ty::from_bits(bits & ((1 << $first_bits) - 1))?);
                let mut rest = bits >> $first_bits;
                for flag in [$( &mut out.$flag ),+] {
                    *flag = rest & 1 != 0;
                    rest >>= 1;
                }
                (rest == 0).then_some(out)
            }
            fn write(
                &self,
                f: &mut dyn std::fmt::Write,
                labels: &dyn nbcc_isa::LabelNames,
            ) -> std::fmt::Result {
                nbcc_isa::Field::write(&self.$first, f, labels)?;
                $( if self.$flag { f.write_str(concat!(".", $text))?; } )+
                Ok(())
            }
            fn parse(
                cursor: &mut nbcc_isa::text::Cursor<'_>,
            ) -> Result<Self, nbcc_isa::SyntaxError> {
                let mut out = $name::plain($first_ty::parse(cursor)?);
                $( out.$flag = $crate::fields::eat_suffix(cursor, $text); )+
                Ok(out)
            }
        }
    };
}

/// Takes the suffix `.word` if it comes next.
pub(crate) fn eat_suffix(cursor: &mut nbcc_isa::text::Cursor<'_>, word: &str) -> bool {
    let start = cursor.position();
    if matches!(cursor.expect_suffix("a suffix"), Ok(found) if found == word) {
        return true;
    }
    cursor.rewind(start);
    false
}

pub(crate) use {flags_field, named_field, reg_or_imm};
