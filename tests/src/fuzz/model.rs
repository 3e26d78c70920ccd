//! A pipeline as a tree that can be cut down, and its source text. The first lines of the text are
//! comments that say how to run it, so that the text alone is a case:
//!
//! ```text
//! // run: machine=ipim-vault
//! // input a: 17x5 seed 3
//! // param p0=7
//! // inexact
//! ```

use std::collections::BTreeSet;
use std::fmt::Write as _;

use nbcc_stages::ElementType;

/// An expression. Its text is in brackets wherever an operator could bind otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The type of its value.
    pub ty: ElementType,
    /// What it is.
    pub op: Op,
    /// Its operands.
    pub kids: Vec<Node>,
}

/// What an expression is.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// An integer, or so many quarters of a float.
    Literal(i64),
    /// A Var or a variable of a domain.
    Name(String),
    /// A parameter.
    Param(String),
    /// An operator between two operands.
    Infix(&'static str),
    /// An operator before one operand.
    Prefix(&'static str),
    /// A function of the language.
    Function(&'static str),
    /// A conversion to the type.
    Cast,
    /// A conversion to the nearest value of the type.
    Saturate,
    /// One of the operands after the first, by number.
    Mux,
    /// An element of an input or Func; which of a tuple.
    Read(String, Option<usize>),
    /// An inline reduction over the domain of that number; which of its results.
    Reduce(&'static str, usize, Option<usize>),
}

/// A reduction domain.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    /// Minimum and extent of each dimension.
    pub dims: Vec<(i64, i64)>,
    /// Conditions.
    pub wheres: Vec<Node>,
}

/// An update.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Update {
    /// Coordinates.
    pub args: Vec<Node>,
    /// A value for each element of the tuple.
    pub values: Vec<Node>,
    /// Directives on its loops, as `.unroll(r0.x)`.
    pub directives: Vec<String>,
    /// An `rfactor`, with what splits its loops.
    pub rfactor: Option<String>,
}

/// What a stage is at first.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// A definition: a value for each element of the tuple.
    Values(Vec<Node>),
    /// A boundary condition of a source; the limits of a Func, the value outside.
    Boundary(&'static str, String, Option<Vec<(i64, i64)>>, Option<Node>),
}

/// How a stage is scheduled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schedule {
    /// `compute_root`, or `compute_inline`.
    pub place: Option<&'static str>,
    /// `ipim_tile`.
    pub tile: Option<[u32; 2]>,
    /// `load_pgsm`, where it is tiled.
    pub pgsm: bool,
    /// `vectorize` by four, where it is tiled.
    pub vector: bool,
    /// `compute_at` and `store_at`, instead of `place`.
    pub at: Option<String>,
    /// Directives on its loops, as `.unroll(x, 2)`.
    pub loops: Vec<String>,
}

impl Schedule {
    /// Whether rounds of some loop run at once.
    pub fn runs_at_once(&self) -> bool {
        let at_once = |text: &String| text.contains("parallel") || text.contains("vectorize");
        self.vector || self.loops.iter().any(at_once)
    }
}

/// A Func.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// Its name.
    pub name: String,
    /// How many dimensions it has.
    pub dims: usize,
    /// The types of its values.
    pub types: Vec<ElementType>,
    /// Its definition.
    pub body: Body,
    /// Its updates.
    pub updates: Vec<Update>,
    /// Its schedule.
    pub schedule: Schedule,
    /// Where it is an output, its bounds.
    pub output: Option<Vec<(i64, i64)>>,
}

/// An input image.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    pub ty: ElementType,
    /// Its extents.
    pub extent: Vec<u32>,
    /// The seed of its elements.
    pub seed: u32,
}

/// A scalar parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: ElementType,
    /// Its default, as a literal.
    pub default: i64,
    /// Its value.
    pub value: i64,
}

/// A pipeline and how it is run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Case {
    /// The machine's name.
    pub machine: &'static str,
    /// Whether inputs are declared; otherwise they are floats with repeated edges.
    pub declared: bool,
    /// Inputs.
    pub inputs: Vec<Input>,
    /// Parameters.
    pub params: Vec<Param>,
    /// Domains, by the number that names them.
    pub domains: Vec<Domain>,
    /// Funcs, producers first.
    pub stages: Vec<Stage>,
}

/// Names of Vars, in the order of dimensions.
pub const VARS: [&str; 4] = ["x", "y", "c", "d"];

/// Functions that the target computes to within some ulp.
const INEXACT: [&str; 8] = ["sqrt", "exp", "log", "sin", "cos", "tanh", "atan", "pow"];

