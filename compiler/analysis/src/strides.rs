//! How much integers grow from one thread of a warp to the next: the affine states of Sampaio, Souza,
//! Collange, Pereira, "Divergence Analysis" (ACM TOPLAS 35(4), 2013), for those who estimate what an
//! access of a warp reaches.
//!
//! A stride is what is to be expected, not what is certain: neighbours are threads beside each other along
//! the first dimension of their block that go the same way, no sum wraps, and numbers of unknown size that
//! divide are larger than a warp.

use cranelift_entity::SecondaryMap;
use nbcc_ir::{BinaryOp, Cfg, ConvertOp, Function, Op, SimtOp, SpecialReg, UnaryOp, Value};

use crate::lanes::sign_extend;
use crate::uniformity::{Uniformity, User, is_grid_source, users};

/// What is known of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Growth {
    /// Nothing reaches it yet.
    #[default]
    None,
    /// It grows by so much.
    By(i64),
    /// By different amounts, or by what is not known.
    Unknown,
}

impl Growth {
    fn join(self, other: Growth) -> Growth {
        match (self, other) {
            (Growth::None, known) | (known, Growth::None) => known,
            _ if self == other => self,
            _ => Growth::Unknown,
        }
    }
}

/// The strides of the values of a function of the model `grid`. A snapshot: it does not follow later
/// changes.
#[derive(Clone, Debug)]
pub struct Strides {
    growth: SecondaryMap<Value, Growth>,
    /// Threads of a warp.
    lanes: i64,
    uniformity: Uniformity,
}

impl Strides {
    /// The strides of a verified function, whose warps have so many threads.
    pub fn new(func: &Function, cfg: &Cfg, lanes: u32) -> Strides {
        let is_source = |inst| is_grid_source(&func.insts[inst].op);
        let uniformity = Uniformity::new(func, cfg, is_source, &[]);
        let users = users(func);
        let growth = SecondaryMap::new();
        let mut strides = Strides { growth, lanes: lanes.into(), uniformity };
        let mut work = Vec::new();
        for &param in &func.blocks[func.entry()].params {
            strides.learn(param, Growth::By(0), &mut work);
        }
        for inst in cfg.reverse_postorder().flat_map(|block| &func.blocks[block].insts) {
            let growth = strides.of_op(func, &func.insts[*inst].op);
            for &result in &func.insts[*inst].results {
                strides.learn(result, growth, &mut work);
            }
        }
        while let Some(value) = work.pop() {
            for user in &users[value] {
                match *user {
                    User::Inst(inst) => {
                        let growth = strides.of_op(func, &func.insts[inst].op);
                        for &result in &func.insts[inst].results {
                            strides.learn(result, growth, &mut work);
                        }
                    }
                    User::Argument(_, param) => {
                        // Threads have come different ways to numbers of which each is one for all.
                        let differs = strides.is_uniform(value) && !strides.is_uniform(param);
                        let growth = if differs { Growth::Unknown } else { strides.growth[value] };
                        strides.learn(param, growth, &mut work);
                    }
                    User::Condition(_) | User::Returned(_) => {}
                }
            }
        }
        strides
    }

    fn learn(&mut self, value: Value, growth: Growth, work: &mut Vec<Value>) {
        let growth = if self.is_uniform(value) { Growth::By(0) } else { growth };
        let joined = self.growth[value].join(growth);
        if std::mem::replace(&mut self.growth[value], joined) != joined {
            work.push(value);
        }
    }

    /// Whether a value is the same in all threads that compute it together, whatever the data.
    pub fn is_uniform(&self, value: Value) -> bool {
        self.uniformity.is_uniform(value)
    }

    /// What a value grows by from thread to thread; `None` where that differs or is not known.
    pub fn get(&self, value: Value) -> Option<i64> {
        match self.growth[value] {
            Growth::By(stride) => Some(stride),
            Growth::None | Growth::Unknown => None,
        }
    }

