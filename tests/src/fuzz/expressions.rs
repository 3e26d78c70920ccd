//! Random expressions.

use nbcc_stages::ElementType;

use super::generate::{Generator, Scope, TYPES};
use super::model::{Domain, Node, Op, Param};

impl Generator {
    pub(super) fn literal(&mut self, ty: ElementType) -> Node {
        if self.wide && self.random.percent(12) {
            return self.param(ty);
        }
        let value = self.number(ty);
        // The least 32-bit integer has no literal.
        Node::leaf(ty, Op::Literal(value.max(-i64::from(i32::MAX))))
    }

    /// A parameter, one that there is or a new one.
    fn param(&mut self, ty: ElementType) -> Node {
        let known = self.case.params.iter().filter(|p| p.ty == ty).map(|p| p.name.clone());
        let known: Vec<String> = known.collect();
        if !known.is_empty() && self.random.percent(60) {
            return Node::leaf(ty, Op::Param(known[self.random.below(known.len())].clone()));
        }
        let [default, value] = [0; 2].map(|_| self.number(ty).max(-i64::from(i32::MAX)));
        let name = format!("p{}", self.case.params.len());
        self.case.params.push(Param { name: name.clone(), ty, default, value });
        Node::leaf(ty, Op::Param(name))
    }

    fn number(&mut self, ty: ElementType) -> i64 {
        match ty {
            ElementType::Bool => self.random.between(0, 1),
            ElementType::F32 => self.random.between(-12, 12),
            _ if self.random.percent(80) => {
                let low = if ty.is_signed() { -9 } else { 0 };
                self.random.between(low, 17)
            }
            ElementType::U32 => self.random.pick(&[255, 65536, i64::from(i32::MAX)]),
            _ => {
                let (low, high) = ty.integer_range();
                self.random.pick(&[low, low + 1, high, high - 1, high / 2])
            }
        }
    }

    /// A Var or variable of the domain.
    pub(super) fn variable(&mut self, scope: &Scope) -> Node {
        let vars: Vec<&str> = scope.vars.iter().flatten().copied().collect();
        let names = scope.rvars.iter().map(|r| r.0.as_str()).chain(vars).collect::<Vec<_>>();
        match names.is_empty() {
            true => Node::int(1),
            false => Node::name(names[self.random.below(names.len())]),
        }
    }

    pub(super) fn value(&mut self, ty: ElementType, scope: &Scope, depth: usize) -> Node {
        let exact = (scope.inexact && ty != ElementType::F32).then(|| scope.exact());
        let scope = exact.as_ref().unwrap_or(scope);
        if depth == 0 {
            return match self.random.below(10) {
                0 => self.literal(ty),
                1 if ty != ElementType::Bool => self.variable(scope).cast(ty),
                2 if scope.own.as_ref().is_some_and(|own| own.ty == ty) => {
                    scope.own.clone().unwrap_or_else(|| self.literal(ty))
                }
                _ => {
                    let read = self.read(scope, 0);
                    self.convert(read, ty)
                }
            };
        }
        let d = depth - 1;
        match self.random.below(14) {
            0 | 1 => {
                let read = self.read(scope, d);
                self.convert(read, ty)
            }
            2 => {
                let condition = self.condition(scope, d);
                let (a, b) = (self.value(ty, scope, d), self.value(ty, scope, d));
                Node::function("select", ty, vec![condition, a, b])
            }
            3 => {
                let other = self.random.pick(&TYPES);
                let value = self.value(other, scope, d);
                self.convert(value, ty)
            }
            4 if scope.reduce && self.random.percent(50) => self.reduction(ty, scope),
            _ if ty == ElementType::Bool => match self.random.below(4) {
                0 => {
                    let op = self.random.pick(&["&&", "||"]);
                    let (a, b) = (self.value(ty, scope, d), self.value(ty, scope, d));
                    Node::infix(op, ty, a, b)
                }
                1 => {
                    let kids = vec![self.value(ty, scope, d)];
                    Node { ty, op: Op::Prefix("!"), kids }
                }
                _ => self.condition(scope, d),
            },
            _ if ty.is_float() => self.float(scope, d),
            _ => self.integer(ty, scope, d),
        }
    }