/// The name of a type in C.
pub fn c_name(ty: ElementType) -> &'static str {
    match ty {
        ElementType::Bool => "bool",
        ElementType::U8 => "uint8_t",
        ElementType::U16 => "uint16_t",
        ElementType::U32 => "uint32_t",
        ElementType::I8 => "int8_t",
        ElementType::I16 => "int16_t",
        ElementType::I32 => "int32_t",
        ElementType::F32 => "float",
    }
}

impl Node {
    /// A node without operands.
    pub fn leaf(ty: ElementType, op: Op) -> Node {
        Node { ty, op, kids: vec![] }
    }

    /// An integer coordinate.
    pub fn int(value: i64) -> Node {
        Node::leaf(ElementType::I32, Op::Literal(value))
    }

    /// A Var or variable of a domain.
    pub fn name(name: &str) -> Node {
        Node::leaf(ElementType::I32, Op::Name(name.to_string()))
    }

    /// An operator between two operands.
    pub fn infix(op: &'static str, ty: ElementType, a: Node, b: Node) -> Node {
        Node { ty, op: Op::Infix(op), kids: vec![a, b] }
    }

    /// A function of the language.
    pub fn function(name: &'static str, ty: ElementType, kids: Vec<Node>) -> Node {
        Node { ty, op: Op::Function(name), kids }
    }

    /// A conversion, where one is needed.
    pub fn cast(self, ty: ElementType) -> Node {
        if self.ty == ty { self } else { Node { ty, op: Op::Cast, kids: vec![self] } }
    }

    /// Calls `visit` for the node and all below it.
    pub fn each(&self, visit: &mut dyn FnMut(&Node)) {
        visit(self);
        self.kids.iter().for_each(|kid| kid.each(visit));
    }

    fn each_mut(&mut self, visit: &mut dyn FnMut(&mut Node)) {
        visit(self);
        self.kids.iter_mut().for_each(|kid| kid.each_mut(visit));
    }

    fn write(&self, out: &mut String) {
        let list = |out: &mut String| {
            for (n, kid) in self.kids.iter().enumerate() {
                out.push_str(if n > 0 { ", " } else { "" });
                kid.write(out);
            }
        };
        match &self.op {
            Op::Literal(value) => match self.ty {
                ElementType::F32 if *value < 0 => {
                    let _ = write!(out, "({:?}f)", *value as f32 / 4.0);
                }
                ElementType::F32 => {
                    let _ = write!(out, "{:?}f", *value as f32 / 4.0);
                }
                ElementType::Bool => {
                    out.push_str(if *value != 0 { "cast<bool>(1)" } else { "cast<bool>(0)" })
                }
                ElementType::I32 if *value < 0 => {
                    let _ = write!(out, "({value})");
                }
                ElementType::I32 => {
                    let _ = write!(out, "{value}");
                }
                ty => {
                    let _ = write!(out, "cast<{}>({value})", c_name(ty));
                }
            },
            Op::Name(name) | Op::Param(name) => out.push_str(name),
            Op::Infix(op) => {
                out.push('(');
                self.kids[0].write(out);
                let _ = write!(out, " {op} ");
                self.kids[1].write(out);
                out.push(')');
            }
            Op::Prefix(op) => {
                let _ = write!(out, "({op}");
                self.kids[0].write(out);
                out.push(')');
            }
            Op::Function(name) => {
                let _ = write!(out, "{name}(");
                list(out);
                out.push(')');
            }
            Op::Cast => {
                let _ = write!(out, "cast<{}>(", c_name(self.ty));
                list(out);
                out.push(')');
            }
            Op::Saturate => {
                let _ = write!(out, "saturating_cast<{}>(", c_name(self.ty));
                list(out);
                out.push(')');
            }
            Op::Mux => {
                out.push_str("mux(");
                self.kids[0].write(out);
                let rest: Vec<String> = self.kids[1..].iter().map(Node::text).collect();
                let _ = write!(out, ", {{{}}})", rest.join(", "));
            }
            Op::Read(name, value) => {
                let _ = write!(out, "{name}(");
                list(out);
                out.push(')');
                if let Some(value) = value {
                    let _ = write!(out, "[{value}]");
                }
            }
            Op::Reduce(name, domain, which) => {
                let _ = write!(out, "{name}(r{domain}, ");
                list(out);
                out.push(')');
                if let Some(which) = which {
                    let _ = write!(out, "[{which}]");
                }
            }
        }
    }

    /// A literal without its type.
    fn plain(&self) -> String {
        match (&self.op, self.ty) {
            (Op::Literal(value), ElementType::F32) => format!("{:?}", *value as f32 / 4.0),
            (Op::Literal(value), ElementType::Bool) => (*value != 0).to_string(),
            (Op::Literal(value), _) => value.to_string(),
            _ => self.text(),
        }
    }

    /// Its text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }
}

