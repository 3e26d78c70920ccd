//! Words as sums of products of values, modulo 2^32: what subscripts of nests are made of, whose rows are
//! as long as a parameter says.

use std::collections::BTreeMap;

use nbcc_ir::{Builder, ConvertOp, Function, Type, Value};

/// Products at most: more stay one value.
const MOST_PRODUCTS: usize = 24;

/// Factors of a product at most.
const MOST_FACTORS: usize = 6;

/// Products of which a sum of 64 bits is made at most, their values, and their factors.
const LONG_PRODUCTS: usize = 8;
const LONG_FACTORS: usize = 2;
const LONG_FACTOR: u32 = 1 << 10;

/// A sum of products of values, each times a factor that is not 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Poly(BTreeMap<Vec<Value>, i32>);

impl Poly {
    /// A constant.
    pub fn constant(constant: i32) -> Poly {
        Poly([(vec![], constant)].into_iter().filter(|term| term.1 != 0).collect())
    }

    /// A value.
    pub fn symbol(value: Value) -> Poly {
        Poly([(vec![value], 1)].into())
    }

    /// The constant that it is.
    pub fn as_constant(&self) -> Option<i32> {
        match self.0.len() {
            0 => Some(0),
            1 => self.0.get(&vec![]).copied(),
            _ => None,
        }
    }

    /// The constant among its products, and the rest.
    pub fn split_constant(&self) -> (Poly, i32) {
        let mut rest = self.clone();
        let constant = rest.0.remove(&vec![]).unwrap_or(0);
        (rest, constant)
    }

    /// The sum, the other one times a factor.
    pub fn plus(&self, other: &Poly, factor: i32) -> Poly {
        let mut sum = self.clone();
        for (product, &more) in &other.0 {
            let own = sum.0.entry(product.clone()).or_default();
            *own = own.wrapping_add(more.wrapping_mul(factor));
        }
        sum.0.retain(|_, factor| *factor != 0);
        sum
    }

    /// The values that it is made of, if the sum of its products does not leave 64 bits where all of them
    /// have 25 bits with their signs.
    pub fn symbols(&self) -> Option<Vec<Value>> {
        let is_small = |(product, factor): (&Vec<Value>, &i32)| {
            product.len() <= LONG_FACTORS && factor.unsigned_abs() <= LONG_FACTOR
        };
        let fits = self.0.len() <= LONG_PRODUCTS && self.0.iter().all(is_small);
        fits.then(|| self.0.keys().flatten().copied().collect())
    }

    /// The same sum in 64 bits.
    pub fn make_long(&self, b: &mut Builder<'_>) -> Value {
        let mut sum = b.constant(Type::I64, 0);
        for (product, &factor) in &self.0 {
            let mut term = b.constant(Type::I64, i64::from(factor) as u64);
            for &value in product {
                let long = long(b, value);
                term = b.imul(term, long);
            }
            sum = b.iadd(sum, term);
        }
        sum
    }

    /// How many low bits are zero, whatever its values are.
    pub fn zeros(&self) -> u32 {
        self.0.values().map(|factor| factor.trailing_zeros()).min().unwrap_or(32)
    }

    /// The product, where it is no larger than is borne.
    pub fn times(&self, other: &Poly) -> Option<Poly> {
        let mut all = Poly::default();
        for (a, &x) in &self.0 {
            for (b, &y) in &other.0 {
                let mut product: Vec<Value> = a.iter().chain(b).copied().collect();
                product.sort_unstable();
                if product.len() > MOST_FACTORS {
                    return None;
                }
                all = all.plus(&Poly([(product, x.wrapping_mul(y))].into()), 1);
            }
        }
        (all.0.len() <= MOST_PRODUCTS).then_some(all)
    }

    /// The word, made of values of 32 and 64 bits.
    pub fn make(&self, b: &mut Builder<'_>) -> Value {
        let mut sum = None;
        let constant = self.0.get(&vec![]).copied().unwrap_or(0);
        for (product, &factor) in self.0.iter().filter(|(product, _)| !product.is_empty()) {
            let words: Vec<Value> = product.iter().map(|&value| word(b, value)).collect();
            let whole = words.into_iter().reduce(|a, more| b.imul(a, more));
            let Some(whole) = whole else { continue };
            let term = if factor == 1 { whole } else { b.imul_imm(whole, factor) };
            sum = Some(match sum {
                None => term,
                Some(sum) => b.iadd(sum, term),
            });
        }
        match sum {
            None => b.i32(constant),
            Some(sum) if constant == 0 => sum,
            Some(sum) => b.iadd_imm(sum, constant),
        }
    }
}

fn word(b: &mut Builder<'_>, value: Value) -> Value {
    match is_long(b.func, value) {
        true => b.convert(ConvertOp::Truncate, value, Type::I32),
        false => value,
    }
}

/// A value with its sign in 64 bits.
pub fn long(b: &mut Builder<'_>, value: Value) -> Value {
    match is_long(b.func, value) {
        true => value,
        false => b.convert(ConvertOp::SignExtend, value, Type::I64),
    }
}

fn is_long(func: &Function, value: Value) -> bool {
    func.ty(value) == Type::I64
}

#[cfg(test)]
mod tests {
    use cranelift_entity::EntityRef;

    use super::*;

    #[test]
    fn sums_of_products_are_told_apart() {
        let [a, b] = [1, 2].map(Value::new);
        let (x, y) = (Poly::symbol(a), Poly::symbol(b));
        let sum = x.plus(&y, 1);
        let square = sum.times(&sum).expect("it is short");
        let parts = x.times(&x).expect("short").plus(&y.times(&y).expect("short"), 1);
        assert_eq!(square.plus(&x.times(&y).expect("short"), -2), parts);
        assert_eq!(sum.plus(&Poly::constant(7), 1).split_constant(), (sum, 7));
        assert_eq!(x.plus(&x, -1).as_constant(), Some(0));
    }
}