    fn float(&mut self, scope: &Scope, d: usize) -> Node {
        let ty = ElementType::F32;
        if scope.inexact && self.random.percent(40) {
            return self.inexact(scope, d);
        }
        let a = self.value(ty, scope, d);
        if self.wide && self.random.percent(12) {
            return self.more_floats(a, scope, d);
        }
        match self.random.below(12) {
            0 => {
                let name = self.random.pick(&["abs", "floor", "ceil", "round", "trunc"]);
                let a = match (scope.inexact, name) {
                    (false, _) | (_, "abs") => a,
                    _ => self.value(ty, &scope.exact(), d),
                };
                Node::function(name, ty, vec![a])
            }
            1 => Node { ty, op: Op::Prefix("-"), kids: vec![a] },
            2 | 3 => {
                let factor = self.literal(ty);
                Node::infix("*", ty, a, factor)
            }
            4 => {
                let name = self.random.pick(&["min", "max"]);
                let b = self.value(ty, scope, d);
                Node::function(name, ty, vec![a, b])
            }
            5 => {
                let (low, high) = (self.random.between(-40, 0), self.random.between(0, 40));
                let limit = |n| Node::leaf(ty, Op::Literal(n));
                Node::function("clamp", ty, vec![a, limit(low), limit(high)])
            }
            _ => {
                let op = self.random.pick(&["+", "+", "-"]);
                let b = self.value(ty, scope, d);
                Node::infix(op, ty, a, b)
            }
        }
    }

    fn integer(&mut self, ty: ElementType, scope: &Scope, d: usize) -> Node {
        let a = self.value(ty, scope, d);
        if self.wide && self.random.percent(15) {
            return self.more_integers(a, scope, d);
        }
        match self.random.below(16) {
            0 => {
                let op = self.random.pick(&["~", "-"]);
                Node { ty, op: Op::Prefix(op), kids: vec![a] }
            }
            1 if ty.is_signed() => {
                let unsigned = match ty {
                    ElementType::I8 => ElementType::U8,
                    ElementType::I16 => ElementType::U16,
                    _ => ElementType::U32,
                };
                Node::function("abs", unsigned, vec![a]).cast(ty)
            }
            2 => {
                let op = self.random.pick(&["<<", ">>"]);
                let amount = match self.random.below(4) {
                    0 => self.value(ty, scope, d),
                    _ => Node::leaf(ty, Op::Literal(self.random.between(0, 7))),
                };
                Node::infix(op, ty, a, amount)
            }
            3 | 4 => {
                let op = self.random.pick(&["/", "%"]);
                let b = match self.random.below(4) {
                    0 => self.value(ty, scope, d),
                    _ => Node::leaf(
                        ty,
                        Op::Literal(self.random.pick(&[1, 2, 3, 4, 5, 7, 8, 10, 16, 100])),
                    ),
                };
                Node::infix(op, ty, a, b)
            }
            5 => {
                let op = self.random.pick(&["&", "|", "^"]);
                let b = self.value(ty, scope, d);
                Node::infix(op, ty, a, b)
            }
            6 | 7 => {
                let name = self.random.pick(&["min", "max"]);
                let b = self.value(ty, scope, d);
                Node::function(name, ty, vec![a, b])
            }
            8 => {
                let low = if ty.is_signed() { self.random.between(-20, 0) } else { 0 };
                let high = self.random.between(1, 60);
                let limit = |n| Node::leaf(ty, Op::Literal(n));
                Node::function("clamp", ty, vec![a, limit(low), limit(high)])
            }
            _ => {
                let op = self.random.pick(&["+", "+", "-", "*"]);
                let b = self.value(ty, scope, d);
                Node::infix(op, ty, a, b)
            }
        }
    }

    /// A conversion of defined result.
    fn convert(&mut self, node: Node, ty: ElementType) -> Node {
        if node.ty == ElementType::F32 && ty != ElementType::F32 {
            let (low, high) = match ty {
                ElementType::Bool => (-4000, 4000),
                _ if ty.is_unsigned() => (0, 800),
                ElementType::I8 => (-400, 400),
                _ => (-4000, 4000),
            };
            let limit = |n| Node::leaf(ElementType::F32, Op::Literal(n));
            let kids = vec![node, limit(low), limit(high)];
            return Node::function("clamp", ElementType::F32, kids).cast(ty);
        }
        node.cast(ty)
    }

    pub(super) fn condition(&mut self, scope: &Scope, depth: usize) -> Node {
        let scope = &scope.exact();
        let ty = self.random.pick(&TYPES[..7]);
        let op = self.random.pick(&["<", "<=", ">", ">=", "==", "!="]);
        let (a, b) = (self.value(ty, scope, depth), self.value(ty, scope, depth));
        Node::infix(op, ElementType::Bool, a, b)
    }

    /// A domain of its own for a reduction inside an expression or update.
    pub(super) fn domain(&mut self, dims: Vec<(i64, i64)>) -> (usize, Vec<(String, i64, i64)>) {
        let number = self.case.domains.len();
        let names = dims.iter().enumerate().map(|(n, &(min, extent))| {
            let letter = ["x", "y", "z", "w"][n];
            (format!("r{number}.{letter}"), min, extent)
        });
        let rvars = names.collect();
        self.case.domains.push(Domain { dims, wheres: vec![] });
        (number, rvars)
    }

