//! What a binary says of the function that it holds, from what the IR says.

use nbcc_ir::{Extent, FloatFormat, Function, IntType, NumType};
use nbcc_isa::{ArrayParam, ScalarType, Signature, SignatureParam};

/// The signature of a function that hosts call. Panics where it has no interface, which the verifier
/// and [`crate::Program::Function`] ask for.
pub fn signature(func: &Function) -> Signature {
    let interface = func.interface.as_ref();
    let interface = interface.unwrap_or_else(|| panic!("@{} has no interface", func.name));
    let scalars = interface.params.iter().enumerate().filter(|(_, param)| param.array.is_none());
    let scalars: Vec<u32> = scalars.map(|(number, _)| number as u32).collect();
    let params = interface.params.iter().map(|param| SignatureParam {
        name: param.name.clone(),
        ty: scalar_type(param.ty),
        array: param.array.as_ref().map(|array| {
            let extent = |extent: &Extent| match extent {
                Extent::Fixed(count) => nbcc_isa::Extent::Fixed(*count),
                Extent::Param(number) => nbcc_isa::Extent::Param(scalars[*number as usize]),
                Extent::Expr(expr) => {
                    let expr = expr.map_params(|number| scalars[number as usize]);
                    nbcc_isa::Extent::Expr(expr.to_string())
                }
                Extent::Given => nbcc_isa::Extent::Given,
            };
            let extents = match &array.shape[..] {
                // The IR has the fastest dimension first.
                [] => func.mems[array.mem].extents.iter().rev().map(extent).collect(),
                shape => shape.iter().map(extent).collect(),
            };
            ArrayParam { extents, is_const: array.is_const }
        }),
        members: param.members.iter().map(ToString::to_string).collect(),
        value: param.value,
    });
    Signature {
        name: func.name.clone(),
        params: params.collect(),
        result: interface.result.map(scalar_type),
    }
}

fn scalar_type(ty: NumType) -> ScalarType {
    match ty {
        NumType::Int(IntType::U8) => ScalarType::U8,
        NumType::Int(IntType::U16) => ScalarType::U16,
        NumType::Int(IntType::U32) => ScalarType::U32,
        NumType::Int(IntType::U64) => ScalarType::U64,
        NumType::Int(IntType::S8) => ScalarType::I8,
        NumType::Int(IntType::S16) => ScalarType::I16,
        NumType::Int(IntType::S32) => ScalarType::I32,
        NumType::Int(IntType::S64) => ScalarType::I64,
        NumType::Float(FloatFormat::F16) => ScalarType::F16,
        NumType::Float(FloatFormat::F32) => ScalarType::F32,
        NumType::Float(FloatFormat::F64) => ScalarType::F64,
        NumType::Float(other) => panic!("an interface with {}", other.name()),
    }
}
