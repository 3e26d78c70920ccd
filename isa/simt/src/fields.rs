//! How flags of an operation are declared: those of a rounding, of a conversion, of lanes.

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

pub(crate) use flags_field;
