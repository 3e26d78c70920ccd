//! The text form of a stage graph, for `--emit stages` and for dumps between passes.
//!
//! A Func is `define func @name(vars) : types {` up to a lone `}`. Expressions read like the
//! language; what is used more than once, or is long, gets a line `tN = ...` of its own before its
//! first use. The text is for reading; nothing parses it.

use std::fmt::{self, Write};

use cranelift_entity::SecondaryMap;
use nbcc_base::text::symbol;

use crate::bounds::{Bounds, region_text};
use crate::{
    BinaryOp, CompareOp, Directive, DirectiveArg, DirectiveKind, ElementType, Expr, ExprKind, Func,
    Intrinsic, Literal, Pipeline, RDom, Schedule, UnaryOp, Walker,
};

/// An expression longer than this many bytes gets a line of its own.
const MAX_INLINE: usize = 72;

/// The names of a reduction domain's variables.
const RVARS: [&str; 4] = ["x", "y", "z", "w"];

/// The text of a pipeline; with bounds, the regions too.
pub fn print(pipeline: &Pipeline, bounds: Option<&Bounds>) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = Printer { pipeline, walker: Walker::default(), bounds }.pipeline(&mut text);
    text
}

/// A directive as it is written in the language, without the dot before it.
pub fn directive_text(pipeline: &Pipeline, directive: &Directive) -> String {
    let mut walker = Walker::default();
    let mut inline = |expr: Expr| {
        let mut lines = String::new();
        let mut terms = Terms::new(pipeline, None);
        terms.add(&mut lines, &mut walker, &[expr]);
        terms.text(expr)
    };
    let with = |name: &str, args: &[String]| format!("{name}({})", args.join(", "));
    let var = |name: &String| name.replace('$', ".");
    let func = |func: &Func| pipeline.funcs[*func].name.clone();
    match &directive.kind {
        DirectiveKind::ComputeRoot => with("compute_root", &[]),
        DirectiveKind::ComputeInline => with("compute_inline", &[]),
        DirectiveKind::ComputeAt { func: f, var: v } => with("compute_at", &[func(f), var(v)]),
        DirectiveKind::StoreRoot => with("store_root", &[]),
        DirectiveKind::StoreAt { func: f, var: v } => with("store_at", &[func(f), var(v)]),
        DirectiveKind::Split { old, outer, inner, factor } => {
            with("split", &[var(old), var(outer), var(inner), factor.to_string()])
        }
        DirectiveKind::Fuse { inner, outer, fused } => {
            with("fuse", &[var(inner), var(outer), var(fused)])
        }
        DirectiveKind::Reorder(vars) => with("reorder", &vars.iter().map(var).collect::<Vec<_>>()),
        DirectiveKind::Vectorize { var: v, width: number } => {
            with("vectorize", &optional(var(v), *number))
        }
        DirectiveKind::Unroll { var: v, factor: number } => {
            with("unroll", &optional(var(v), *number))
        }
        DirectiveKind::Parallel(v) => with("parallel", &[var(v)]),
        DirectiveKind::Bound { var: v, min, extent } => {
            with("bound", &[var(v), inline(*min), inline(*extent)])
        }
        DirectiveKind::SetEstimate { var: v, min, extent } => {
            with("set_estimate", &[var(v), inline(*min), inline(*extent)])
        }
        DirectiveKind::Rfactor(pairs) if pairs.len() == 1 => {
            with("rfactor", &[var(&pairs[0].0), var(&pairs[0].1)])
        }
        DirectiveKind::Rfactor(pairs) => {
            let pairs: Vec<String> =
                pairs.iter().map(|(r, v)| format!("{{{}, {}}}", var(r), var(v))).collect();
            with("rfactor", &[format!("{{{}}}", pairs.join(", "))])
        }
        DirectiveKind::Target { name, args } => {
            let arg = |a: &DirectiveArg| match a {
                DirectiveArg::Var(v) => var(v),
                DirectiveArg::Int(n) => n.to_string(),
            };
            with(name, &args.iter().map(arg).collect::<Vec<_>>())
        }
    }
}

fn optional(var: String, number: Option<i64>) -> Vec<String> {
    std::iter::once(var).chain(number.map(|n| n.to_string())).collect()
}

