//! Random pipelines of defined behaviour: indices computed from data are clamped, floats are
//! clamped before they become integers, products have one small constant factor. What bounds
//! inference refuses all the same is skipped by the run.

use nbcc_stages::ElementType;

use super::model::{Body, Case, Domain, Input, Node, Op, Schedule, Stage, Update, VARS};
use super::random::Random;

const TYPES: [ElementType; 8] = [
    ElementType::I32,
    ElementType::F32,
    ElementType::U8,
    ElementType::I16,
    ElementType::U16,
    ElementType::I8,
    ElementType::U32,
    ElementType::Bool,
];

const SIZES: [u32; 16] = [1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 20, 31, 33, 64, 70];

const TILES: [u32; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 8, 12, 16, 33];

const BOUNDARIES: [&str; 5] =
    ["repeat_edge", "constant_exterior", "repeat_image", "mirror_image", "mirror_interior"];

/// What can be read.
#[derive(Clone, Debug)]
struct Source {
    name: String,
    types: Vec<ElementType>,
    /// The coordinates at which it is about defined.
    extent: Vec<u32>,
    /// Reading beyond the extent is an error.
    strict: bool,
    /// A boundary condition can be made of it as it stands.
    input: bool,
}

/// The names that an expression may use.
#[derive(Clone, Debug, Default)]
struct Scope {
    /// The Var of each dimension that has one.
    vars: Vec<Option<&'static str>>,
    /// Variables of a domain: name, minimum, extent.
    rvars: Vec<(String, i64, i64)>,
    /// What the stage itself is at this point, and its type.
    own: Option<Node>,
    /// Inline reductions are allowed.
    reduce: bool,
}

struct Generator {
    random: Random,
    case: Case,
    sources: Vec<Source>,
    dims: usize,
}

/// The case of a seed.
pub fn generate(seed: u64) -> Case {
    let mut random = Random::new(seed);
    let machine = match random.below(20) {
        0 | 1 => "ipim",
        2..=6 => "ipim-cube",
        _ => "ipim-vault",
    };
    let declared = random.percent(75);
    let dims = random.pick(&[1, 2, 2, 2, 2, 2, 2, 2, 3, 3, 4]);
    let case = Case { machine, declared, inputs: vec![], domains: vec![], stages: vec![] };
    let mut g = Generator { random, case, sources: vec![], dims };
    g.inputs();
    let count = match g.random.below(8) {
        0 => 4 + g.random.below(6),
        _ => 1 + g.random.below(5).min(g.random.below(6)),
    };
    for n in 0..count {
        g.stage(n, n + 1 == count);
    }
    g.case.drop_unused();
    g.case
}

impl Generator {
    fn size(&mut self) -> u32 {
        if self.random.percent(60) {
            self.random.pick(&SIZES)
        } else {
            self.random.between(1, 70) as u32
        }
    }

    fn extent(&mut self, dims: usize) -> Vec<u32> {
        let mut extent: Vec<u32> = (0..dims.min(2)).map(|_| self.size()).collect();
        for d in 2..dims {
            extent.push(self.random.between(1, 4) as u32);
            extent.iter_mut().take(2).for_each(|e| *e = (*e).min(if d == 2 { 33 } else { 17 }));
        }
        extent
    }

    fn inputs(&mut self) {
        let count = 1 + self.random.below(2);
        let extent = self.extent(self.dims);
        for name in ["a", "b"].into_iter().take(count) {
            let declared = self.case.declared;
            let ty = if declared { self.random.pick(&TYPES) } else { ElementType::F32 };
            let extent = match self.random.below(4) {
                0 => {
                    let dims = 1 + self.random.below(self.dims);
                    self.extent(dims)
                }
                _ => extent.clone(),
            };
            let seed = 1 + self.random.below(1000) as u32;
            let name = name.to_string();
            let types = vec![ty];
            self.sources.push(Source {
                name: name.clone(),
                types,
                extent: extent.clone(),
                strict: declared,
                input: true,
            });
            self.case.inputs.push(Input { name, ty, extent, seed });
        }
    }

