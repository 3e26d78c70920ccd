//! Operations on the bytes or halves of a register (PTX ISA, section 9.7.15: `vadd2`,
//! `vabsdiff4` and their like).

/// The operation of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Average, rounded away from zero.
    Average,
    /// Magnitude of the difference.
    AbsDiff,
    /// Lesser.
    Min,
    /// Greater.
    Max,
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
    /// Greater.
    Gt,
    /// Greater or equal.
    Ge,
}

/// An operation with its types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Simd {
    /// The operation of a lane.
    pub operation: Operation,
    /// Two halves, else four bytes.
    pub halves: bool,
    /// Whether lanes of `a` are signed.
    pub a_signed: bool,
    /// Whether lanes of `b` are signed.
    pub b_signed: bool,
    /// Whether lanes of the result are signed.
    pub signed: bool,
    /// Whether results are limited to their range.
    pub sat: bool,
    /// Whether the results are summed up and added to `c`.
    pub add: bool,
    /// The lanes that are computed; others are those of `c`, or not summed.
    pub mask: u32,
}

/// The result for operands `a`, `b` and `c`.
pub fn simd(simd: &Simd, a: u32, b: u32, c: u32) -> u32 {
    let (lanes, bits) = if simd.halves { (2, 16) } else { (4, 8) };
    let up = 32 - bits;
    let lane = |x: u32, n: u32, signed: bool| {
        let field = x >> (n * bits) << up;
        if signed { (field as i32 >> up) as i64 } else { i64::from(field >> up) }
    };
    let mut out = if simd.add { 0 } else { c };
    let mut sum = c;
    for n in 0..lanes {
        if simd.mask >> n & 1 == 0 {
            continue;
        }
        let (x, y) = (lane(a, n, simd.a_signed), lane(b, n, simd.b_signed));
        let result = match simd.operation {
            Operation::Add => x + y,
            Operation::Sub => x - y,
            Operation::Average => {
                let total = x + y;
                (total + i64::from(total >= 0)) >> 1
            }
            Operation::AbsDiff => (x - y).abs(),
            Operation::Min => x.min(y),
            Operation::Max => x.max(y),
            Operation::Eq => i64::from(x == y),
            Operation::Ne => i64::from(x != y),
            Operation::Lt => i64::from(x < y),
            Operation::Le => i64::from(x <= y),
            Operation::Gt => i64::from(x > y),
            Operation::Ge => i64::from(x >= y),
        };
        let result = if simd.sat {
            let (least, most) = if simd.signed {
                (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
            } else {
                (0, (1 << bits) - 1)
            };
            result.clamp(least, most)
        } else {
            result
        };
        // In place it is cut to its bits; the sum takes it whole.
        sum = sum.wrapping_add(result as u32);
        if !simd.add {
            let field = (u32::MAX >> up) << (n * bits);
            out = out & !field | (result as u32) << (n * bits) & field;
        }
    }
    if simd.add { sum } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: Simd = Simd {
        operation: Operation::AbsDiff,
        halves: false,
        a_signed: false,
        b_signed: false,
        signed: false,
        sat: false,
        add: false,
        mask: 15,
    };

    #[test]
    fn lanes() {
        assert_eq!(simd(&BYTES, 0x01ff_1020, 0x02fe_2010, 0), 0x0101_1010);
        let sum = Simd { add: true, ..BYTES };
        assert_eq!(simd(&sum, 0x01ff_1020, 0x02fe_2010, 100), 134);
        let whole = Simd { operation: Operation::Add, ..sum };
        assert_eq!(simd(&whole, 0xff00_00ff, 0xff00_0001, 0), 0x2fe);
        let masked = Simd { mask: 1, ..BYTES };
        assert_eq!(simd(&masked, 0x01ff_1020, 0x02fe_2010, 0xaabb_ccdd), 0xaabb_cc10);
        let add = Simd { operation: Operation::Add, sat: true, ..BYTES };
        assert_eq!(simd(&add, 0xff01_0000, 0x0201_0000, 0), 0xff02_0000);
        let signed =
            Simd { a_signed: true, b_signed: true, signed: true, halves: true, mask: 3, ..add };
        assert_eq!(simd(&signed, 0x7fff_8000, 0x0001_ffff, 0), 0x7fff_8000);
        let average = Simd { operation: Operation::Average, ..signed };
        assert_eq!(simd(&average, 0x0001_fffe, 0x0002_ffff, 0), 0x0002_fffe);
    }
}