struct Printer<'a> {
    pipeline: &'a Pipeline,
    walker: Walker,
    bounds: Option<&'a Bounds>,
}

impl Printer<'_> {
    fn pipeline(&mut self, out: &mut String) -> fmt::Result {
        let p = self.pipeline;
        writeln!(out, "; pipeline {}", p.name)?;
        for data in p.inputs.values() {
            let edge = if data.repeat_edge { ", repeat_edge" } else { "" };
            writeln!(
                out,
                "input @{} : {} of {} dimensions{edge}",
                symbol(&data.name),
                data.ty,
                data.dims
            )?;
        }
        for data in p.params.values() {
            write!(out, "param @{} : {}", symbol(&data.name), data.ty)?;
            match data.default {
                Some(literal) => writeln!(out, " = {}", literal_text(literal))?,
                None => writeln!(out)?,
            }
        }
        for rdom in p.rdoms.keys() {
            self.rdom(out, rdom)?;
        }
        for func in p.funcs.keys() {
            writeln!(out)?;
            self.func(out, func)?;
        }
        let outputs: Vec<String> =
            p.outputs.iter().map(|&f| format!("@{}", symbol(&p.funcs[f].name))).collect();
        writeln!(out, "\noutput {}", outputs.join(", "))
    }

    fn rdom(&mut self, out: &mut String, rdom: RDom) -> fmt::Result {
        let data = &self.pipeline.rdoms[rdom];
        let roots: Vec<Expr> = data.dims.iter().flat_map(|&(min, extent)| [min, extent]).collect();
        let mut terms = Terms::new(self.pipeline, None);
        terms.add(out, &mut self.walker, &roots);
        let bounds: Vec<String> = roots.iter().map(|&e| terms.text(e)).collect();
        writeln!(out, "rdom @{}({})", symbol(&data.name), bounds.join(", "))
    }

    fn func(&mut self, out: &mut String, func: Func) -> fmt::Result {
        let data = &self.pipeline.funcs[func];
        let types: Vec<String> = data.types.iter().map(|t| t.to_string()).collect();
        let types = types.join(", ");
        writeln!(
            out,
            "define func @{}({}) : {types} {{",
            symbol(&data.name),
            data.vars.join(", ")
        )?;
        let bounds = self.bounds.and_then(|b| b.funcs[func].as_ref());
        match bounds {
            Some(bounds) => writeln!(out, "  ; computed over {}", region_text(&bounds.region))?,
            None if self.bounds.is_some() => writeln!(out, "  ; not computed")?,
            None => {}
        }
        self.schedule(out, &data.schedule)?;
        let mut terms = Terms::new(self.pipeline, Some(func));
        if let Some(pure) = &data.pure {
            terms.add(out, &mut self.walker, &pure.values);
            let left = format!("{}({})", data.name, data.vars.join(", "));
            writeln!(out, "  {left} = {}", terms.tuple(&pure.values))?;
        }
        for (k, update) in data.updates.iter().enumerate() {
            write!(out, "  ; update {k}")?;
            match bounds.map(|b| &b.stages[k + 1]) {
                Some(Some(loops)) => {
                    let pure =
                        (0..data.vars.len()).filter(|&d| update.is_pure_dim(self.pipeline, d));
                    let dims = pure.map(|d| format!(" {} = {}", data.vars[d], loops.dims[d]));
                    let name = update.rdom.map_or("", |r| &self.pipeline.rdoms[r].name);
                    let rvars = loops.rvars.iter().zip(RVARS);
                    let rvars = rvars.map(|(i, var)| format!(" {name}.{var} = {i}"));
                    let all: Vec<String> = dims.chain(rvars).collect();
                    write!(out, ":{}", all.join(","))?;
                }
                Some(None) => write!(out, " never runs")?,
                None => {}
            }
            writeln!(out)?;
            self.schedule(out, &update.schedule)?;
            let roots: Vec<Expr> = update.roots(self.pipeline).collect();
            terms.add(out, &mut self.walker, &roots);
            let args: Vec<String> = update.args.iter().map(|&a| terms.text(a)).collect();
            write!(out, "  {}({}) = {}", data.name, args.join(", "), terms.tuple(&update.values))?;
            let predicates = update.rdom.map_or(&[][..], |r| &self.pipeline.rdoms[r].predicates);
            for (n, &predicate) in predicates.iter().enumerate() {
                let word = if n == 0 { " where" } else { " and" };
                write!(out, "{word} {}", terms.text(predicate))?;
            }
            writeln!(out)?;
        }
        writeln!(out, "}}")
    }

    fn schedule(&self, out: &mut String, schedule: &Schedule) -> fmt::Result {
        for directive in &schedule.directives {
            writeln!(out, "  .{}", directive_text(self.pipeline, directive))?;
        }
        Ok(())
    }
}

