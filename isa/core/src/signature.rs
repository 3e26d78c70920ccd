//! What a host gives a sequential function and gets back: scalars by value, arrays by what they
//! hold. Stands in a binary as the metadata section [`SIGNATURE`].

use std::collections::BTreeMap;

use nbcc_base::member::{Member, NoMember};
use serde::{Deserialize, Serialize};

use crate::container::Container;
use crate::error::LoadError;
use crate::metadata::{from_json, to_json};
use crate::program::repeated;

/// The metadata section that holds the signatures of a program's functions.
pub const SIGNATURE: &str = ".nbcc.signature";

/// The type of a scalar, or of the elements of an array. Values are little endian in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScalarType {
    /// A byte, 0 or 1.
    Bool,
    /// 8 bits, signed.
    I8,
    /// 16 bits, signed.
    I16,
    /// 32 bits, signed.
    I32,
    /// 64 bits, signed.
    I64,
    /// 8 bits, unsigned.
    U8,
    /// 16 bits, unsigned.
    U16,
    /// 32 bits, unsigned.
    U32,
    /// 64 bits, unsigned.
    U64,
    /// IEEE binary16.
    F16,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
}

impl ScalarType {
    /// All of them.
    pub const ALL: [ScalarType; 12] = {
        use ScalarType::*;
        [Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, F32, F64]
    };

    /// The type of that name.
    pub fn from_name(name: &str) -> Option<ScalarType> {
        ScalarType::ALL.into_iter().find(|ty| ty.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        use ScalarType::*;
        match self {
            Bool => "bool",
            I8 => "i8",
            I16 => "i16",
            I32 => "i32",
            I64 => "i64",
            U8 => "u8",
            U16 => "u16",
            U32 => "u32",
            U64 => "u64",
            F16 => "f16",
            F32 => "f32",
            F64 => "f64",
        }
    }

    /// Bytes of a value.
    pub fn bytes(self) -> u32 {
        use ScalarType::*;
        match self {
            Bool | I8 | U8 => 1,
            I16 | U16 | F16 => 2,
            I32 | U32 | F32 => 4,
            I64 | U64 | F64 => 8,
        }
    }

    /// The least and greatest integer of the type; `None` for floats.
    pub fn range(self) -> Option<(i128, i128)> {
        use ScalarType::*;
        let bits = 8 * self.bytes();
        match self {
            Bool => Some((0, 1)),
            I8 | I16 | I32 | I64 => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
            U8 | U16 | U32 | U64 => Some((0, (1 << bits) - 1)),
            F16 | F32 | F64 => None,
        }
    }
}

/// What a function takes and gives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// Its name in the source.
    pub name: String,
    /// Its parameters, in order.
    pub params: Vec<SignatureParam>,
    /// The type of its result, if it has one.
    pub result: Option<ScalarType>,
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignatureParam {
    /// Its name in the source.
    pub name: String,
    /// Its type, or that of its elements.
    pub ty: ScalarType,
    /// What it is where it is an array.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub array: Option<ArrayParam>,
    /// The members of the structures of an array that it holds ([`nbcc_base::member::Member`]), where
    /// hosts know several arrays as one of structures; the last extent is how many scalars of a
    /// structure it holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<String>,
    /// The bits of the scalar that the program was compiled for: it takes no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<u64>,
}

impl SignatureParam {
    /// What hosts call the array of structures of which it holds members, and these.
    ///
    /// # Errors
    /// They are none, or do not go together.
    pub fn structure(&self) -> Result<Option<Vec<Member>>, NoMember> {
        if self.members.is_empty() {
            return Ok(None);
        }
        self.members.iter().map(|text| text.parse()).collect::<Result<Vec<Member>, _>>().map(Some)
    }
}

/// What an array parameter is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArrayParam {
    /// Elements along each dimension, the slowest first, as C and NumPy state them.
    pub extents: Vec<Extent>,
    /// Whether the function leaves it as it is.
    pub is_const: bool,
}

/// Elements along a dimension.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Extent {
    /// So many.
    Fixed(u32),
    /// As many as the scalar parameter of that number says, counted over all parameters.
    Param(u32),
    /// As many as an expression says ([`nbcc_base::extent::ExtentExpr`]), parameters counted as before.
    Expr(String),
    /// As many as the array that is given has.
    Given,
}

impl Extent {
    /// The parameters that it is made of; `None` where it is an expression that cannot be read.
    fn params(&self) -> Option<Vec<u32>> {
        match self {
            Extent::Fixed(_) | Extent::Given => Some(vec![]),
            Extent::Param(number) => Some(vec![*number]),
            Extent::Expr(text) => {
                Some(text.parse::<nbcc_base::extent::ExtentExpr>().ok()?.params().collect())
            }
        }
    }
}