impl Stage {
    /// Every expression of the stage.
    pub fn roots(&self) -> Vec<&Node> {
        let mut roots: Vec<&Node> = match &self.body {
            Body::Values(values) => values.iter().collect(),
            Body::Boundary(.., value) => value.iter().collect(),
        };
        for update in &self.updates {
            roots.extend(update.args.iter().chain(&update.values));
        }
        roots
    }

    fn roots_mut(&mut self) -> Vec<&mut Node> {
        let mut roots: Vec<&mut Node> = match &mut self.body {
            Body::Values(values) => values.iter_mut().collect(),
            Body::Boundary(.., value) => value.iter_mut().collect(),
        };
        for update in &mut self.updates {
            roots.extend(update.args.iter_mut().chain(&mut update.values));
        }
        roots
    }

    /// The numbers of the domains that it names.
    pub fn domains(&self) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        for root in self.roots() {
            root.each(&mut |node| match &node.op {
                Op::Reduce(_, domain, _) => drop(found.insert(*domain)),
                Op::Name(name) => {
                    let number = name.strip_prefix('r').and_then(|n| n.split('.').next());
                    found.extend(number.and_then(|n| n.parse::<usize>().ok()));
                }
                _ => {}
            });
        }
        found
    }
}

impl Case {
    /// Calls `visit` for every node, conditions of domains first.
    pub fn each_node_mut(&mut self, visit: &mut dyn FnMut(&mut Node)) {
        for domain in &mut self.domains {
            domain.wheres.iter_mut().for_each(|node| node.each_mut(visit));
        }
        for stage in &mut self.stages {
            stage.roots_mut().into_iter().for_each(|node| node.each_mut(visit));
        }
    }

