//! The runtime of sequential functions: it binds what is given to parameters, brings arrays to a
//! machine, calls the function once and brings back what the arrays hold then.

use std::collections::BTreeMap;

use nbcc_base::extent::ExtentExpr;
use nbcc_isa::{Extent, ScalarType, Signature, SignatureParam};

/// What a caller gives, by the names of parameters.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    /// The bits of scalars, in the low bits of the word.
    pub scalars: BTreeMap<String, u64>,
    /// Arrays. One that is not given starts as zeros.
    pub arrays: BTreeMap<String, GivenArray>,
}

/// The contents of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenArray {
    /// The type of its elements.
    pub ty: ScalarType,
    /// Elements along each dimension, the slowest first.
    pub shape: Vec<u64>,
    /// The elements in C order, little endian.
    pub bytes: Vec<u8>,
}

/// Arguments that fit a signature.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bound {
    /// The bits of the scalar parameters, in their order; zeros above.
    pub scalars: Vec<u64>,
    /// The contents of the array parameters, in their order.
    pub arrays: Vec<BoundArray>,
}

/// An array argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundArray {
    /// Elements along each dimension, the slowest first.
    pub shape: Vec<u64>,
    /// What it holds at the start.
    pub bytes: Vec<u8>,
}

/// Why arguments do not fit a signature.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BindError {
    /// No parameter has that name, or it is of the other kind.
    #[error("`{function}` has no {what} parameter `{name}`{}", that_it_has(.known))]
    Unknown {
        /// The function.
        function: String,
        /// `scalar` or `array`.
        what: &'static str,
        /// The name given.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// A scalar was not given.
    #[error("parameter `{name}` ({}) has no value", .ty.name())]
    Missing {
        /// Its name.
        name: String,
        /// Its type.
        ty: ScalarType,
    },
    /// A scalar has another value than the program was compiled for.
    #[error("parameter `{name}` is {}, and the program was compiled for {}", decimal(*.ty, *.given), decimal(*.ty, *.value))]
    Fixed {
        /// Its name.
        name: String,
        /// Its type.
        ty: ScalarType,
        /// The bits given.
        given: u64,
        /// The bits compiled for.
        value: u64,
    },
    /// An extent is negative, or an array is larger than is taken.
    #[error("`{name}` has {count} elements along dimension {dimension}")]
    Extent {
        /// The array.
        name: String,
        /// Which of its dimensions, from 0.
        dimension: usize,
        /// What the scalar says.
        count: i64,
    },
    /// An extent has no value: it divides by zero.
    #[error("the extent of `{name}` along dimension {dimension} divides by zero")]
    NoExtent {
        /// The array.
        name: String,
        /// Which of its dimensions, from 0.
        dimension: usize,
    },
    /// An array takes its extent from what is given, and nothing is.
    #[error("`{name}` is given no array, from which it takes its extent")]
    NotGiven {
        /// The array.
        name: String,
    },
    /// An array has another shape.
    #[error("`{name}` is {}, and the function takes {}", shape(.found), shape(.expected))]
    Shape {
        /// The array.
        name: String,
        /// What its extents say.
        expected: Vec<u64>,
        /// What was given.
        found: Vec<u64>,
    },
    /// An array holds elements of another type.
    #[error("`{name}` holds {}, and the function takes {}", .found.name(), .expected.name())]
    Element {
        /// The array.
        name: String,
        /// What the function takes.
        expected: ScalarType,
        /// What was given.
        found: ScalarType,
    },
    /// The host has no memory for an array.
    #[error("`{name}` takes {bytes} bytes, for which the host has no memory")]
    Memory {
        /// The array.
        name: String,
        /// The bytes.
        bytes: u64,
    },
}

fn that_it_has(names: &[String]) -> String {
    match names {
        [] => ", and none".to_string(),
        _ => format!(", it has {}", names.join(", ")),
    }
}

fn shape(extents: &[u64]) -> String {
    let extents: Vec<String> = extents.iter().map(u64::to_string).collect();
    format!("[{}]", extents.join(", "))
}