    fn reduction(&mut self, ty: ElementType, scope: &Scope) -> Node {
        let names: &[&str] = match ty {
            ElementType::Bool => return self.condition(scope, 0),
            _ if self.wide && self.random.percent(25) => match ty.is_float() {
                true => &["argmax", "argmin"],
                false => &["argmax", "argmin", "product"],
            },
            _ => &["sum", "sum", "maximum", "minimum"],
        };
        let name = self.random.pick(names);
        let dims = (0..1 + self.random.below(2))
            .map(|_| (self.random.between(-2, 1), self.random.between(1, 4)))
            .collect();
        let (number, rvars) = self.domain(dims);
        let inner = Scope { rvars, reduce: false, own: None, ..scope.clone() };
        let used = Node::name(&inner.rvars[0].0);
        let best = name.starts_with("arg");
        let inner = if best { inner.exact() } else { inner };
        let value = self.value(ty, &inner, 1);
        // The domain must be named.
        let value = Node::infix("+", ty, value, used.cast(ty));
        let count = inner.rvars.len();
        let which = best.then(|| self.random.below(count + 1));
        let found = if which.is_some_and(|k| k < count) { ElementType::I32 } else { ty };
        Node { ty: found, op: Op::Reduce(name, number, which), kids: vec![value] }.cast(ty)
    }

    fn read(&mut self, scope: &Scope, depth: usize) -> Node {
        // Later sources are more likely, so that stages form chains.
        let count = self.sources.len();
        let n = self.random.below(count).max(self.random.below(count));
        let mut source = self.sources[n].clone();
        if source.inexact && !scope.inexact {
            source = self.sources[self.random.below(self.case.inputs.len())].clone();
        }
        let index = (0..source.extent.len())
            .map(|d| {
                let extent = i64::from(source.extent[d]);
                let mut index = self.index(d, extent, scope, depth);
                if source.backwards.get(d) == Some(&true) {
                    index = Node::infix("-", ElementType::I32, Node::int(extent - 1), index);
                }
                if source.strict {
                    let limits = [Node::int(0), Node::int(extent - 1)];
                    let kids = std::iter::once(index).chain(limits).collect();
                    return Node::function("clamp", ElementType::I32, kids);
                }
                index
            })
            .collect();
        let value = self.random.below(source.types.len());
        let which = (source.types.len() > 1).then_some(value);
        Node { ty: source.types[value], op: Op::Read(source.name, which), kids: index }
    }

    /// An index along dimension `d` of a source.
    fn index(&mut self, d: usize, extent: i64, scope: &Scope, depth: usize) -> Node {
        let ty = ElementType::I32;
        let infix = |op, a: Node, n: i64| match (op, n) {
            ("+", 0) => a,
            ("+", n) if n < 0 => Node::infix("-", ty, a, Node::int(-n)),
            _ => Node::infix(op, ty, a, Node::int(n)),
        };
        let own = scope.vars.get(d).copied().flatten().map(Node::name);
        let mut base = match own {
            Some(own) if self.random.percent(90) => own,
            _ => self.variable(scope),
        };
        let c = if self.random.percent(40) { 0 } else { self.random.between(-3, 3) };
        let rvar = (!scope.rvars.is_empty())
            .then(|| Node::name(&scope.rvars[d.min(scope.rvars.len() - 1)].0));
        if let Some(rvar) = rvar
            && self.random.percent(70)
            && base != rvar
        {
            if self.random.percent(10) {
                base = infix("*", base, 2);
            }
            let op = if self.random.percent(85) { "+" } else { "-" };
            let sum = Node::infix(op, ty, base, rvar);
            return infix("+", sum, c);
        }
        match self.random.below(40) {
            0..=3 => infix("+", infix("*", base, 2), c),
            4..=7 => infix("+", infix("/", base, 2), c),
            8 => infix("/", infix("+", base, c), 2),
            9 => infix("+", infix("*", base, 3), c),
            10 => infix("/", infix("+", infix("*", base, 3), c), 2),
            11 | 12 => {
                let low = self.random.between(-2, 3);
                let high = low + self.random.between(0, extent);
                let kids = vec![infix("+", base, c), Node::int(low), Node::int(high)];
                Node::function("clamp", ty, kids)
            }
            13 => Node::int(self.random.between(0, extent - 1)),
            14 => self.variable(scope),
            15 => Node::infix("-", ty, Node::int(extent - 1), base),
            16 => {
                let k = self.random.between(1, 9);
                infix("+", infix("%", base, k), c)
            }
            17 => infix("+", base, self.random.between(-25, 25)),
            18 | 19 => {
                let value = self.value(ty, scope, depth.min(1));
                let limits = [Node::int(0), Node::int(extent - 1)];
                Node::function("clamp", ty, std::iter::once(value).chain(limits).collect())
            }
            // What a tile reads follows it, but not as tiles do.
            20 | 21 => {
                let other = self.variable(scope);
                let k = self.random.between(2, 7);
                let shear = Node::infix("/", ty, other, Node::int(k));
                infix("+", Node::infix("+", ty, base, shear), c)
            }
            22 => {
                let value = self.value(ty, scope, depth.min(1));
                let kids = vec![value, Node::int(-2), Node::int(2)];
                Node::infix("+", ty, base, Node::function("clamp", ty, kids))
            }
            _ => infix("+", base, c),
        }
    }