    fn of_op(&self, func: &Function, op: &Op) -> Growth {
        use Growth::{By, Unknown};
        let of = |value: &Value| self.growth[*value];
        let number = |value: &Value| {
            let ty = func.ty(*value);
            let bits = func.splat_constant(*value).filter(|_| !ty.scalar.is_float())?;
            Some(sign_extend(ty.scalar, bits))
        };
        // One that is not known is.
        let is_long = |divisor: &Value| {
            of(divisor) == By(0) && number(divisor).is_none_or(|number| number >= self.lanes)
        };
        match op {
            Op::Const(..) => By(0),
            Op::Binary(BinaryOp::Iadd, a, b) => combine(of(a), of(b), i64::wrapping_add),
            Op::Binary(BinaryOp::Isub, a, b) => combine(of(a), of(b), i64::wrapping_sub),
            Op::Unary(UnaryOp::Ineg | UnaryOp::Not, a) => scale(of(a), -1),
            Op::Binary(BinaryOp::Imul, a, b) => match (number(a), number(b)) {
                (_, Some(factor)) => scale(of(a), factor),
                (Some(factor), _) => scale(of(b), factor),
                _ => self.of_equals(op),
            },
            Op::Binary(BinaryOp::Shl, a, b) => match number(b) {
                Some(bits @ 0..64) => scale(of(a), 1 << bits),
                _ => self.of_equals(op),
            },
            // Rows are longer than a warp: quotients by their length are the same, remainders grow on.
            Op::Simt(SimtOp::IntDiv(_), args) if is_long(&args[1]) => {
                scale(combine(of(&args[0]), of(&args[1]), i64::wrapping_add), 0)
            }
            Op::Simt(SimtOp::IntRem(_), args) if is_long(&args[1]) => {
                combine(of(&args[0]), of(&args[1]), i64::wrapping_add)
            }
            Op::Binary(BinaryOp::Lshr | BinaryOp::Ashr, a, b)
                if number(b).is_some_and(|bits| 1 << bits.clamp(0, 62) >= self.lanes) =>
            {
                scale(of(a), 0)
            }
            Op::Binary(BinaryOp::And, a, b)
                if number(b).is_some_and(|mask| {
                    mask >= self.lanes - 1 && mask & mask.wrapping_add(1) == 0
                }) =>
            {
                of(a)
            }
            Op::Convert(
                ConvertOp::Truncate | ConvertOp::ZeroExtend | ConvertOp::SignExtend,
                a,
                _,
            ) => of(a),
            Op::Simt(SimtOp::ToGeneric(_) | SimtOp::FromGeneric(_), args) => of(&args[0]),
            Op::Simt(SimtOp::Special(reg), _) => match reg {
                SpecialReg::Tid(0) | SpecialReg::Laneid => By(1),
                SpecialReg::Tid(_) | SpecialReg::Warpid => By(0),
                _ => Unknown,
            },
            _ if is_grid_source(op) => Unknown,
            _ => self.of_equals(op),
        }
    }

    /// What is computed of numbers that are the same in neighbours is the same.
    fn of_equals(&self, op: &Op) -> Growth {
        let mut growth = Growth::By(0);
        op.for_each_arg(|arg| {
            growth = match self.growth[arg] {
                Growth::By(0) => growth,
                Growth::None if growth != Growth::Unknown => Growth::None,
                _ => Growth::Unknown,
            }
        });
        growth
    }
}

fn combine(a: Growth, b: Growth, of: impl Fn(i64, i64) -> i64) -> Growth {
    match (a, b) {
        (Growth::By(a), Growth::By(b)) => Growth::By(of(a, b)),
        (Growth::Unknown, _) | (_, Growth::Unknown) => Growth::Unknown,
        _ => Growth::None,
    }
}

fn scale(growth: Growth, factor: i64) -> Growth {
    combine(growth, Growth::By(factor), i64::wrapping_mul)
}

#[cfg(test)]
mod tests {
    use nbcc_base::{Diagnostics, SourceId};
    use nbcc_ir::{Module, parse_module};
    use nbcc_testing::Rng;

    use super::*;

    fn strides(body: &str, value: u32) -> Option<i64> {
        let text = format!("define grid @f() {{\n  kernel\nblock0:\n{body}}}\n");
        let mut diagnostics = Diagnostics::default();
        let module: Module = parse_module(SourceId(0), &text, &[], &mut diagnostics)
            .unwrap_or_else(|_| panic!("{diagnostics:?}\n{text}"));
        let func = module.functions.values().next().unwrap();
        Strides::new(func, &Cfg::new(func), 32).get(Value::from_u32(value))
    }

