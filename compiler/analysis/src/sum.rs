//! Values as sums of others, modulo 2^32: what two addresses must be compared as to tell how far they
//! are from each other.

use nbcc_ir::{BinaryOp, ConvertOp, Function, Op, Value};

/// A sum of values with factors and a constant, modulo 2^32.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// Values in ascending order, each once, with factors that are not 0.
    pub terms: Vec<(Value, u32)>,
    /// The constant.
    pub constant: u32,
}

/// An integer as a sum, looked through `budget` operations at most. `same` names operations of a
/// target which keep an operand modulo 2^32.
pub fn sum_of(
    func: &Function,
    value: Value,
    budget: u32,
    same: impl Fn(&Op) -> Option<Value>,
) -> Sum {
    let mut walk = Walk { func, same, budget, terms: Vec::new(), constant: 0 };
    walk.add(value, 1);
    let Walk { mut terms, constant, .. } = walk;
    terms.sort_unstable();
    terms.dedup_by(|next, sum| {
        let same = next.0 == sum.0;
        if same {
            sum.1 = sum.1.wrapping_add(next.1);
        }
        same
    });
    terms.retain(|&(_, factor)| factor != 0);
    Sum { terms, constant }
}

struct Walk<'a, S> {
    func: &'a Function,
    same: S,
    budget: u32,
    terms: Vec<(Value, u32)>,
    constant: u32,
}

impl<S: Fn(&Op) -> Option<Value>> Walk<'_, S> {
    fn constant(&self, value: Value) -> Option<u32> {
        self.func.splat_constant(value).map(|bits| bits as u32)
    }

    /// Whether arithmetic of the value's type is arithmetic modulo 2^32, in its low bits.
    fn is_wide(&self, value: Value) -> bool {
        let scalar = self.func.ty(value).scalar;
        !scalar.is_float() && scalar.bits() >= 32
    }

    fn add(&mut self, value: Value, factor: u32) {
        if !self.is_wide(value) {
            return self.unknown(value, factor);
        }
        if let Some(number) = self.constant(value) {
            self.constant = self.constant.wrapping_add(number.wrapping_mul(factor));
            return;
        }
        let Some(op) = self.func.def_op(value) else { return self.unknown(value, factor) };
        let same = match *op {
            Op::Convert(
                ConvertOp::Truncate | ConvertOp::ZeroExtend | ConvertOp::SignExtend,
                from,
                _,
            ) if self.is_wide(from) => Some(from),
            _ => (self.same)(op),
        };
        let parts = match (op, same) {
            (_, Some(same)) => [(same, 1), (same, 0)],
            (&Op::Binary(op, x, y), None) => match (op, self.constant(x), self.constant(y)) {
                (BinaryOp::Iadd, ..) => [(x, 1), (y, 1)],
                (BinaryOp::Isub, ..) => [(x, 1), (y, u32::MAX)],
                (BinaryOp::Imul, _, Some(factor)) => [(x, factor), (y, 0)],
                (BinaryOp::Imul, Some(factor), _) => [(y, factor), (x, 0)],
                (BinaryOp::Shl, _, Some(bits @ 0..32)) => [(x, 1 << bits), (y, 0)],
                _ => return self.unknown(value, factor),
            },
            _ => return self.unknown(value, factor),
        };
        let Some(rest) = self.budget.checked_sub(1) else { return self.unknown(value, factor) };
        self.budget = rest;
        for (part, times) in parts {
            if times != 0 {
                self.add(part, factor.wrapping_mul(times));
            }
        }
    }

    fn unknown(&mut self, value: Value, factor: u32) {
        self.terms.push((value, factor));
    }
}

#[cfg(test)]
mod tests {
    use nbcc_base::{Diagnostics, SourceId};
    use nbcc_ir::{Module, parse_module};
    use nbcc_testing::Rng;

    use super::*;