    /// A division or function that the target computes to within some ulp, of exact operands.
    fn inexact(&mut self, scope: &Scope, d: usize) -> Node {
        let ty = ElementType::F32;
        let scope = &scope.exact();
        let quarters = |n| Node::leaf(ty, Op::Literal(n));
        let clamp =
            |a, low, high| Node::function("clamp", ty, vec![a, quarters(low), quarters(high)]);
        let a = self.value(ty, scope, d);
        let size = |a| Node::function("abs", ty, vec![a]);
        match self.random.below(9) {
            0 | 1 => {
                let by = self.random.pick(&[1, 3, 5, 8, 12, 28, -6, 100]);
                Node::infix("/", ty, a, quarters(by))
            }
            2 | 3 => {
                let b = self.value(ty, scope, d);
                let b = Node::function("max", ty, vec![size(b), quarters(1)]);
                Node::infix("/", ty, clamp(a, -16000, 16000), b)
            }
            4 => Node::function("sqrt", ty, vec![size(a)]),
            5 => Node::function("exp", ty, vec![clamp(a, -16, 16)]),
            6 => Node::function("log", ty, vec![Node::infix("+", ty, size(a), quarters(1))]),
            7 => {
                let name = self.random.pick(&["sin", "cos", "tanh", "atan"]);
                Node::function(name, ty, vec![clamp(a, -80, 80)])
            }
            _ => {
                let power = quarters(self.random.between(-9, 13));
                Node::function("pow", ty, vec![clamp(a, 1, 24), power])
            }
        }
    }

    /// Floats in operations that few stages have.
    fn more_floats(&mut self, a: Node, scope: &Scope, d: usize) -> Node {
        let ty = ElementType::F32;
        let b = self.value(ty, scope, d);
        match self.random.below(3) {
            0 => {
                let limit = |n| Node::leaf(ty, Op::Literal(n));
                let b = Node::function("clamp", ty, vec![b, limit(-16), limit(16)]);
                Node::infix("*", ty, a, b)
            }
            1 => {
                let w = Node::leaf(ty, Op::Literal(self.random.between(0, 4)));
                Node::function("lerp", ty, vec![a, b, w])
            }
            _ => self.chosen(a, b, scope, d),
        }
    }

    /// Integers in operations that few stages have.
    fn more_integers(&mut self, a: Node, scope: &Scope, d: usize) -> Node {
        let ty = a.ty;
        match self.random.below(6) {
            0 => {
                let b = self.value(ty, scope, d);
                let unsigned = match ty {
                    ElementType::I8 => ElementType::U8,
                    ElementType::I16 => ElementType::U16,
                    ElementType::I32 => ElementType::U32,
                    _ => ty,
                };
                Node::function("absd", unsigned, vec![a, b]).cast(ty)
            }
            1 => {
                let from = self.random.pick(&TYPES[..7]);
                let wide = self.value(from, scope, d);
                Node { ty, op: Op::Saturate, kids: vec![wide] }
            }
            2 if ty.bits() <= 16 => {
                let weight = self.random.pick(&[ElementType::U8, ElementType::U16]);
                let (b, w) = (self.value(ty, scope, d), self.value(weight, scope, d));
                Node::function("lerp", ty, vec![a, b, w])
            }
            3 => {
                let name = self.random.pick(&["div_round_to_zero", "mod_round_to_zero"]);
                let by = self.random.pick(&[1, 2, 3, 7, 16]);
                Node::function(name, ty, vec![a, Node::leaf(ty, Op::Literal(by))])
            }
            4 => {
                let which = self.value(ElementType::I32, scope, d);
                let (b, c) = (self.value(ty, scope, d), self.value(ty, scope, d));
                Node { ty, op: Op::Mux, kids: vec![which, a, b, c] }
            }
            _ => {
                let b = self.value(ty, scope, d);
                self.chosen(a, b, scope, d)
            }
        }
    }

    /// A `select` of several conditions.
    fn chosen(&mut self, a: Node, b: Node, scope: &Scope, d: usize) -> Node {
        let ty = a.ty;
        let (first, second) = (self.condition(scope, d.min(1)), self.condition(scope, d.min(1)));
        let c = self.value(ty, scope, d.min(1));
        Node::function("select", ty, vec![first, a, second, b, c])
    }
}
