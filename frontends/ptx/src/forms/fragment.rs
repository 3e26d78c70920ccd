//! Which registers of the lanes of a warp hold a matrix that `mma` and `wmma` multiply.
//!
//! Registers hold neighbours along K, or of an accumulator two columns. Rows of A, columns of B and rows
//! of an accumulator go in blocks of eight, one for each four lanes; along K these four lanes
//! have a register each, and then the next. So PTX defines it for `mma`. For `wmma`, where it leaves
//! the places of elements open, they are here the same (`docs/language-ptx.md`).

use crate::ast::ScalarType;

/// What a matrix consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Element {
    F16,
    Bf16,
    Tf32,
    F32,
    F64,
    S8,
    U8,
    S4,
    U4,
    B1,
    S32,
}

impl Element {
    fn parse(word: &str) -> Option<Element> {
        use Element::*;
        Some(match word {
            "f16" => F16,
            "bf16" => Bf16,
            "tf32" => Tf32,
            "f32" => F32,
            "f64" => F64,
            "s8" => S8,
            "u8" => U8,
            "s4" => S4,
            "u4" => U4,
            "b1" => B1,
            "s32" => S32,
            _ => return None,
        })
    }

    /// Its bits in memory and registers.
    pub fn bits(self) -> u32 {
        use Element::*;
        match self {
            B1 => 1,
            S4 | U4 => 4,
            S8 | U8 => 8,
            F16 | Bf16 => 16,
            Tf32 | F32 | S32 => 32,
            F64 => 64,
        }
    }

    /// How many stand in a register.
    pub fn each(self) -> u32 {
        (32 / self.bits()).max(1)
    }

    /// Whether it is an integer with a sign.
    pub fn is_signed(self) -> bool {
        matches!(self, Element::S8 | Element::S4 | Element::S32)
    }
}

/// A place in `D = A * B + C`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Role {
    D,
    A,
    B,
    C,
}

/// The extents of a product and what its matrices consist of; those that an instruction does not name
/// are as the one that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    /// Rows of A and of accumulators.
    pub m: u32,
    /// Columns of B and of accumulators.
    pub n: u32,
    /// Columns of A, rows of B.
    pub k: u32,
    /// The elements of D, A, B, C.
    elements: [Element; 4],
    /// Whether fragments of 16-bit floats have eight registers whatever they need.
    padded: bool,
}

impl Product {
    /// What the modifiers of a checked instruction say, in their order.
    pub fn read(opcode: &str, modifiers: &[&str]) -> Product {
        let extents = modifiers.iter().find_map(|word| extents(word));
        let (m, n, k) = extents.expect("a shape was checked");
        let named: Vec<Element> =
            modifiers.iter().filter_map(|word| Element::parse(word)).collect();
        let elements = match *named.as_slice() {
            [d, a, b, c] => [d, a, b, c],
            [d, c] => [d, Element::F16, Element::F16, c],
            [one] => [one; 4],
            _ => panic!("types were checked"),
        };
        Product { m, n, k, elements, padded: opcode == "wmma" }
    }

    /// What a matrix consists of.
    pub fn element(&self, role: Role) -> Element {
        self.elements[role as usize]
    }

    /// Blocks of eight rows.
    pub fn row_blocks(&self) -> u32 {
        self.m / 8
    }

    /// Blocks of eight columns.
    pub fn column_blocks(&self) -> u32 {
        self.n / 8
    }

    /// How many registers along K a lane has.
    pub fn steps(&self) -> u32 {
        self.k / (4 * self.element(Role::A).each())
    }

    /// How many registers of a lane hold a matrix once.
    pub fn held(&self, role: Role) -> u32 {
        match role {
            Role::A => self.row_blocks() * self.steps(),
            Role::B => self.column_blocks() * self.steps(),
            Role::C | Role::D => {
                2 * self.row_blocks() * self.column_blocks() / self.element(role).each()
            }
        }
    }

    /// How many registers a fragment has: where these are more than hold the matrix, they repeat.
    pub fn registers(&self, role: Role) -> u32 {
        let factor = matches!(role, Role::A | Role::B);
        if self.padded && factor && self.element(role) == Element::F16 {
            8
        } else {
            self.held(role)
        }
    }

    /// The type of these registers.
    pub fn register_type(&self, role: Role) -> ScalarType {
        use Element::*;
        match (self.element(role), role) {
            (F64, _) => ScalarType::F64,
            (F32, _) => ScalarType::F32,
            (S32, _) => ScalarType::S32,
            (F16, Role::A | Role::B) => ScalarType::F16x2,
            (F16 | Bf16 | Tf32, _) => ScalarType::B32,
            (S8 | U8 | S4 | U4 | B1, _) => ScalarType::U32,
        }
    }
}

/// The numbers of `m16n8k8`.
fn extents(word: &str) -> Option<(u32, u32, u32)> {
    let (m, rest) = word.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some((m.parse().ok()?, n.parse().ok()?, k.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_have_the_registers_that_ptx_names() {
        let counts = |text: &str| {
            let (opcode, words) = text.split_once('.').expect("modifiers");
            let words: Vec<&str> = words.split('.').collect();
            let product = Product::read(opcode, &words);
            [Role::D, Role::A, Role::B, Role::C].map(|role| product.registers(role))
        };
        assert_eq!(counts("mma.m16n8k16.row.col.f32.f16.f16.f32"), [4, 4, 2, 4]);
        assert_eq!(counts("mma.m16n8k8.row.col.f16.f16.f16.f16"), [2, 2, 1, 2]);
        assert_eq!(counts("mma.m16n8k8.row.col.f32.tf32.tf32.f32"), [4, 4, 2, 4]);
        assert_eq!(counts("mma.m16n8k64.row.col.s32.s4.u4.s32"), [4, 4, 2, 4]);
        assert_eq!(counts("mma.m8n8k128.row.col.s32.b1.b1.s32"), [2, 1, 1, 2]);
        assert_eq!(counts("mma.m16n8k16.row.col.f64.f64.f64.f64"), [4, 8, 4, 4]);
        assert_eq!(counts("wmma.mma.m32n8k16.f16.f32"), [4, 8, 8, 8]);
        assert_eq!(counts("wmma.mma.m8n32k16.f32.bf16.bf16.f32"), [8, 2, 8, 8]);
        assert_eq!(counts("wmma.mma.m16n16k16.s32.s8.s8.s32"), [8, 2, 2, 8]);
    }
}
