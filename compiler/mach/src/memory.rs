//! What is known of an access to memory: which object, at which address. It comes from the IR with
//! the instruction, since a scheduler could only guess at it from registers.

/// An access of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryAccess<M> {
    /// The memory.
    pub memory: M,
    /// The object, by a number of the target's choice: those with different numbers share no byte.
    /// `None`: any.
    pub object: Option<u32>,
    /// The rows of the memory that it may go to, by a number of the target's choice: different objects of one
    /// number lie beside each other. `None`: any.
    pub rows: Option<u32>,
    /// The address of its first byte. To be given only where no other unit that executes the
    /// function accesses these bytes while the block runs: accesses are told apart by it.
    pub address: Option<AffineAddress>,
    /// How many bytes; 0 where nothing in the function writes them, so that any access may pass.
    pub bytes: u32,
}

/// A sum of unknowns with coefficients and a constant, modulo 2^32.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AffineAddress {
    /// Unknowns in ascending order, each once, with coefficients that are not 0. An unknown has one
    /// value while a block runs once.
    pub terms: Vec<(u32, u32)>,
    /// The constant.
    pub constant: u32,
}

impl AffineAddress {
    /// A sum of terms, unknowns in ascending order.
    pub fn new(terms: impl Iterator<Item = (u32, u32)>, constant: u32) -> AffineAddress {
        AffineAddress { terms: terms.collect(), constant }
    }

    /// A constant.
    pub fn constant(constant: u32) -> AffineAddress {
        AffineAddress { terms: vec![], constant }
    }
}

impl<M: PartialEq> MemoryAccess<M> {
    /// Whether two accesses, in one run of a block, certainly share no byte.
    pub fn is_disjoint_from(&self, other: &MemoryAccess<M>) -> bool {
        if self.memory != other.memory
            || self.bytes == 0
            || other.bytes == 0
            || matches!((self.object, other.object), (Some(a), Some(b)) if a != b)
        {
            return true;
        }
        let (Some(a), Some(b)) = (&self.address, &other.address) else { return false };
        let distance = b.constant.wrapping_sub(a.constant);
        a.terms == b.terms && distance >= self.bytes && distance.wrapping_neg() >= other.bytes
    }
}
