//! Declaring operands that are no plain register: enums that are written by name and encoded by
//! number, and operands that are a number or a register.

use crate::text::SyntaxError;

/// The error of a word that is none of the names of a [`crate::named_field!`], with `what` the
/// field is.
pub fn unknown_name(
    what: &str,
    start: usize,
    word: &str,
    names: impl IntoIterator<Item = &'static str>,
) -> SyntaxError {
    let names: Vec<&str> = names.into_iter().collect();
    SyntaxError::new(format!("unknown {what} `{word}`"), start..start + word.len())
        .with_help(format!("expected one of {}", names.join(", ")))
}

/// Declares an enum that is a [`crate::Field`], written by name as a suffix and encoded by number:
///
/// ```
/// nbcc_isa::named_field! {
///     /// Which lanes vote.
///     pub enum Vote as "vote" {
///         /// True for all.
///         All = 0 "all",
///         /// True for one at least.
///         Any = 1 "any",
///     }
/// }
/// assert_eq!(Vote::from_name("any"), Some(Vote::Any));
/// ```
#[macro_export]
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

            /// The one with this name in assembly, which stands at `start` of a line.
            ///
            /// # Errors
            /// There is none; the names that there are.
            pub fn parse_name(name: &str, start: usize) -> Result<$name, $crate::SyntaxError> {
                $name::from_name(name).ok_or_else(|| {
                    let names = $name::ALL.iter().map(|one| one.name());
                    $crate::fields::unknown_name($what, start, name, names)
                })
            }
        }

        impl $crate::Field for $name {
            fn to_bits(&self) -> Option<u64> {
                Some(match self { $( $name::$variant => $bits ),+ })
            }
            fn from_bits(bits: u64) -> Option<Self> {
                match bits { $( $bits => Some($name::$variant), )+ _ => None }
            }
            fn write(
                &self,
                f: &mut dyn std::fmt::Write,
                _: &dyn $crate::LabelNames,
            ) -> std::fmt::Result {
                f.write_str(self.name())
            }
            fn parse(cursor: &mut $crate::text::Cursor<'_>) -> Result<Self, $crate::SyntaxError> {
                let start = cursor.position() + 1;
                let word = cursor.expect_suffix($what)?;
                $name::parse_name(word, start)
            }
        }
    };
}

/// Declares an operand that is a number or a register, with its brackets in the text:
///
/// ```
/// nbcc_isa::reg_or_imm! {
///     /// An address, written `[D4]` or `[0x0]`.
///     pub enum Address<R> in ["[", "]"] {
///         /// The address itself.
///         Direct(u32),
///         /// The register that holds it.
///         Indirect(R),
///     }
/// }
/// # let _ = [Address::Direct(0), Address::Indirect("D4")];
/// ```
#[macro_export]
macro_rules! reg_or_imm {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident<R> in $brackets:tt {
            $(#[$imm_meta:meta])* $imm:ident(u32),
            $(#[$reg_meta:meta])* $reg:ident(R),
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        $vis enum $name<R> {
            $(#[$imm_meta])*
            $imm(u32),
            $(#[$reg_meta])*
            $reg(R),
        }

        impl<R> $crate::RegOrImm for $name<R> {
            type Reg = R;
            const BRACKETS: [&'static str; 2] = $brackets;

            fn split(&self) -> Result<u32, &R> {
                match self {
                    $name::$imm(value) => Ok(*value),
                    $name::$reg(reg) => Err(reg),
                }
            }

            fn reg_mut(&mut self) -> Option<&mut R> {
                match self {
                    $name::$imm(_) => None,
                    $name::$reg(reg) => Some(reg),
                }
            }

            fn from_imm(value: u32) -> Self {
                $name::$imm(value)
            }

            fn from_reg(reg: R) -> Self {
                $name::$reg(reg)
            }
        }
    };
}