/// The arguments of a call: extents follow from scalars, arrays that are not given are zeros.
///
/// # Errors
/// The first argument that does not fit, or is missing.
pub fn bind(signature: &Signature, mut given: Arguments) -> Result<Bound, BindError> {
    check_names(signature, "scalar", given.scalars.keys(), |param| param.array.is_none())?;
    check_names(signature, "array", given.arrays.keys(), |param| param.array.is_some())?;
    let mut bound = Bound::default();
    for param in signature.params.iter().filter(|param| param.array.is_none()) {
        let missing = || BindError::Missing { name: param.name.clone(), ty: param.ty };
        let bits = given.scalars.get(&param.name).copied().or(param.value).ok_or_else(missing)?;
        let bits = low(param.ty, bits);
        if let Some(value) = param.value.filter(|&value| bits != value) {
            let (name, ty) = (param.name.clone(), param.ty);
            return Err(BindError::Fixed { name, ty, given: bits, value });
        }
        given.scalars.insert(param.name.clone(), bits);
        bound.scalars.push(bits);
    }
    for param in &signature.params {
        let (name, dimensions) = as_hosts_know(param);
        let name = || name.clone();
        let has_shape = given.arrays.get(&param.name).map(|array| &array.shape[..]);
        let expected = extents(signature, param, &given.scalars, has_shape)?;
        let Some(expected) = expected else { continue };
        // Subscripts have 31 bits.
        let all = expected.iter().fold(1_u64, |all, &n| all.saturating_mul(n));
        if all > i32::MAX as u64 {
            let bytes = all.saturating_mul(u64::from(param.ty.bytes()));
            return Err(BindError::Memory { name: name(), bytes });
        }
        let array = match given.arrays.remove(&param.name) {
            Some(array) if array.ty != param.ty => {
                let (expected, found) = (param.ty, array.ty);
                return Err(BindError::Element { name: name(), expected, found });
            }
            Some(array) if array.shape != expected => {
                let of = |shape: Vec<u64>| shape.into_iter().take(dimensions).collect();
                let (expected, found) = (of(expected), of(array.shape));
                return Err(BindError::Shape { name: name(), expected, found });
            }
            Some(array) => BoundArray { shape: expected, bytes: array.bytes },
            None => {
                let elements = expected.iter().fold(1_u64, |all, &n| all.saturating_mul(n));
                let bytes = elements.saturating_mul(u64::from(param.ty.bytes()));
                if !nbcc_base::has_room(bytes) {
                    return Err(BindError::Memory { name: name(), bytes });
                }
                BoundArray { shape: expected, bytes: vec![0; bytes as usize] }
            }
        };
        bound.arrays.push(array);
    }
    Ok(bound)
}

/// What hosts call an array and how many dimensions they know: those of an array of structures of
/// which it holds members are one fewer.
fn as_hosts_know(param: &SignatureParam) -> (String, usize) {
    let dimensions = param.array.as_ref().map_or(0, |array| array.extents.len());
    match param.structure().ok().flatten().and_then(|members| members.into_iter().next()) {
        Some(member) => (member.of, dimensions.saturating_sub(1)),
        None => (param.name.clone(), usize::MAX),
    }
}

fn check_names<'a>(
    signature: &Signature,
    what: &'static str,
    mut names: impl Iterator<Item = &'a String>,
    is_of_kind: impl Fn(&SignatureParam) -> bool,
) -> Result<(), BindError> {
    let known = || signature.params.iter().filter(|param| is_of_kind(param));
    let Some(name) = names.find(|name| known().all(|param| param.name != **name)) else {
        return Ok(());
    };
    Err(BindError::Unknown {
        function: signature.name.clone(),
        what,
        name: name.clone(),
        known: known().map(|param| format!("`{}`", param.name)).collect(),
    })
}