    fn sums(body: &str, result: &str) -> Sum {
        let text = format!(
            "define grid @f(v0: i32, v1: i64, v2: i16) -> i64 {{\nblock0:\n{body}  return {result}\n}}\n"
        );
        let mut diagnostics = Diagnostics::default();
        let module: Module = parse_module(SourceId(0), &text, &[], &mut diagnostics)
            .unwrap_or_else(|_| panic!("{diagnostics:?}"));
        let func = module.functions.values().next().unwrap();
        let mut returned = None;
        func.terminator(func.entry()).for_each_arg(|value| returned = Some(value));
        sum_of(func, returned.unwrap(), 64, |_| None)
    }

    fn value(number: u32) -> Value {
        Value::from_u32(number)
    }

    #[test]
    fn extensions_and_products_are_looked_through() {
        let body = "  v3: i64 = zero_extend v0\n  v4: i64 = const 4\n  v5: i64 = imul v3, v4\n  \
                    v6: i64 = iadd v1, v5\n  v7: i64 = const -8\n  v8: i64 = iadd v6, v7\n  \
                    v9: i64 = const 2\n  v10: i64 = shl v3, v9\n  v11: i64 = isub v8, v10\n";
        let whole = sums(body, "v8");
        assert_eq!(whole.terms, [(value(0), 4), (value(1), 1)]);
        assert_eq!(whole.constant, -8_i32 as u32);
        // What cancels is no term.
        assert_eq!(sums(body, "v11").terms, [(value(1), 1)]);
    }

    /// Random arithmetic of 32 and 64 bits: the sum has its low 32 bits.
    #[test]
    fn sums_are_what_is_computed() {
        let mut rng = Rng::new(3);
        for case in 0..500 {
            let given = [rng.bits() as u32 as u64, rng.bits()];
            // Numbers of values, their bits, what they are.
            let mut known = vec![(0, 32, given[0]), (1, 64, given[1])];
            let mut body = String::new();
            for number in (3..20).step_by(2) {
                let &(x, bits, a) = rng.pick(&known);
                let same: Vec<_> = known.iter().copied().filter(|other| other.1 == bits).collect();
                let &(y, _, b) = rng.pick(&same);
                let constant = rng.below(70) as i64 - 30;
                let result = number + 1;
                let (op, value, wide) = match rng.below(5) {
                    0 => (format!("iadd v{x}, v{y}"), a.wrapping_add(b), bits),
                    1 => (format!("isub v{x}, v{y}"), a.wrapping_sub(b), bits),
                    2 => (format!("imul v{x}, v{number}"), a.wrapping_mul(constant as u64), bits),
                    3 if (0..32).contains(&constant) => {
                        (format!("shl v{x}, v{number}"), a << constant, bits)
                    }
                    _ if bits == 32 => (format!("zero_extend v{x}"), a, 64),
                    _ => (format!("truncate v{x}"), a, 32),
                };
                let value = if wide == 32 { value & 0xffff_ffff } else { value };
                body += &format!("  v{number}: i{bits} = const {constant}\n");
                body += &format!("  v{result}: i{wide} = {op}\n");
                known.push((result, wide, value));
            }
            let &(last, _, expected) =
                known.iter().rev().find(|(_, bits, _)| *bits == 64).expect("a parameter");
            let sum = sums(&body, &format!("v{last}"));
            let of = |v: Value| known.iter().find(|k| value(k.0) == v).expect("a value").2 as u32;
            let terms = sum.terms.iter().map(|&(v, factor)| of(v).wrapping_mul(factor));
            let found = terms.fold(sum.constant, u32::wrapping_add);
            assert_eq!(found, expected as u32, "case {case}\n{body}");
            assert!(sum.terms.is_sorted_by(|a, b| a.0 < b.0), "{sum:?}");
            assert!(sum.terms.iter().all(|&(_, factor)| factor != 0), "{sum:?}");
        }
    }

    /// 16 bits wrap where 32 do not.
    #[test]
    fn narrow_arithmetic_is_unknown() {
        let body = "  v3: i16 = const 1\n  v4: i16 = iadd v2, v3\n  v5: i64 = sign_extend v4\n";
        assert_eq!(sums(body, "v5"), Sum { terms: vec![(value(5), 1)], constant: 0 });
    }
}