    fn stage(&mut self, n: usize, last: bool) {
        let name = if last { "out".to_string() } else { format!("f{n}") };
        if !last && self.random.percent(30) && self.boundary(&name) {
            return;
        }
        if self.random.percent(15) && self.resample(&name, last) {
            return;
        }
        let dims = match self.random.below(8) {
            0 => 1 + self.random.below(self.dims),
            _ => self.dims,
        };
        let tuple = !last && self.random.percent(8);
        let types: Vec<ElementType> =
            (0..1 + usize::from(tuple)).map(|_| self.random.pick(&TYPES)).collect();
        let extent = match self.random.below(3) {
            0 => self.extent(dims),
            _ => {
                let like = self.random.below(self.sources.len());
                let mut extent = self.sources[like].extent.clone();
                let more = self.extent(dims);
                extent.extend(more.iter().skip(extent.len()));
                extent.truncate(dims);
                extent
            }
        };
        let scope = Scope {
            vars: VARS[..dims].iter().map(|&v| Some(v)).collect(),
            reduce: true,
            ..Scope::default()
        };
        let depth = 1 + self.random.below(3);
        let values = types.iter().map(|&ty| self.value(ty, &scope, depth)).collect();
        let mut stage = Stage {
            name: name.clone(),
            dims,
            types: types.clone(),
            body: Body::Values(values),
            updates: vec![],
            schedule: self.schedule(),
            output: None,
        };
        if self.random.percent(30) {
            for _ in 0..1 + self.random.below(2) {
                let update = self.update(&stage, &extent);
                stage.updates.push(update);
            }
            if stage.schedule.place == Some("compute_inline") {
                stage.schedule.place = None;
            }
        }
        if last || !tuple && self.random.percent(12) {
            let bounds = extent.iter().map(|&e| {
                let min = if self.random.percent(15) { self.random.between(-5, 5) } else { 0 };
                (min, i64::from(e))
            });
            stage.output = Some(bounds.collect());
        }
        self.case.stages.push(stage);
        self.sources.push(Source { name, types, extent, strict: false, input: false });
    }

    /// A level of a pyramid: half or twice as large as another stage or input, or a shift.
    fn resample(&mut self, name: &str, last: bool) -> bool {
        let source = self.sources[self.random.below(self.sources.len())].clone();
        let dims = source.extent.len();
        let ty = source.types[0];
        if source.types.len() > 1 || ty == ElementType::Bool {
            return false;
        }
        let down = self.random.percent(50);
        let taps = 1 + self.random.below(4) as i64;
        let both = self.random.percent(70);
        let mut extent = source.extent.clone();
        let mut sum: Option<Node> = None;
        for tap in 0..taps {
            let kids = (0..dims).map(|d| {
                let var = Node::name(VARS[d]);
                let int = ElementType::I32;
                let index = if d >= 2 || d == 1 && !both {
                    var
                } else if down {
                    let twice = Node::infix("*", int, var, Node::int(2));
                    Node::infix("+", int, twice, Node::int(tap - 1))
                } else {
                    let shifted = Node::infix("+", int, var, Node::int(tap - taps / 2));
                    Node::infix("/", int, shifted, Node::int(2))
                };
                if source.strict {
                    let limits = [Node::int(0), Node::int(i64::from(source.extent[d]) - 1)];
                    let kids = std::iter::once(index).chain(limits).collect();
                    return Node::function("clamp", int, kids);
                }
                index
            });
            let kids = kids.collect();
            let read = Node { ty, op: Op::Read(source.name.clone(), None), kids };
            sum = Some(match sum {
                None => read,
                Some(sum) => Node::infix("+", ty, sum, read),
            });
        }
        let resized = if both { 2 } else { 1 };
        for e in extent.iter_mut().take(resized.min(dims)) {
            *e = if down { e.div_ceil(2) } else { (*e * 2).min(70) };
        }
        let bounds = extent.iter().map(|&e| (0, i64::from(e))).collect();
        let schedule = self.schedule();
        self.case.stages.push(Stage {
            name: name.to_string(),
            dims,
            types: vec![ty],
            body: Body::Values(sum.into_iter().collect()),
            updates: vec![],
            schedule,
            output: last.then_some(bounds),
        });
        let name = name.to_string();
        self.sources.push(Source { name, types: vec![ty], extent, strict: false, input: false });
        true
    }

    fn boundary(&mut self, name: &str) -> bool {
        let source = self.sources[self.random.below(self.sources.len())].clone();
        if source.types.len() > 1 || (!self.case.declared && source.input) {
            return false;
        }
        let kind = self.random.pick(&BOUNDARIES);
        // Mirroring without the edge needs more than one element.
        if kind == "mirror_interior" && source.extent.iter().any(|&e| e < 2) {
            return false;
        }
        let ty = source.types[0];
        let value = (kind == "constant_exterior").then(|| self.literal(ty));
        let limits = (!source.input)
            .then(|| source.extent.iter().map(|&e| (0, i64::from(e))).collect::<Vec<_>>());
        let mut schedule = self.schedule();
        if self.random.percent(60) {
            schedule = Schedule::default();
        }
        self.case.stages.push(Stage {
            name: name.to_string(),
            dims: source.extent.len(),
            types: vec![ty],
            body: Body::Boundary(kind, source.name, limits, value),
            updates: vec![],
            // Its Vars have names of their own.
            schedule: Schedule { tile: None, ..schedule },
            output: None,
        });
        self.sources.push(Source {
            name: name.to_string(),
            types: vec![ty],
            extent: source.extent,
            strict: false,
            input: false,
        });
        true
    }

