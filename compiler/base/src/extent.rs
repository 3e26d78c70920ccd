//! Integer expressions over scalar parameters: what the extents of arrays are made of. Stated once
//! for the IR, for the signature in a binary and for the host, which all compute them alike.

use std::fmt;
use std::str::FromStr;

/// An expression in postfix order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExtentExpr(Vec<Step>);

/// A step of an expression: pushes a value, or replaces those on top by a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// A constant.
    Const(i64),
    /// The scalar parameter of that number, as its type extends it.
    Param(u32),
    /// An operation whose result is brought into a type.
    Op(ExtentOp, Width),
}

/// Operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExtentOp {
    /// One operand as another type.
    Cast,
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient toward zero; none by zero.
    Div,
    /// Remainder with the dividend's sign; none by zero.
    Rem,
    /// Shift left by an amount modulo the width.
    Shl,
    /// Shift right by an amount modulo the width.
    Shr,
    /// Bits that both have.
    And,
    /// Bits that either has.
    Or,
    /// Bits that differ.
    Xor,
    /// Whether the operands, of the type, are less.
    Less,
    /// Whether they are equal.
    Equal,
    /// The second of three where the first is not zero, else the third.
    Select,
}

/// The integer type of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Width {
    /// 8, 16, 32 or 64.
    pub bits: u8,
    /// Whether its values have a sign.
    pub signed: bool,
}

const OPS: [(ExtentOp, &str); 14] = [
    (ExtentOp::Cast, "cast"),
    (ExtentOp::Add, "add"),
    (ExtentOp::Sub, "sub"),
    (ExtentOp::Mul, "mul"),
    (ExtentOp::Div, "div"),
    (ExtentOp::Rem, "rem"),
    (ExtentOp::Shl, "shl"),
    (ExtentOp::Shr, "shr"),
    (ExtentOp::And, "and"),
    (ExtentOp::Or, "or"),
    (ExtentOp::Xor, "xor"),
    (ExtentOp::Less, "less"),
    (ExtentOp::Equal, "equal"),
    (ExtentOp::Select, "select"),
];

impl ExtentOp {
    fn operands(self) -> usize {
        match self {
            ExtentOp::Cast => 1,
            ExtentOp::Select => 3,
            _ => 2,
        }
    }

    fn name(self) -> &'static str {
        OPS.iter().find(|(op, _)| *op == self).map_or("", |(_, name)| name)
    }
}

impl Width {
    /// A value brought into the type.
    fn wrap(self, value: i64) -> i64 {
        let unused = 64 - u32::from(self.bits.clamp(1, 64));
        match self.signed {
            true => (value << unused) >> unused,
            false => (((value << unused) as u64) >> unused) as i64,
        }
    }
}

/// Why steps are no expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no expression of extents: {0}")]
pub struct NoExtent(String);

impl ExtentExpr {
    /// Steps of an expression at most.
    pub const MAX: usize = 1024;

    /// An expression of these steps.
    ///
    /// # Errors
    /// They leave not one value behind, take what is not there, or are more than [`ExtentExpr::MAX`].
    pub fn new(steps: Vec<Step>) -> Result<ExtentExpr, NoExtent> {
        let fault = |what: &str| Err(NoExtent(what.to_string()));
        if steps.len() > ExtentExpr::MAX {
            return fault("too many steps");
        }
        let mut depth = 0_usize;
        for step in &steps {
            if let Step::Op(op, width) = step {
                if ![8, 16, 32, 64].contains(&width.bits) {
                    return fault("a type that there is not");
                }
                let Some(rest) = depth.checked_sub(op.operands()) else {
                    return fault("an operand is missing");
                };
                depth = rest;
            }
            depth += 1;
        }
        if depth == 1 { Ok(ExtentExpr(steps)) } else { fault("several values") }
    }

    /// Its steps.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// The expression with other numbers of parameters.
    pub fn map_params(&self, mut map: impl FnMut(u32) -> u32) -> ExtentExpr {
        let step = |step: &Step| match *step {
            Step::Param(number) => Step::Param(map(number)),
            other => other,
        };
        ExtentExpr(self.0.iter().map(step).collect())
    }

    /// The expression with parameters whose values are known as constants; a constant where all are,
    /// and it has a value.
    pub fn specialised(&self, known: impl Fn(u32) -> Option<i64>) -> ExtentExpr {
        let step = |step: &Step| match *step {
            Step::Param(number) => known(number).map_or(*step, Step::Const),
            other => other,
        };
        match self.evaluate(&known) {
            Some(value) => ExtentExpr(vec![Step::Const(value)]),
            None => ExtentExpr(self.0.iter().map(step).collect()),
        }
    }

    /// The parameters that it names.
    pub fn params(&self) -> impl Iterator<Item = u32> {
        self.0.iter().filter_map(|step| match step {
            Step::Param(number) => Some(*number),
            _ => None,
        })
    }