/// The extents of an array parameter; `None` for a scalar.
fn extents(
    signature: &Signature,
    param: &SignatureParam,
    scalars: &BTreeMap<String, u64>,
    given: Option<&[u64]>,
) -> Result<Option<Vec<u64>>, BindError> {
    let Some(array) = &param.array else { return Ok(None) };
    let mut extents = Vec::new();
    for (dimension, extent) in array.extents.iter().enumerate() {
        let value = |number: u32| {
            let by = &signature.params[number as usize];
            signed(by.ty, scalars[&by.name])
        };
        let undefined = || BindError::NoExtent { name: param.name.clone(), dimension };
        let count = match extent {
            Extent::Fixed(count) => i64::from(*count),
            Extent::Param(number) => value(*number),
            Extent::Expr(text) => {
                let expr = text.parse::<ExtentExpr>().ok();
                let count = expr.and_then(|expr| expr.evaluate(|number| Some(value(number))));
                count.ok_or_else(undefined)?
            }
            Extent::Given => {
                let Some(given) = given else {
                    return Err(BindError::NotGiven { name: as_hosts_know(param).0 });
                };
                let count = given.get(dimension).copied().unwrap_or(0);
                i64::try_from(count).unwrap_or(i64::MAX)
            }
        };
        let fits = (0..=i64::from(i32::MAX)).contains(&count);
        if !fits {
            let name = param.name.clone();
            return Err(BindError::Extent { name, dimension, count });
        }
        extents.push(count as u64);
    }
    Ok(Some(extents))
}

/// The bits of a type.
fn low(ty: ScalarType, bits: u64) -> u64 {
    let unused = 64 - 8 * ty.bytes();
    bits << unused >> unused
}

/// A value as messages show it.
fn decimal(ty: ScalarType, bits: u64) -> String {
    match ty.range() {
        Some((least, _)) if least < 0 => signed(ty, bits).to_string(),
        Some(_) => low(ty, bits).to_string(),
        None => format!("{:#x}", low(ty, bits)),
    }
}

/// The value of an integer's bits; more than is taken of extents where it is too large.
fn signed(ty: ScalarType, bits: u64) -> i64 {
    let unused = 64 - 8 * ty.bytes();
    let is_signed = ty.range().is_some_and(|(least, _)| least < 0);
    match is_signed {
        true => ((bits << unused) as i64) >> unused,
        false => i64::try_from((bits << unused) >> unused).unwrap_or(i64::MAX),
    }
}

/// An argument as a machine gets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument<'a> {
    /// The bits of a scalar.
    Scalar(u64),
    /// An array.
    Array {
        /// The address of its first element, as [`Machine::place`] gave it.
        address: u64,
        /// Elements along each dimension, the slowest first.
        shape: &'a [u64],
    },
}

impl Argument<'_> {
    /// A scalar's bits, an array's address.
    pub fn word(self) -> u64 {
        match self {
            Argument::Scalar(bits) => bits,
            Argument::Array { address, .. } => address,
        }
    }
}

/// A machine that calls functions.
pub trait Machine {
    /// Why a call came to no end.
    type Error;
    /// Brings bytes to memory of the machine: the address of the first.
    ///
    /// # Errors
    /// The machine has no memory left.
    fn place(&mut self, bytes: &[u8]) -> Result<u64, Self::Error>;
    /// Calls the function of the program with these arguments; the bits of its result.
    ///
    /// # Errors
    /// The program did what the machine cannot do, or did not end in time.
    fn call(&mut self, arguments: &[Argument<'_>]) -> Result<Option<u64>, Self::Error>;
    /// What memory holds from an address on that was placed.
    fn read(&self, address: u64, bytes: u64) -> Vec<u8>;
}

/// What a call leaves behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Returned {
    /// The bits of the result, if the function has one.
    pub result: Option<u64>,
    /// What the array parameters hold, in their order.
    pub arrays: Vec<Vec<u8>>,
}

/// Calls a function on bound arguments, parameters in the order of the signature.
///
/// # Errors
/// As [`Machine`] says.
pub fn call<M: Machine>(
    machine: &mut M,
    signature: &Signature,
    arguments: &Bound,
) -> Result<Returned, M::Error> {
    let (mut scalars, mut arrays) = (arguments.scalars.iter(), arguments.arrays.iter());
    let (mut words, mut places) = (Vec::new(), Vec::new());
    for param in &signature.params {
        let next = "arguments are bound to this signature";
        words.push(match param.array {
            None => Argument::Scalar(*scalars.next().expect(next)),
            Some(_) => {
                let BoundArray { shape, bytes } = arrays.next().expect(next);
                let address = machine.place(bytes)?;
                places.push((address, bytes.len() as u64));
                Argument::Array { address, shape }
            }
        });
    }
    let result = machine.call(&words)?;
    let arrays = places.iter().map(|&(address, bytes)| machine.read(address, bytes)).collect();
    Ok(Returned { result, arrays })
}

#[cfg(test)]
mod tests {
    use nbcc_isa::ArrayParam;

