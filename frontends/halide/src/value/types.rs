//! C type names, and what they are in the pipeline.

use nbcc_stages::ElementType;

/// A type named as in C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CType {
    /// One that images and expressions can have.
    Element(ElementType),
    /// `double`: compile-time numbers only.
    Double,
    /// An integer of 64 bits: compile-time numbers only.
    Long,
    /// One of half precision: not supported.
    Refused(&'static str),
}

/// Reads a C type.
pub(crate) fn c_type(text: &str) -> CType {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    if words.len() > 1 {
        words.retain(|w| *w != "int" && *w != "signed");
    }
    match words.as_slice() {
        ["float"] => CType::Element(ElementType::F32),
        ["double"] => CType::Double,
        ["float16_t" | "bfloat16_t"] => CType::Refused("16-bit floats"),
        ["bool"] => CType::Element(ElementType::Bool),
        ["uint8_t"] | ["unsigned", "char"] => CType::Element(ElementType::U8),
        ["uint16_t"] | ["unsigned", "short"] => CType::Element(ElementType::U16),
        ["uint32_t"] | ["unsigned"] => CType::Element(ElementType::U32),
        ["int8_t"] | ["char"] => CType::Element(ElementType::I8),
        ["int16_t"] | ["short"] => CType::Element(ElementType::I16),
        ["int32_t"] | ["int"] | ["signed"] | [] => CType::Element(ElementType::I32),
        _ => CType::Long,
    }
}

/// The type `Float(bits)`, `Int(bits)` or `UInt(bits)`; an error names what is wrong.
pub(crate) fn sized(name: &str, bits: i32) -> Result<ElementType, &'static str> {
    match (name, bits) {
        ("Float", 32) => Ok(ElementType::F32),
        ("Float", 64) | ("Int", 64) | ("UInt", 64) => Err("64-bit types"),
        ("Float", 16) => Err("16-bit floats"),
        ("Int", 8) => Ok(ElementType::I8),
        ("Int", 16) => Ok(ElementType::I16),
        ("Int", 32) => Ok(ElementType::I32),
        ("UInt", 1) => Ok(ElementType::Bool),
        ("UInt", 8) => Ok(ElementType::U8),
        ("UInt", 16) => Ok(ElementType::U16),
        ("UInt", 32) => Ok(ElementType::U32),
        _ => Err("types of this width"),
    }
}

/// A type as Halide spells it on a command line: `uint8`, `float32`.
pub(crate) fn halide_type(text: &str) -> Option<ElementType> {
    let digits = text.find(|c: char| c.is_ascii_digit())?;
    let bits = text[digits..].parse().ok()?;
    let name = match &text[..digits] {
        "float" => "Float",
        "int" => "Int",
        "uint" => "UInt",
        _ => return None,
    };
    sized(name, bits).ok()
}

/// The name of a type in C.
pub(crate) fn c_name(ty: ElementType) -> &'static str {
    match ty {
        ElementType::Bool => "bool",
        ElementType::U8 => "uint8_t",
        ElementType::U16 => "uint16_t",
        ElementType::U32 => "uint32_t",
        ElementType::I8 => "int8_t",
        ElementType::I16 => "int16_t",
        ElementType::I32 => "int32_t",
        ElementType::F32 => "float",
    }
}

/// The signed integer type of a width that an integer or Bool type is promoted to.
pub(crate) fn signed(bits: u32) -> ElementType {
    match bits {
        1..=8 => ElementType::I8,
        9..=16 => ElementType::I16,
        _ => ElementType::I32,
    }
}

/// The unsigned integer type of a width.
pub(crate) fn unsigned(bits: u32) -> ElementType {
    match bits {
        1 => ElementType::Bool,
        2..=8 => ElementType::U8,
        9..=16 => ElementType::U16,
        _ => ElementType::U32,
    }
}

/// Whether an integer can be converted to a type without changing its value.
pub(crate) fn represents(ty: ElementType, value: i64) -> bool {
    if ty.is_float() {
        (value as f32) as i64 == value
    } else {
        let (low, high) = ty.integer_range();
        (low..=high).contains(&value)
    }
}