    /// Random arithmetic of numbers too small to wrap: neighbours differ by the stride.
    #[test]
    fn neighbours_differ_by_the_stride() {
        let mut rng = Rng::new(5);
        let mut known_strides = 0;
        for case in 0..400 {
            let mut body = String::from("  v0: i32 = simt \"special.tid_x\"()\n");
            body +=
                "  v1: i32 = simt \"special.ctaid_x\"()\n  v2: i32 = simt \"special.tid_y\"()\n";
            // Numbers of values, their bits, what two neighbours have.
            let mut known = vec![(0, 32, [3i64, 4]), (1, 32, [7, 7]), (2, 32, [2, 2])];
            for number in (3..15).step_by(2) {
                let &(x, bits, a) = rng.pick(&known);
                let same: Vec<_> = known.iter().copied().filter(|other| other.1 == bits).collect();
                let &(y, _, b) = rng.pick(&same);
                let constant = rng.below(4) as i64;
                let result = number + 1;
                let both = |of: fn(i64, i64) -> i64, b: [i64; 2]| [of(a[0], b[0]), of(a[1], b[1])];
                let (op, values, wide) = match rng.below(8) {
                    0 => (format!("iadd v{x}, v{y}"), both(|a, b| a + b, b), bits),
                    1 => (format!("isub v{x}, v{y}"), both(|a, b| a - b, b), bits),
                    2 => (format!("imul v{x}, v{number}"), both(|a, b| a * b, [constant; 2]), bits),
                    3 => (format!("shl v{x}, v{number}"), both(|a, b| a << b, [constant; 2]), bits),
                    4 => (format!("xor v{x}, v{y}"), both(|a, b| a ^ b, b), bits),
                    5 => (format!("not v{x}"), a.map(|a| !a), bits),
                    _ if bits == 32 => (format!("sign_extend v{x}"), a, 64),
                    _ => (format!("truncate v{x}"), a, 32),
                };
                body += &format!("  v{number}: i{bits} = const {constant}\n");
                body += &format!("  v{result}: i{wide} = {op}\n");
                known.push((result, wide, values));
            }
            body += "  return\n";
            for (value, _, [a, b]) in known {
                if let Some(stride) = strides(&body, value) {
                    known_strides += usize::from(stride != 0);
                    assert_eq!(stride, b - a, "case {case}, v{value}\n{body}");
                }
            }
        }
        assert!(known_strides > 500, "{known_strides}");
    }

    /// A loop over rows keeps the stride; what a thread found by its own way has none.
    #[test]
    fn loops_keep_strides_and_ways_do_not() {
        let body = "  v0: i32 = simt \"special.tid_x\"()\n  v1: i32 = simt \"special.ntid_x\"()\n  \
                    v2: i32 = const 64\n  v3: i32 = const 1\n  jump block1(v0, v2)\n\
                    block1(v4: i32, v5: i32):\n  v6: i32 = iadd v4, v1\n  \
                    v7: i1 = icmp slt v6, v2\n  branch v7, block1(v6, v5), block2\n\
                    block2:\n  v8: i1 = icmp slt v0, v3\n  branch v8, block3(v2), block3(v3)\n\
                    block3(v9: i32):\n  return\n";
        assert_eq!(strides(body, 4), Some(1));
        assert_eq!(strides(body, 5), Some(0));
        assert_eq!(strides(body, 6), Some(1));
        assert_eq!(strides(body, 9), None);
    }

    /// Rows and columns of places that threads have by their numbers.
    #[test]
    fn rows_are_expected_to_be_longer_than_warps() {
        let body = "  v0: i32 = simt \"special.tid_x\"()\n  v1: i32 = simt \"special.ntid_x\"()\n  \
                    v2: i32 = simt \"idiv.u32\"(v0, v1)\n  v3: i32 = simt \"irem.u32\"(v0, v1)\n  \
                    v4: i32 = const 5\n  v5: i32 = lshr v0, v4\n  v6: i32 = const 31\n  \
                    v7: i32 = and v0, v6\n  v8: i32 = const 1\n  v9: i32 = lshr v0, v8\n  \
                    v10: i32 = and v0, v4\n  v11: i32 = simt \"idiv.u32\"(v0, v4)\n  return\n";
        let found = [2, 3, 5, 7, 9, 10, 11].map(|value| strides(body, value));
        assert_eq!(found, [Some(0), Some(1), Some(0), Some(1), None, None, None]);
    }
}