    /// The names that a stage reads.
    pub fn reads(&self, stage: &Stage) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        if let Body::Boundary(_, source, ..) = &stage.body {
            found.insert(source.clone());
        }
        let domains = stage.domains();
        let wheres = domains.iter().flat_map(|&d| &self.domains[d].wheres);
        for root in stage.roots().into_iter().chain(wheres) {
            root.each(&mut |node| {
                if let Op::Read(name, _) = &node.op {
                    found.insert(name.clone());
                }
            });
        }
        found
    }

    /// Drops stages and inputs that no output needs.
    pub fn drop_unused(&mut self) {
        let mut needed: BTreeSet<String> = BTreeSet::new();
        for stage in self.stages.iter().rev() {
            if stage.output.is_some() || needed.contains(&stage.name) {
                needed.insert(stage.name.clone());
                needed.extend(self.reads(stage));
            }
        }
        self.stages.retain(|stage| needed.contains(&stage.name));
        self.inputs.retain(|input| needed.contains(&input.name));
        let mut used: BTreeSet<String> = BTreeSet::new();
        for stage in &self.stages {
            let wheres = stage.domains().into_iter().flat_map(|d| &self.domains[d].wheres);
            for root in stage.roots().into_iter().chain(wheres) {
                root.each(&mut |node| {
                    if let Op::Param(name) = &node.op {
                        used.insert(name.clone());
                    }
                });
            }
        }
        self.params.retain(|param| used.contains(&param.name));
    }

    /// Whether some operation is exact only to within some ulp.
    fn inexact(&self) -> bool {
        let mut found = false;
        for root in self.stages.iter().flat_map(Stage::roots) {
            root.each(&mut |node| {
                found |= node.ty.is_float()
                    && match &node.op {
                        Op::Infix(op) => *op == "/",
                        Op::Function(name) => INEXACT.contains(name),
                        _ => false,
                    };
            });
        }
        found
    }

    /// Halves the outputs and domains; false where there is nothing to halve.
    pub fn halve(&mut self) -> bool {
        let outputs = self.stages.iter_mut().filter_map(|s| s.output.as_mut()).flatten();
        let dims = self.domains.iter_mut().flat_map(|d| &mut d.dims);
        let mut any = false;
        for (_, extent) in outputs.chain(dims).filter(|(_, extent)| *extent > 4) {
            *extent /= 2;
            any = true;
        }
        any
    }

    /// The source text, with how to run it.
    pub fn text(&self) -> String {
        let mut out = format!("// run: machine={}\n", self.machine);
        for input in &self.inputs {
            let extent: Vec<String> = input.extent.iter().map(u32::to_string).collect();
            let _ =
                writeln!(out, "// input {}: {} seed {}", input.name, extent.join("x"), input.seed);
        }
        for param in &self.params {
            let value = Node::leaf(param.ty, Op::Literal(param.value)).plain();
            let _ = writeln!(out, "// param {}={value}", param.name);
        }
        if self.inexact() {
            out.push_str("// inexact\n");
        }
        for param in &self.params {
            let default = Node::leaf(param.ty, Op::Literal(param.default)).plain();
            let f = if param.ty.is_float() { "f" } else { "" };
            let _ = writeln!(out, "Param<{}> {} = {default}{f};", c_name(param.ty), param.name);
        }
        if self.declared {
            for Input { name, ty, extent, .. } in &self.inputs {
                let ty = match ty {
                    ElementType::Bool => "Bool()".to_string(),
                    ElementType::F32 => "Float(32)".to_string(),
                    ty if ty.is_signed() => format!("Int({})", ty.bits()),
                    ty => format!("UInt({})", ty.bits()),
                };
                let _ = writeln!(out, "ImageParam {name}({ty}, {});", extent.len());
            }
        }
        for stage in &self.stages {
            self.definitions(stage, &mut out);
        }
        for stage in &self.stages {
            directives(stage, &mut out);
        }
        out
    }

    fn definitions(&self, stage: &Stage, out: &mut String) {
        let name = &stage.name;
        for domain in stage.domains() {
            let dims = &self.domains[domain].dims;
            let dims: Vec<String> =
                dims.iter().map(|(min, extent)| format!("{min}, {extent}")).collect();
            let _ = writeln!(out, "RDom r{domain}({});", dims.join(", "));
            for condition in &self.domains[domain].wheres {
                let _ = writeln!(out, "r{domain}.where({});", condition.text());
            }
        }
        let left = |args: &[String]| format!("{name}({})", args.join(", "));
        let right = |values: &[Node]| {
            let texts: Vec<String> = values.iter().map(Node::text).collect();
            if texts.len() == 1 { texts[0].clone() } else { format!("Tuple({})", texts.join(", ")) }
        };
        let vars: Vec<String> = VARS[..stage.dims].iter().map(|v| v.to_string()).collect();
        match (&stage.body, &stage.output) {
            (Body::Values(values), Some(_)) if values.len() == 1 => {
                let ty = c_name(stage.types[0]);
                let _ = writeln!(out, "Output<Buffer<{ty}, {}>> {name};", stage.dims);
                let _ = writeln!(out, "{} = {};", left(&vars), right(values));
            }
            (Body::Values(values), _) => {
                let _ = writeln!(out, "Func {} = {};", left(&vars), right(values));
            }
            (Body::Boundary(kind, source, limits, value), _) => {
                let _ = write!(out, "Func {name} = BoundaryConditions::{kind}({source}");
                if let Some(value) = value {
                    let _ = write!(out, ", {}", value.text());
                }
                if let Some(limits) = limits {
                    let limits: Vec<String> =
                        limits.iter().map(|(min, extent)| format!("{{{min}, {extent}}}")).collect();
                    let _ = write!(out, ", {{{}}}", limits.join(", "));
                }
                let _ = writeln!(out, ");");
            }
        }
        for update in &stage.updates {
            let args: Vec<String> = update.args.iter().map(Node::text).collect();
            let _ = writeln!(out, "{} = {};", left(&args), right(&update.values));
        }
        // An `rfactor` comes before any use, and in one line so that it can be left out.
        for (k, update) in stage.updates.iter().enumerate() {
            if let Some(rfactor) = &update.rfactor {
                let part = format!("{name}_part{k}");
                let made = format!("{name}.update({k}){rfactor}");
                let _ = writeln!(out, "Func {part} = {made}; {part}.compute_root();");
            }
        }
    }
}

fn directives(stage: &Stage, out: &mut String) {
    let name = &stage.name;
    let mut directives = String::new();
    let schedule = &stage.schedule;
    match (&schedule.at, schedule.place) {
        (Some(at), _) => directives += at,
        (None, Some(place)) => {
            let _ = write!(directives, ".{place}()");
        }
        (None, None) => {}
    }
    if let Some([width, height]) = schedule.tile {
        let (loops, inner) = match stage.dims {
            1 => (format!("x, xi, {width}"), "xi"),
            _ => (format!("x, y, xi, yi, {width}, {height}"), "xi, yi"),
        };
        let _ = write!(directives, ".ipim_tile({loops})");
        if schedule.pgsm {
            let _ = write!(directives, ".load_pgsm({inner})");
        }
        if schedule.vector {
            let _ = write!(directives, ".vectorize(xi, 4)");
        }
    }
    directives.extend(schedule.loops.iter().map(String::as_str));
    for (var, (min, extent)) in VARS.iter().zip(stage.output.iter().flatten()) {
        let _ = write!(directives, ".bound({var}, {min}, {extent})");
    }
    if !directives.is_empty() {
        let _ = writeln!(out, "{name}{directives};");
    }
    for (k, update) in stage.updates.iter().enumerate() {
        if !update.directives.is_empty() {
            let _ = writeln!(out, "{name}.update({k}){};", update.directives.concat());
        }
    }
}
