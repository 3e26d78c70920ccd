//! How parameters and results go from caller to callee. Scalars and elements of vector registers are
//! passed and returned as integers of their size; arrays of bytes stay where they are, in local memory,
//! and their address is passed: first those of results, then the parameters in order.

use nbcc_ir::Type;

use super::types::integer_of;
use crate::resolved::Variable;

/// How a parameter or result goes from caller to callee.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// As so many values of this type: one, or the elements of a vector register.
    Values(Type, u8),
    /// As an address in local memory.
    Memory,
}

/// How a variable is passed.
pub fn passing(variable: &Variable) -> Passing {
    match variable.array || variable.scalar.bytes().is_some_and(|n| n > 8) {
        true => Passing::Memory,
        false => Passing::Values(integer_of(variable.scalar), variable.vector),
    }
}

/// Whether two lists of parameters are passed alike.
pub fn alike(a: &[&Variable], b: &[&Variable]) -> bool {
    let same = |(a, b): (&&Variable, &&Variable)| {
        passing(a) == passing(b) && (passing(a) != Passing::Memory || a.bytes == b.bytes)
    };
    a.len() == b.len() && a.iter().zip(b).all(same)
}