    fn schedule(&mut self) -> Schedule {
        match self.random.below(10) {
            0..=2 => Schedule::default(),
            3 => Schedule { place: Some("compute_inline"), ..Schedule::default() },
            4 | 5 => Schedule { place: Some("compute_root"), ..Schedule::default() },
            _ => {
                let tile = if self.random.percent(40) {
                    [8, 8]
                } else {
                    [self.random.pick(&TILES), self.random.pick(&TILES)]
                };
                Schedule {
                    place: Some("compute_root"),
                    tile: Some(tile),
                    pgsm: self.random.percent(60),
                    vector: self.random.percent(50),
                }
            }
        }
    }

    fn literal(&mut self, ty: ElementType) -> Node {
        let value = match ty {
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
        };
        // The least 32-bit integer has no literal.
        Node::leaf(ty, Op::Literal(value.max(-i64::from(i32::MAX))))
    }

    /// A Var or variable of the domain.
    fn variable(&mut self, scope: &Scope) -> Node {
        let vars: Vec<&str> = scope.vars.iter().flatten().copied().collect();
        let names = scope.rvars.iter().map(|r| r.0.as_str()).chain(vars).collect::<Vec<_>>();
        match names.is_empty() {
            true => Node::int(1),
            false => Node::name(names[self.random.below(names.len())]),
        }
    }