impl Signature {
    /// The signatures in the metadata of a program.
    ///
    /// # Errors
    /// What is no proper signature, with its section.
    pub fn all_of(container: &Container) -> Result<Vec<Signature>, LoadError> {
        let all: Vec<Signature> = from_json(container, SIGNATURE)?;
        for signature in &all {
            signature.validate()?;
        }
        Ok(all)
    }

    /// The metadata section of a program that holds these.
    pub fn to_metadata(all: &[Signature]) -> (String, Vec<u8>) {
        (SIGNATURE.to_string(), to_json(all))
    }

    /// Checks that members lie within their structures, of which there are as many for each.
    fn validate_structures(&self) -> Result<(), LoadError> {
        let mut known: BTreeMap<String, (u64, &[Extent], bool)> = BTreeMap::new();
        for param in &self.params {
            let fail = || {
                let name = param.name.escape_debug();
                let message = format!("`{name}` does not hold the members that it names");
                LoadError::new(SIGNATURE, 0, message)
            };
            let Some(members) = param.structure().map_err(|_| fail())? else { continue };
            let array = param.array.as_ref().ok_or_else(fail)?;
            let (last, outer) = array.extents.split_last().ok_or_else(fail)?;
            let sound = members.iter().all(|member| member.is_sound(param.ty.bytes().into()));
            let scalars = members.iter().map(Member::scalars).fold(0, u64::saturating_add);
            if !sound || !matches!(last, Extent::Fixed(count) if u64::from(*count) == scalars) {
                return Err(fail());
            }
            for member in members {
                let is = (member.bytes, outer, array.is_const);
                let named = self.params.iter().any(|other| other.name == member.of);
                if named || *known.entry(member.of).or_insert(is) != is {
                    return Err(fail());
                }
            }
        }
        Ok(())
    }

    /// Checks that names are unique and that extents are scalar parameters of integer types.
    ///
    /// # Errors
    /// What is wrong.
    pub fn validate(&self) -> Result<(), LoadError> {
        let fail = |message: String| Err(LoadError::new(SIGNATURE, 0, message));
        let mut names: Vec<&str> = self.params.iter().map(|param| param.name.as_str()).collect();
        if let Some(name) = repeated(&mut names) {
            return fail(format!("two parameters are called `{}`", name.escape_debug()));
        }
        self.validate_structures()?;
        for param in &self.params {
            let bits = 8 * param.ty.bytes();
            let is_value = |value: u64| value.checked_shr(bits).unwrap_or(0) == 0;
            if param.value.is_some_and(|value| param.array.is_some() || !is_value(value)) {
                let name = param.name.escape_debug();
                return fail(format!("`{name}` has a value that is none of its type"));
            }
            let extents = param.array.iter().flat_map(|array| &array.extents);
            for extent in extents {
                let is_integer = |number: &u32| {
                    let by = self.params.get(*number as usize);
                    by.is_some_and(|by| by.array.is_none() && by.ty.range().is_some())
                };
                if !extent.params().is_some_and(|all| all.iter().all(is_integer)) {
                    let name = param.name.escape_debug();
                    return fail(format!("an extent of `{name}` is no integer parameter"));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature() -> Signature {
        let array =
            ArrayParam { extents: vec![Extent::Param(0), Extent::Fixed(4)], is_const: true };
        let param = |name: &str, array| SignatureParam {
            name: name.into(),
            ty: ScalarType::I16,
            array,
            members: vec![],
            value: None,
        };
        let params = vec![param("n", None), param("a", Some(array))];
        Signature { name: "f".into(), params, result: Some(ScalarType::U64) }
    }

    #[test]
    fn signatures_are_read_back() {
        let container = Container {
            metadata: vec![Signature::to_metadata(&[signature()])],
            ..Container::default()
        };
        assert_eq!(Signature::all_of(&container), Ok(vec![signature()]));
    }

    #[test]
    fn extents_are_integer_parameters() {
        let mut wrong = signature();
        wrong.params[0].ty = ScalarType::F32;
        assert!(wrong.validate().is_err());
        let mut wrong = signature();
        wrong.params[1].array.as_mut().expect("an array").extents[0] = Extent::Param(7);
        assert!(wrong.validate().is_err());
        let mut wrong = signature();
        wrong.params[1].name = "n".into();
        assert!(wrong.validate().is_err());
        for (param, value, fits) in [(0, 0xffff, true), (0, 0x1_0000, false), (1, 0, false)] {
            let mut fixed = signature();
            fixed.params[param].value = Some(value);
            assert_eq!(fixed.validate().is_ok(), fits);
        }
    }
}