    /// The product of two.
    pub fn times(&self, other: &ExtentExpr) -> Option<ExtentExpr> {
        let mut steps = self.0.clone();
        steps.extend_from_slice(&other.0);
        steps.push(Step::Op(ExtentOp::Mul, Width { bits: 64, signed: true }));
        ExtentExpr::new(steps).ok()
    }

    /// Its value, given those of parameters; `None` where there is none.
    pub fn evaluate(&self, param: impl Fn(u32) -> Option<i64>) -> Option<i64> {
        let mut stack: Vec<i64> = Vec::new();
        for step in &self.0 {
            let value = match *step {
                Step::Const(value) => value,
                Step::Param(number) => param(number)?,
                Step::Op(op, width) => {
                    let operands = stack.split_off(stack.len().checked_sub(op.operands())?);
                    let at = |n: usize| operands.get(n).copied().unwrap_or(0);
                    width.wrap(apply(op, width, at(0), at(1), at(2))?)
                }
            };
            stack.push(value);
        }
        stack.pop()
    }
}

fn apply(op: ExtentOp, width: Width, a: i64, b: i64, c: i64) -> Option<i64> {
    let (x, y) = (a as u64, b as u64);
    let signed = width.signed;
    let amount = (y % u64::from(width.bits)) as u32;
    Some(match op {
        ExtentOp::Cast => a,
        ExtentOp::Add => a.wrapping_add(b),
        ExtentOp::Sub => a.wrapping_sub(b),
        ExtentOp::Mul => a.wrapping_mul(b),
        ExtentOp::Div if signed => (b != 0).then(|| a.wrapping_div(b))?,
        ExtentOp::Div => x.checked_div(y)? as i64,
        ExtentOp::Rem if signed => (b != 0).then(|| a.wrapping_rem(b))?,
        ExtentOp::Rem => x.checked_rem(y)? as i64,
        ExtentOp::Shl => a.wrapping_shl(amount),
        ExtentOp::Shr if signed => a.wrapping_shr(amount),
        ExtentOp::Shr => x.wrapping_shr(amount) as i64,
        ExtentOp::And => a & b,
        ExtentOp::Or => a | b,
        ExtentOp::Xor => a ^ b,
        ExtentOp::Less => i64::from(if signed { a < b } else { x < y }),
        ExtentOp::Equal => i64::from(a == b),
        ExtentOp::Select => {
            if a != 0 {
                b
            } else {
                c
            }
        }
    })
}

impl fmt::Display for ExtentExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, step) in self.0.iter().enumerate() {
            let space = if number > 0 { " " } else { "" };
            match step {
                Step::Const(value) => write!(f, "{space}{value}")?,
                Step::Param(number) => write!(f, "{space}p{number}")?,
                Step::Op(op, Width { bits, signed }) => {
                    let sign = if *signed { 's' } else { 'u' };
                    write!(f, "{space}{}.{sign}{bits}", op.name())?;
                }
            }
        }
        Ok(())
    }
}

impl FromStr for ExtentExpr {
    type Err = NoExtent;

    fn from_str(text: &str) -> Result<ExtentExpr, NoExtent> {
        let step = |word: &str| -> Option<Step> {
            if let Ok(value) = word.parse() {
                return Some(Step::Const(value));
            }
            if let Some(number) = word.strip_prefix('p') {
                return number.parse().ok().map(Step::Param);
            }
            let (name, width) = word.split_once('.')?;
            let (op, _) = OPS.iter().find(|(_, known)| *known == name)?;
            let signed = match width.get(..1)? {
                "s" => true,
                "u" => false,
                _ => return None,
            };
            Some(Step::Op(*op, Width { bits: width[1..].parse().ok()?, signed }))
        };
        let steps = text.split_whitespace().map(|word| {
            step(word).ok_or_else(|| NoExtent(format!("`{}`", crate::lexical::shorten(word))))
        });
        ExtentExpr::new(steps.collect::<Result<_, _>>()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_back() {
        let text = "p0 1 add.s32 p1 mul.s64";
        let expr: ExtentExpr = text.parse().unwrap();
        assert_eq!(expr.to_string(), text);
        assert_eq!(expr.evaluate(|n| Some([4, 3][n as usize])), Some(15));
        assert_eq!(expr.params().collect::<Vec<_>>(), [0, 1]);
    }

    #[test]
    fn values_wrap_as_their_types_do() {
        let value = |text: &str| text.parse::<ExtentExpr>().unwrap().evaluate(|_| None);
        assert_eq!(value("2147483647 1 add.s32"), Some(-2_147_483_648));
        assert_eq!(value("0 1 sub.u32"), Some(0xffff_ffff));
        assert_eq!(value("7 0 div.s32"), None);
        assert_eq!(value("1 33 shl.s32"), Some(2));
        assert_eq!(value("1 5 6 select.s32"), Some(5));
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        for text in
            ["", "1 2", "add.s32", "1 2 add.s7", "1 x", "1 2 add.q32", "1 2 .s32", "1 é.s32"]
        {
            assert!(text.parse::<ExtentExpr>().is_err(), "{text}");
        }
    }
}