    fn value(&mut self, ty: ElementType, scope: &Scope, depth: usize) -> Node {
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
        let a = self.value(ty, scope, d);
        match self.random.below(12) {
            0 => {
                let name = self.random.pick(&["abs", "floor", "ceil", "round", "trunc"]);
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
        if node.ty == ElementType::F32 && ty != ElementType::F32 && ty != ElementType::Bool {
            let (low, high) = match ty {
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

    fn condition(&mut self, scope: &Scope, depth: usize) -> Node {
        let ty = self.random.pick(&TYPES[..7]);
        let op = self.random.pick(&["<", "<=", ">", ">=", "==", "!="]);
        let (a, b) = (self.value(ty, scope, depth), self.value(ty, scope, depth));
        Node::infix(op, ElementType::Bool, a, b)
    }

    /// A domain of its own for a reduction inside an expression or update.
    fn domain(&mut self, dims: Vec<(i64, i64)>) -> (usize, Vec<(String, i64, i64)>) {
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
            _ => &["sum", "sum", "maximum", "minimum"],
        };
        let name = self.random.pick(names);
        let dims = (0..1 + self.random.below(2))
            .map(|_| (self.random.between(-2, 1), self.random.between(1, 4)))
            .collect();
        let (number, rvars) = self.domain(dims);
        let inner = Scope { rvars, reduce: false, own: None, ..scope.clone() };
        let used = Node::name(&inner.rvars[0].0);
        let value = self.value(ty, &inner, 1);
        // The domain must be named.
        let value = Node::infix("+", ty, value, used.cast(ty));
        Node { ty, op: Op::Reduce(name, number), kids: vec![value] }
    }

    fn read(&mut self, scope: &Scope, depth: usize) -> Node {
        // Later sources are more likely, so that stages form chains.
        let count = self.sources.len();
        let n = self.random.below(count).max(self.random.below(count));
        let source = self.sources[n].clone();
        let index = (0..source.extent.len())
            .map(|d| {
                let extent = i64::from(source.extent[d]);
                let index = self.index(d, extent, scope, depth);
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
            _ => infix("+", base, c),
        }
    }

    /// `new = old op e`, in the operations that an update has.
    fn combine(&mut self, own: Node, value: Node) -> Node {
        let ty = own.ty;
        match ty {
            ElementType::Bool => Node::infix(self.random.pick(&["||", "&&"]), ty, own, value),
            _ if self.random.percent(25) => {
                Node::function(self.random.pick(&["min", "max"]), ty, vec![own, value])
            }
            ElementType::F32 => Node::infix(self.random.pick(&["+", "-"]), ty, own, value),
            _ => {
                let op = self.random.pick(&["+", "+", "+", "-", "^", "|", "*"]);
                Node::infix(op, ty, own, value)
            }
        }
    }

    fn wheres(&mut self, domain: usize, scope: &Scope) {
        if self.random.percent(25) {
            let scope = Scope { own: None, reduce: false, ..scope.clone() };
            let condition = if self.random.percent(50) {
                let (a, b) = (self.variable(&scope), self.variable(&scope));
                let b = Node::infix("+", ElementType::I32, b, Node::int(1));
                Node::infix(self.random.pick(&["<", "!=", ">="]), ElementType::Bool, a, b)
            } else {
                self.condition(&scope, 1)
            };
            self.case.domains[domain].wheres.push(condition);
        }
    }

    fn update(&mut self, stage: &Stage, extent: &[u32]) -> Update {
        let vars: Vec<Option<&'static str>> = VARS[..stage.dims].iter().map(|&v| Some(v)).collect();
        let pure: Vec<Node> = vars.iter().flatten().map(|v| Node::name(v)).collect();
        let d = self.random.below(stage.dims);
        let n = i64::from(extent[d]);
        match self.random.below(10) {
            // A sum over a stencil.
            0..=2 => {
                let dims = (0..1 + self.random.below(2))
                    .map(|_| (self.random.between(-2, 1), self.random.between(1, 4)))
                    .collect();
                let (domain, rvars) = self.domain(dims);
                let scope = Scope { vars, rvars, ..Scope::default() };
                self.wheres(domain, &scope);
                self.finish(stage, pure, &scope, true)
            }
            // In place.
            3 => self.finish(stage, pure, &Scope { vars, ..Scope::default() }, true),
            // A row or column.
            4 => {
                let mut args = pure;
                args[d] = Node::int(self.random.between(0, n - 1));
                let mut scope = Scope { vars, ..Scope::default() };
                scope.vars[d] = None;
                let combined = self.random.percent(50);
                self.finish(stage, args, &scope, combined)
            }
            // A scan, upward or downward.
            5 | 6 => {
                let (domain, rvars) = self.domain(vec![(1, (n - 1).max(1))]);
                let r = Node::name(&format!("r{domain}.x"));
                let ty = ElementType::I32;
                let (at, before) = if self.random.percent(70) {
                    let before = Node::infix("-", ty, r.clone(), Node::int(1));
                    (r, before)
                } else {
                    let at = Node::infix("-", ty, Node::int(n - 1), r.clone());
                    let before = Node::infix("-", ty, Node::int(n), r);
                    (at, before)
                };
                let mut scope = Scope { vars, rvars, ..Scope::default() };
                scope.vars[d] = None;
                self.wheres(domain, &scope);
                let mut args = pure;
                args[d] = before;
                let owns = self.owns(stage, &args);
                args[d] = at;
                let values = owns.into_iter().map(|own| {
                    let value = self.value(own.ty, &scope, 1);
                    self.combine(own, value)
                });
                let values = values.collect();
                Update { args, values }
            }
            // A histogram, or another scatter, over a domain as large as a source.
            _ => {
                let source = self.sources[self.random.below(self.sources.len())].extent.clone();
                let dims: Vec<(i64, i64)> = source.iter().map(|&e| (0, i64::from(e))).collect();
                let dims = dims.into_iter().take(2).collect();
                let (domain, rvars) = self.domain(dims);
                let all = self.random.percent(60);
                let mut scope = Scope { vars, rvars, ..Scope::default() };
                for k in 0..stage.dims {
                    if all || k == d {
                        scope.vars[k] = None;
                    }
                }
                self.wheres(domain, &scope);
                let args = (0..stage.dims).map(|k| {
                    if scope.vars[k].is_some() {
                        return pure[k].clone();
                    }
                    let value = match self.random.below(3) {
                        0 => self.variable(&scope),
                        _ => self.value(ElementType::I32, &scope, 1),
                    };
                    let limits = [Node::int(0), Node::int(i64::from(extent[k]) - 1)];
                    let kids = std::iter::once(value).chain(limits).collect();
                    Node::function("clamp", ElementType::I32, kids)
                });
                let args: Vec<Node> = args.collect();
                let combined = self.random.percent(70);
                self.finish(stage, args, &scope, combined)
            }
        }
    }

    /// What a stage is at a place: a node for each value.
    fn owns(&self, stage: &Stage, args: &[Node]) -> Vec<Node> {
        let count = stage.types.len();
        let own = |(k, &ty): (usize, &ElementType)| Node {
            ty,
            op: Op::Read(stage.name.clone(), (count > 1).then_some(k)),
            kids: args.to_vec(),
        };
        stage.types.iter().enumerate().map(own).collect()
    }

    fn finish(&mut self, stage: &Stage, args: Vec<Node>, scope: &Scope, combined: bool) -> Update {
        let owns = self.owns(stage, &args);
        let values = owns.into_iter().map(|own| {
            let scope = Scope { own: Some(own.clone()), ..scope.clone() };
            if combined && self.random.percent(80) {
                let plain = Scope { own: None, ..scope };
                let value = self.value(own.ty, &plain, 1);
                self.combine(own, value)
            } else {
                self.value(own.ty, &scope, 2)
            }
        });
        let values = values.collect();
        Update { args, values }
    }
}
