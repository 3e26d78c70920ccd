//! Schedule directives: their shape, and the names of the loops they speak of. Whether a directive
//! is legal is decided later, when loop nests are known.

pub(crate) mod directives;
mod loops;
mod queries;
mod rfactor;
mod unfollowed;

use nbcc_base::nearest;
use nbcc_base::{Diagnostic, Failed, Span};
use nbcc_stages::{DirectiveArg, DirectiveKind, ParamKind};

use crate::codes;
use crate::elab::stmt::count;
use crate::elab::{Elab, Result};
use crate::pipeline::hir::{DefinitionInfo, DirectiveInfo, FuncId, PendingDirective};
use crate::pipeline::ops::Spanned;
use crate::schedule::directives::{DIRECTIVES, HALIDE_ONLY, TAIL_STRATEGIES};
use crate::schedule::queries::QUERIES;
use crate::syntax::ast::Ident;
use crate::value::Value;

/// The schedule that a directive belongs to.
#[derive(Clone, Copy)]
struct Target {
    func: FuncId,
    update: Option<u32>,
    /// From the directive's name to its closing parenthesis.
    span: Span,
}

/// What applies to a Func, not to one of its updates.
const WHOLE_FUNC: [&str; 9] = [
    "compute_root",
    "compute_inline",
    "compute_at",
    "store_root",
    "store_at",
    "bound",
    "set_estimate",
    "set_estimates",
    "update",
];

