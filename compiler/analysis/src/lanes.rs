//! Values at run time: the bits of each lane of a type.

use std::fmt;

use nbcc_ir::{Constant, MAX_LANES, Scalar, Type, literal};

/// A value: its type and the bits of its lanes, unused bits and lanes zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Lanes {
    ty: Type,
    bits: [u64; MAX_LANES as usize],
}

impl Lanes {
    /// A value with the given bits a lane; bits beyond the type's width are dropped. Panics where
    /// their number is not that of the type's lanes.
    pub fn new(ty: Type, bits: &[u64]) -> Lanes {
        assert_eq!(bits.len(), usize::from(ty.lanes), "lanes of {ty}");
        Lanes::from_fn(ty, |lane| bits[lane])
    }

    /// A value whose lane number `n` has the bits `f(n)`.
    pub fn from_fn(ty: Type, mut f: impl FnMut(usize) -> u64) -> Lanes {
        let mask = u64::MAX >> (64 - ty.scalar.bits());
        let mut bits = [0; MAX_LANES as usize];
        for (lane, word) in bits.iter_mut().enumerate().take(usize::from(ty.lanes)) {
            *word = f(lane) & mask;
        }
        Lanes { ty, bits }
    }

    /// The same bits in every lane.
    pub fn splat(ty: Type, bits: u64) -> Lanes {
        Lanes::from_fn(ty, |_| bits)
    }

    /// A constant of the IR.
    pub fn constant(ty: Type, constant: &Constant) -> Lanes {
        match constant {
            Constant::Splat(bits) => Lanes::splat(ty, *bits),
            Constant::Lanes(bits) => Lanes::new(ty, bits),
        }
    }

    /// The constant of the IR with this value: a splat where all lanes agree.
    pub fn to_constant(&self) -> Constant {
        let bits = self.bits();
        if bits.iter().all(|&word| word == bits[0]) {
            Constant::Splat(bits[0])
        } else {
            Constant::Lanes(bits.to_vec())
        }
    }

    /// An `i32`.
    pub fn i32(value: i32) -> Lanes {
        Lanes::splat(Type::I32, u64::from(value as u32))
    }

    /// An `i1`.
    pub fn bool(value: bool) -> Lanes {
        Lanes::splat(Type::I1, u64::from(value))
    }

    /// An `f32`.
    pub fn f32(value: f32) -> Lanes {
        Lanes::splat(Type::F32, u64::from(value.to_bits()))
    }

    /// A vector of `f32`, or one for a single number. At most 16.
    pub fn f32s(values: &[f32]) -> Lanes {
        let ty = Type::F32.with_lanes(values.len() as u8);
        Lanes::from_fn(ty, |lane| u64::from(values[lane].to_bits()))
    }

    /// A vector of `i32`, or one for a single number. At most 16.
    pub fn i32s(values: &[i32]) -> Lanes {
        let ty = Type::I32.with_lanes(values.len() as u8);
        Lanes::from_fn(ty, |lane| u64::from(values[lane] as u32))
    }

    /// Its type.
    pub fn ty(&self) -> Type {
        self.ty
    }

    /// The bits of each lane.
    pub fn bits(&self) -> &[u64] {
        &self.bits[..usize::from(self.ty.lanes)]
    }

    /// The bits of one lane. Panics on a lane the type has not.
    pub fn lane(&self, lane: usize) -> u64 {
        self.bits()[lane]
    }

    /// The first lane as a signed integer.
    pub fn as_i64(&self) -> i64 {
        sign_extend(self.ty.scalar, self.bits[0])
    }

    /// The lanes as `f32`. Panics where they are not.
    pub fn as_f32s(&self) -> Vec<f32> {
        assert_eq!(self.ty.scalar, Scalar::F32);
        self.bits().iter().map(|&word| f32::from_bits(word as u32)).collect()
    }

    /// Whether both have the same type and bits, but for NaNs, which count as equal whatever
    /// their sign and payload are.
    pub fn same(&self, other: &Lanes) -> bool {
        let scalar = self.ty.scalar;
        let lanes = self.bits().iter().zip(other.bits());
        let equal = |(&a, &b): (&u64, &u64)| a == b || (is_nan(scalar, a) && is_nan(scalar, b));
        self.ty == other.ty && lanes.into_iter().all(equal)
    }
}

impl fmt::Display for Lanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lanes: Vec<_> = self.bits().iter().map(|&b| literal(self.ty.scalar, b)).collect();
        if self.ty.is_vector() {
            write!(f, "[{}]", lanes.join(", "))
        } else {
            f.write_str(&lanes.join(", "))
        }
    }
}

impl fmt::Debug for Lanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {self}", self.ty)
    }
}

/// The signed value of the bits of an integer type.
pub fn sign_extend(scalar: Scalar, bits: u64) -> i64 {
    let unused = 64 - scalar.bits();
    ((bits << unused) as i64) >> unused
}

/// Whether the bits of a type are a NaN. Integers have none.
pub fn is_nan(scalar: Scalar, bits: u64) -> bool {
    match scalar {
        Scalar::F16 => bits & 0x7fff > 0x7c00,
        Scalar::F32 => f32::from_bits(bits as u32).is_nan(),
        Scalar::F64 => f64::from_bits(bits).is_nan(),
        _ => false,
    }
}