/// The texts of expressions in one Func.
struct Terms<'a> {
    pipeline: &'a Pipeline,
    func: Option<Func>,
    /// Text and binding strength of what was added.
    texts: SecondaryMap<Expr, Option<(String, u8)>>,
    lines: usize,
}

/// Binding strengths, as in C.
const ATOM: u8 = 20;
const PREFIX: u8 = 15;

impl<'a> Terms<'a> {
    fn new(pipeline: &'a Pipeline, func: Option<Func>) -> Terms<'a> {
        Terms { pipeline, func, texts: SecondaryMap::new(), lines: 0 }
    }

    /// Makes the texts of `roots`, with lines for what is shared or long.
    fn add(&mut self, out: &mut String, walker: &mut Walker, roots: &[Expr]) {
        let order = walker.reachable(self.pipeline, roots.iter().copied());
        let mut uses: SecondaryMap<Expr, u32> = SecondaryMap::new();
        for &expr in &order {
            self.pipeline.exprs[expr].kind.each_operand(|operand| uses[operand] += 1);
        }
        for &expr in &order {
            if self.texts[expr].is_some() {
                continue;
            }
            let (text, strength) = self.spell(expr);
            let leaf = matches!(strength, ATOM) && text.len() <= 16;
            let shared = uses[expr] > 1 && !leaf && text.len() > 8;
            self.texts[expr] = if shared || (uses[expr] > 0 && text.len() > MAX_INLINE) {
                let name = format!("t{}", self.lines);
                self.lines += 1;
                let _ = writeln!(out, "  {name} = {text}");
                Some((name, ATOM))
            } else {
                Some((text, strength))
            };
        }
    }

    fn text(&self, expr: Expr) -> String {
        self.at_least(expr, 0)
    }

    fn at_least(&self, expr: Expr, strength: u8) -> String {
        match &self.texts[expr] {
            Some((text, own)) if *own >= strength => text.clone(),
            Some((text, _)) => format!("({text})"),
            None => panic!("{expr:?} was not added"),
        }
    }

    fn tuple(&self, values: &[Expr]) -> String {
        match values {
            [value] => self.text(*value),
            values => {
                format!(
                    "{{{}}}",
                    values.iter().map(|&v| self.text(v)).collect::<Vec<_>>().join(", ")
                )
            }
        }
    }

    fn call(&self, name: &str, args: &[Expr]) -> (String, u8) {
        let args: Vec<String> = args.iter().map(|&a| self.text(a)).collect();
        (format!("{name}({})", args.join(", ")), ATOM)
    }

    fn infix(&self, op: &str, strength: u8, a: Expr, b: Expr) -> (String, u8) {
        let (a, b) = (self.at_least(a, strength), self.at_least(b, strength + 1));
        (format!("{a} {op} {b}"), strength)
    }

    fn spell(&self, expr: Expr) -> (String, u8) {
        let p = self.pipeline;
        let data = &p.exprs[expr];
        let is_bool = data.ty == ElementType::Bool;
        match &data.kind {
            ExprKind::Literal(Literal::Int(v)) if is_bool => ((*v != 0).to_string(), ATOM),
            ExprKind::Literal(literal) => {
                let text = literal_text(*literal);
                let strength = if text.starts_with('-') { PREFIX } else { ATOM };
                (text, strength)
            }
            ExprKind::Dim(n) => {
                let name = self.func.and_then(|f| p.funcs[f].vars.get(*n as usize));
                (name.map_or_else(|| format!("_{n}"), |n| n.clone()), ATOM)
            }
            ExprKind::RVar(rdom, n) => {
                let var = RVARS.get(*n as usize).unwrap_or(&"?");
                (format!("{}.{var}", p.rdoms[*rdom].name), ATOM)
            }
            ExprKind::Param(param) => (p.params[*param].name.clone(), ATOM),
            ExprKind::InputExtent(input, d) => {
                (format!("{}.dim({d}).extent()", p.inputs[*input].name), ATOM)
            }
            ExprKind::Load(input, args) => self.call(&p.inputs[*input].name, args),
            ExprKind::Call(func, k, args) => {
                let (text, strength) = self.call(&p.funcs[*func].name, args);
                if p.funcs[*func].types.len() > 1 {
                    (format!("{text}[{k}]"), ATOM)
                } else {
                    (text, strength)
                }
            }
            ExprKind::Unary(op, a) => {
                let sign = match op {
                    UnaryOp::Neg => "-",
                    UnaryOp::Not => "!",
                    UnaryOp::BitNot => "~",
                    UnaryOp::Abs => return self.call("abs", &[*a]),
                };
                (format!("{sign}{}", self.at_least(*a, PREFIX + 1)), PREFIX)
            }
            ExprKind::Binary(op, a, b) => {
                let (sign, strength) = match op {
                    BinaryOp::Mul => ("*", 12),
                    BinaryOp::Div => ("/", 12),
                    BinaryOp::Mod => ("%", 12),
                    BinaryOp::Add => ("+", 11),
                    BinaryOp::Sub => ("-", 11),
                    BinaryOp::Shl => ("<<", 10),
                    BinaryOp::Shr => (">>", 10),
                    BinaryOp::And if is_bool => ("&&", 4),
                    BinaryOp::Or if is_bool => ("||", 3),
                    BinaryOp::And => ("&", 7),
                    BinaryOp::Xor => ("^", 6),
                    BinaryOp::Or => ("|", 5),
                    BinaryOp::Min => return self.call("min", &[*a, *b]),
                    BinaryOp::Max => return self.call("max", &[*a, *b]),
                };
                self.infix(sign, strength, *a, *b)
            }
            ExprKind::Compare(op, a, b) => {
                let (sign, strength) = match op {
                    CompareOp::Lt => ("<", 9),
                    CompareOp::Le => ("<=", 9),
                    CompareOp::Gt => (">", 9),
                    CompareOp::Ge => (">=", 9),
                    CompareOp::Eq => ("==", 8),
                    CompareOp::Ne => ("!=", 8),
                };
                self.infix(sign, strength, *a, *b)
            }
            ExprKind::Select(c, a, b) => self.call("select", &[*c, *a, *b]),
            ExprKind::Cast(a) => self.call(&format!("cast<{}>", data.ty), &[*a]),
            ExprKind::Reinterpret(a) => self.call(&format!("reinterpret<{}>", data.ty), &[*a]),
            ExprKind::Intrinsic(op, args) => self.call(intrinsic_name(*op), args),
        }
    }
}

/// A literal as the language writes it.
pub fn literal_text(literal: Literal) -> String {
    match literal {
        Literal::Int(value) => value.to_string(),
        Literal::Float(bits) => {
            let value = f32::from_bits(bits);
            if value.is_finite() {
                format!("{value:?}f")
            } else {
                format!("float_bits(0x{bits:08x})")
            }
        }
    }
}

/// The name of a function in the language.
pub fn intrinsic_name(op: Intrinsic) -> &'static str {
    match op {
        Intrinsic::Floor => "floor",
        Intrinsic::Ceil => "ceil",
        Intrinsic::Round => "round",
        Intrinsic::Trunc => "trunc",
        Intrinsic::Sqrt => "sqrt",
        Intrinsic::Exp => "exp",
        Intrinsic::Log => "log",
        Intrinsic::Pow => "pow",
        Intrinsic::Sin => "sin",
        Intrinsic::Cos => "cos",
        Intrinsic::Tan => "tan",
        Intrinsic::Asin => "asin",
        Intrinsic::Acos => "acos",
        Intrinsic::Atan => "atan",
        Intrinsic::Atan2 => "atan2",
        Intrinsic::Sinh => "sinh",
        Intrinsic::Cosh => "cosh",
        Intrinsic::Tanh => "tanh",
        Intrinsic::FastExp => "fast_exp",
        Intrinsic::FastLog => "fast_log",
        Intrinsic::FastPow => "fast_pow",
        Intrinsic::FastInverse => "fast_inverse",
        Intrinsic::FastInverseSqrt => "fast_inverse_sqrt",
    }
}
