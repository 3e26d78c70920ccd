//! Narrow values in words of 32 bits, on the core as on arrays: what stands above them.

use cranelift_entity::SecondaryMap;
use nbcc_ir::{ConvertOp, Function, Op, Value};

/// What is known of the bits of a word above a narrow value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Upper {
    /// Nothing.
    #[default]
    Any,
    /// They are zero.
    Zeros,
    /// They are the value's sign.
    Signs,
    /// Both, or there are none.
    Both,
}

impl Upper {
    /// Whether they are what an extension would make them.
    pub fn has(self, signed: bool) -> bool {
        match self {
            Upper::Any => false,
            Upper::Zeros => !signed,
            Upper::Signs => signed,
            Upper::Both => true,
        }
    }
}

/// The narrow loads whose values are sign extended somewhere.
pub fn signed_loads(func: &Function) -> SecondaryMap<Value, bool> {
    let mut signed = SecondaryMap::new();
    for &inst in func.layout.iter().flat_map(|&block| &func.blocks[block].insts) {
        if let Op::Convert(ConvertOp::SignExtend, a, _) = func.insts[inst].op {
            signed[a] = true;
        }
    }
    signed
}