    use super::*;

    /// `f(i8 n, u16 a[n][2])`.
    fn signature() -> Signature {
        let array =
            ArrayParam { extents: vec![Extent::Param(0), Extent::Fixed(2)], is_const: false };
        let params = vec![
            SignatureParam {
                name: "n".into(),
                ty: ScalarType::I8,
                array: None,
                members: vec![],
                value: None,
            },
            SignatureParam {
                name: "a".into(),
                ty: ScalarType::U16,
                array: Some(array),
                members: vec![],
                value: None,
            },
        ];
        Signature { name: "f".into(), params, result: None }
    }

    fn given(n: u64, array: Option<GivenArray>) -> Arguments {
        let scalars = [("n".to_string(), n)].into();
        Arguments {
            scalars,
            arrays: array.map(|array| ("a".to_string(), array)).into_iter().collect(),
        }
    }

    #[test]
    fn extents_follow_from_scalars() {
        let bound = bind(&signature(), given(3, None)).unwrap();
        assert_eq!(bound.arrays, [BoundArray { shape: vec![3, 2], bytes: vec![0; 12] }]);
        let wide = bind(&signature(), given(-253_i64 as u64, None)).unwrap();
        assert_eq!(wide.scalars, [3], "code reads narrow scalars as words with zeros above");
        let empty = bind(&signature(), given(0, None)).unwrap();
        assert!(empty.arrays[0].bytes.is_empty());
        let error = bind(&signature(), given(0xff, None)).unwrap_err();
        assert_eq!(error, BindError::Extent { name: "a".into(), dimension: 0, count: -1 });
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let array = |ty, shape: &[u64], bytes| {
            Some(GivenArray { ty, shape: shape.to_vec(), bytes: vec![1; bytes] })
        };
        let said = |given| bind(&signature(), given).map_err(|error| error.to_string());
        assert!(said(given(1, array(ScalarType::U16, &[1, 2], 4))).is_ok());
        assert_eq!(
            said(given(1, array(ScalarType::U16, &[2], 4))),
            Err("`a` is [2], and the function takes [1, 2]".into())
        );
        assert_eq!(
            said(given(1, array(ScalarType::I16, &[1, 2], 4))),
            Err("`a` holds i16, and the function takes u16".into())
        );
        assert_eq!(said(Arguments::default()), Err("parameter `n` (i8) has no value".into()));
        let mut other = given(1, None);
        other.scalars.insert("m".into(), 1);
        assert_eq!(said(other), Err("`f` has no scalar parameter `m`, it has `n`".into()));
    }

    /// Adds its first word to every byte of the array behind it.
    #[derive(Default)]
    struct Adder(Vec<u8>);

    impl Machine for Adder {
        type Error = ();
        fn place(&mut self, bytes: &[u8]) -> Result<u64, ()> {
            self.0.extend_from_slice(bytes);
            Ok((self.0.len() - bytes.len()) as u64)
        }
        fn call(&mut self, arguments: &[Argument<'_>]) -> Result<Option<u64>, ()> {
            let [more, first] = [0, 1].map(|number| arguments[number].word());
            assert_eq!(arguments[1], Argument::Array { address: first, shape: &[2, 2] });
            self.0[first as usize..].iter_mut().for_each(|byte| *byte += more as u8);
            Ok(Some(more))
        }
        fn read(&self, address: u64, bytes: u64) -> Vec<u8> {
            self.0[address as usize..][..bytes as usize].to_vec()
        }
    }

    #[test]
    fn arrays_go_and_come_back() {
        let bound = bind(&signature(), given(2, None)).unwrap();
        let returned = call(&mut Adder::default(), &signature(), &bound).unwrap();
        assert_eq!(returned, Returned { result: Some(2), arrays: vec![vec![2; 8]] });
    }
}