impl Elab<'_> {
    fn definition(&mut self, t: Target) -> &mut DefinitionInfo {
        let info = &mut self.hir.funcs[t.func];
        match t.update {
            None => info.pure.as_mut().expect("only defined Funcs are scheduled"),
            Some(k) => &mut info.updates[k as usize],
        }
    }

    fn add(&mut self, t: Target, kind: DirectiveKind) {
        self.add_pending(t, PendingDirective::Ready(kind));
    }

    fn add_pending(&mut self, t: Target, kind: PendingDirective) {
        let span = t.span;
        self.definition(t).schedule.push(DirectiveInfo { kind, span });
    }

    /// `func.name(args)` or `func.update(k).name(args)`; gives what the next directive of the
    /// chain applies to.
    pub(crate) fn directive(
        &mut self,
        func: FuncId,
        update: Option<u32>,
        name: Ident,
        args: &[Spanned],
        whole: Span,
    ) -> Result<Value> {
        let text = self.names.text(name.name).to_owned();
        let info = &self.hir.funcs[func];
        if info.poisoned {
            return Err(Failed);
        }
        if let Some(answer) = self.query(func, name, args, whole)? {
            return Ok(answer);
        }
        let info = &self.hir.funcs[func];
        if info.pure.is_none() {
            if self.aborted {
                return Err(Failed);
            }
            let func_name = info.name.clone();
            return self.fail(
                Diagnostic::error(
                    &codes::UNDEFINED_FUNC,
                    format!("`{func_name}` is scheduled before it is defined"),
                )
                .at(name.span, "has no loops yet")
                .help("write its schedule after its definition"),
            );
        }
        self.work(1, whole)?;
        let t = Target { func, update, span: Span { start: name.span.start, ..whole } };
        let result = match update {
            None => Value::Func(func),
            Some(k) => Value::Stage(func, k),
        };
        if update.is_some() && WHOLE_FUNC.contains(&text.as_str()) {
            return self.fail(
                Diagnostic::error(
                    &codes::NOT_FOR_UPDATES,
                    format!("`{text}` applies to a Func, not to one of its updates"),
                )
                .at(name.span, "follows `update`")
                .help(format!(
                    "write `{}.{text}(...)` in a statement of its own",
                    self.hir.funcs[func].name.clone()
                )),
            );
        }
        match text.as_str() {
            "compute_root" => self.bare(t, &text, args, DirectiveKind::ComputeRoot)?,
            "compute_inline" => self.bare(t, &text, args, DirectiveKind::ComputeInline)?,
            "store_root" => self.bare(t, &text, args, DirectiveKind::StoreRoot)?,
            "compute_at" => self.at_loop(t, &text, args, PendingDirective::ComputeAt)?,
            "store_at" => self.at_loop(t, &text, args, PendingDirective::StoreAt)?,
            "split" => {
                let args = self.without_tail(args);
                self.take(&text, &args, 4, t.span)?;
                let factor = self.size(&args[3], &text)?;
                self.split(t, &args[0], &args[1], &args[2], factor)?;
            }
            "tile" => self.tile(t, args)?,
            "fuse" => self.fuse(t, args)?,
            "reorder" => self.reorder_loops(t, args)?,
            "vectorize" | "unroll" | "parallel" => self.mark_loop(t, &text, args)?,
            "bound" | "set_estimate" | "estimate" => {
                self.take(&text, args, 3, t.span)?;
                self.bound(t, &args[0], &args[1], &args[2], text != "bound")?;
            }
            "set_estimates" => {
                self.take(&text, args, 1, t.span)?;
                let vars = self.hir.funcs[func].vars.clone();
                let bounds = self.estimates_list(&args[0], vars.len())?;
                for (var, (min, extent)) in vars.iter().zip(&bounds) {
                    self.bound(t, &(Value::Var(*var), args[0].1), min, extent, true)?;
                }
            }
            "update" => return self.update_of(t, args),
            "rfactor" => return self.rfactor(func, update, args, t.span),
            _ => return self.other_directive(t, &text, name, args, result),
        }
        Ok(result)
    }

    /// A directive without arguments.
    fn bare(&mut self, t: Target, text: &str, args: &[Spanned], kind: DirectiveKind) -> Result<()> {
        self.take(text, args, 0, t.span)?;
        self.add(t, kind);
        Ok(())
    }

    /// `compute_at` and `store_at`: at a loop of another Func.
    fn at_loop(
        &mut self,
        t: Target,
        text: &str,
        args: &[Spanned],
        kind: fn(FuncId, String) -> PendingDirective,
    ) -> Result<()> {
        self.take(text, args, 2, t.span)?;
        if matches!(args[0].0, Value::Unfollowed) {
            self.not_followed(text, "the Func that it names is not made", args[0].1);
            return Ok(());
        }
        let Value::Func(at) = args[0].0 else {
            let what = args[0].0.what();
            return self.fail(
                Diagnostic::error(
                    &codes::ARGUMENT_TYPE,
                    format!("the first argument of `{text}` is a Func"),
                )
                .at(args[0].1, format!("this is {what}"))
                .help(format!("write `{text}(g, y)`")),
            );
        };
        let var = self.loop_name(&args[1])?;
        self.add_pending(t, kind(at, var));
        Ok(())
    }

    /// `update(k)`: what its directives apply to.
    fn update_of(&mut self, t: Target, args: &[Spanned]) -> Result<Value> {
        let k = match args {
            [] => 0,
            [n] => self.constant_int(n, "the number of an update")?,
            _ => return self.take("update", args, 1, t.span).map(|()| Value::Func(t.func)),
        };
        let updates = self.hir.funcs[t.func].updates.len();
        if (0..updates as i64).contains(&i64::from(k)) {
            return Ok(Value::Stage(t.func, k as u32));
        }
        let func_name = self.hir.funcs[t.func].name.clone();
        let label = match updates {
            0 => "it has no updates".to_owned(),
            n => format!("it has {}, counted from 0", count(n, "update")),
        };
        self.fail(
            Diagnostic::error(&codes::UPDATE_NUMBER, format!("`{func_name}` has no update {k}"))
                .at(t.span, label)
                .help(match updates {
                    0 => "leave out `update`: the Func itself has loops".to_owned(),
                    1 => "write `update(0)`".to_owned(),
                    n => format!("write a number from 0 to {}", n - 1),
                }),
        )
    }

    fn other_directive(
        &mut self,
        t: Target,
        text: &str,
        name: Ident,
        args: &[Spanned],
        result: Value,
    ) -> Result<Value> {
        match text {
            "dim" => {
                self.take(text, args, 1, t.span)?;
                let dims = self.hir.funcs[t.func].vars.len();
                let n = self.dimension_number("the Func", dims, &args[0])?;
                Ok(Value::FuncDim(t.func, n))
            }
            _ if self.directives.iter().any(|d| d.name == text) => {
                self.target_directive(t, text, args)?;
                Ok(result)
            }
            _ => self.unknown_directive(name),
        }
    }

    /// Fails for a method of a Func that there is not, whatever its arguments are.
    pub(crate) fn known_method(&mut self, object: &Spanned, name: Ident) -> Result<()> {
        if !matches!(object.0, Value::Func(_) | Value::Stage(..)) {
            return Ok(());
        }
        let text = self.names.text(name.name);
        let known = QUERIES.contains(&text)
            || matches!(text, "dim" | "estimate")
            || DIRECTIVES.iter().any(|d| d.name == text)
            || self.directives.iter().any(|d| d.name == text);
        if known { Ok(()) } else { self.unknown_directive(name) }
    }

    fn unknown_directive<T>(&mut self, name: Ident) -> Result<T> {
        let text = self.names.text(name.name).to_owned();
        let text = text.as_str();
        if let Some((_, instead)) = HALIDE_ONLY.iter().find(|(known, _)| *known == text) {
            return self.fail(
                Diagnostic::error(
                    &codes::UNKNOWN_DIRECTIVE,
                    format!("the directive `{text}` of Halide is not supported"),
                )
                .at(name.span, "not supported")
                .help(*instead),
            );
        }
        let diagnostic =
            Diagnostic::error(&codes::UNKNOWN_DIRECTIVE, format!("unknown directive `{text}`"))
                .at(name.span, "not a directive");
        let known = DIRECTIVES.iter().map(|d| d.name).chain(self.directives.iter().map(|d| d.name));
        let near = nearest(text, known).map(str::to_owned);
        self.fail(diagnostic.help(match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "leave it out: docs/language-halide.md lists the directives".to_owned(),
        }))
    }

    /// `f.dim(k).name(args)`: what Halide says of the dimensions of outputs.
    pub(crate) fn func_dimension_method(
        &mut self,
        func: FuncId,
        dim: u32,
        name: Ident,
        args: &[Spanned],
        whole: Span,
    ) -> Result<Value> {
        let text = self.names.text(name.name).to_owned();
        match text.as_str() {
            "set_min" => {
                self.take(&text, args, 1, whole)?;
                self.not_followed(&text, "an output starts where it is asked for", name.span);
                Ok(Value::FuncDim(func, dim))
            }
            "set_extent" => {
                self.take(&text, args, 1, whole)?;
                self.not_followed(&text, "an output has the extent that is asked for", name.span);
                Ok(Value::FuncDim(func, dim))
            }
            "set_estimate" | "set_bounds_estimate" | "set_bounds" => {
                self.take(&text, args, 2, whole)?;
                let span = Span { start: name.span.start, ..whole };
                let var = (Value::Var(self.hir.funcs[func].vars[dim as usize]), name.span);
                let t = Target { func, update: None, span };
                self.bound(t, &var, &args[0], &args[1], text != "set_bounds")?;
                Ok(Value::FuncDim(func, dim))
            }
            "dim" => {
                self.take(&text, args, 1, whole)?;
                let dims = self.hir.funcs[func].vars.len();
                let n = self.dimension_number("the Func", dims, &args[0])?;
                Ok(Value::FuncDim(func, n))
            }
            _ => self.unknown_member(
                &Value::FuncDim(func, dim),
                name,
                &["set_bounds", "set_min", "set_extent", "set_stride", "set_estimate", "dim"],
            ),
        }
    }

    fn target_directive(&mut self, t: Target, text: &str, args: &[Spanned]) -> Result<()> {
        let info = self.directives.iter().find(|d| d.name == text).expect("the caller found it");
        let form = info.forms.iter().find(|form| match form.last() {
            Some(ParamKind::Vars) => args.len() + 1 >= form.len(),
            _ => args.len() == form.len(),
        });
        let Some(form) = form else {
            let given = count(args.len(), "argument");
            return self.fail(
                Diagnostic::error(
                    &codes::ARGUMENT_COUNT,
                    format!("wrong number of arguments for `{text}`"),
                )
                .at(t.span, format!("{given} given"))
                .help(format!("write `{}`", info.usage)),
            );
        };
        let mut values = Vec::new();
        let mut used: Vec<String> = Vec::new();
        let mut new = Vec::new();
        for (i, arg) in args.iter().enumerate() {
            let kind = form.get(i).copied().unwrap_or(ParamKind::Vars);
            values.push(match kind {
                ParamKind::Var | ParamKind::Vars => {
                    let var = self.existing(t, arg)?;
                    if used.contains(&var) {
                        return self.repeated(&var, arg.1);
                    }
                    used.push(var.clone());
                    DirectiveArg::Var(var)
                }
                ParamKind::NewVar => {
                    let var = self.fresh(t, arg, &[])?;
                    if new.contains(&var) {
                        return self.repeated(&var, arg.1);
                    }
                    new.push(var.clone());
                    DirectiveArg::Var(var)
                }
                ParamKind::Size => DirectiveArg::Int(self.size(arg, text)?),
            });
        }
        self.definition(t).loops.splice(0..0, new);
        self.add(t, DirectiveKind::Target { name: info.name, args: values });
        Ok(())
    }

    /// The arguments without a tail strategy at the end.
    fn without_tail(&mut self, args: &[Spanned]) -> Vec<Spanned> {
        if let Some((Value::Var(name), at)) = args.last() {
            let text = self.names.text(*name).to_owned();
            if TAIL_STRATEGIES.contains(&text.as_str()) {
                if !matches!(text.as_str(), "Auto" | "GuardWithIf") {
                    self.report(
                        Diagnostic::warning(
                            &codes::NO_EFFECT,
                            format!("the tail strategy `{text}` is not followed"),
                        )
                        .at(*at, "edges are guarded: no element outside is computed")
                        .help("leave it out, or write `TailStrategy::GuardWithIf`"),
                    );
                }
                return args[..args.len() - 1].to_vec();
            }
        }
        args.to_vec()
    }
}
