//! Where Funcs may be computed and stored: `compute_at` and `store_at` name a loop that encloses
//! every use.
//!
//! Consumers are visited before producers. The loops around a stage are those of the place where
//! its Func is computed and then its own; the places open to a producer are the loops that all its
//! uses have in common, as in Halide's scheduling of functions. Uses by Funcs that are computed
//! anew at each use count where those are used.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use nbcc_base::{Diagnostic, Diagnostics, Span};
use nbcc_stages::{DirectiveKind, ExprKind, Func, FuncData, Pipeline, Walker, is_inlined};

use super::super::{Stage, stage_roots};
use super::loops::{Loop, loops_of};
use super::{shown, stage_name};
use crate::codes;

/// Most stages that a message shows the loops of.
const MAX_SHOWN: usize = 4;

/// A loop around something.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Site {
    func: Func,
    stage: Stage,
    /// Its place among the loops of the stage, innermost first.
    place: usize,
}

/// Where a Func is to be computed.
#[derive(Clone, Debug)]
pub enum Level<'a> {
    /// Its schedule does not say: anew at each use or, of a Func with updates, next to each use.
    Inline,
    /// Before everything else.
    Root,
    /// Inside a loop.
    At(Func, &'a str, Span),
}

/// The place that a Func's schedule asks for: the last directive counts, as in Halide.
pub fn level(data: &FuncData) -> Level<'_> {
    let found = data.schedule.directives.iter().rev().find_map(|d| match &d.kind {
        DirectiveKind::ComputeRoot => Some(Level::Root),
        DirectiveKind::ComputeAt { func, var } => Some(Level::At(*func, var, d.span)),
        DirectiveKind::ComputeInline => Some(Level::Inline),
        _ => None,
    });
    found.unwrap_or(Level::Inline)
}

type Uses = BTreeMap<Func, BTreeSet<(Func, Stage)>>;

/// The stages that use each Func; those of Funcs computed anew at each use are replaced by the
/// stages that use those.
fn uses(pipeline: &Pipeline) -> Uses {
    let mut uses = Uses::new();
    let mut walker = Walker::default();
    for func in pipeline.funcs.keys().rev() {
        // What folding left without uses uses nothing.
        if !uses.contains_key(&func) && !pipeline.outputs.contains(&func) {
            continue;
        }
        let inlined = is_inlined(pipeline, func);
        let updates = pipeline.funcs[func].updates.len();
        let stages = std::iter::once(Stage::Pure).chain((0..updates).map(Stage::Update));
        for stage in stages {
            for expr in walker.reachable(pipeline, stage_roots(pipeline, func, stage)) {
                let ExprKind::Call(callee, ..) = pipeline.exprs[expr].kind else { continue };
                if callee == func {
                    continue;
                }
                if inlined {
                    let through = uses.get(&func).cloned().unwrap_or_default();
                    uses.entry(callee).or_default().extend(through);
                } else {
                    uses.entry(callee).or_default().insert((func, stage));
                }
            }
        }
    }
    uses
}

struct Levels<'a> {
    pipeline: &'a Pipeline,
    uses: Uses,
    loops: BTreeMap<(Func, Stage), Vec<Loop>>,
    /// The loops around each Func, outermost first.
    paths: BTreeMap<Func, Vec<Site>>,
    found: &'a mut Diagnostics,
}

/// Checks every `compute_at`, `store_at` and `store_root`.
pub fn check(pipeline: &Pipeline, found: &mut Diagnostics) {
    let places = |kind: &DirectiveKind| {
        matches!(
            kind,
            DirectiveKind::ComputeAt { .. }
                | DirectiveKind::StoreAt { .. }
                | DirectiveKind::StoreRoot
        )
    };
    let any = |data: &FuncData| data.schedule.directives.iter().any(|d| places(&d.kind));
    if !pipeline.funcs.values().any(any) {
        return;
    }
    let mut loops = BTreeMap::new();
    for (func, data) in &pipeline.funcs {
        let updates = (0..data.updates.len()).map(Stage::Update);
        for stage in std::iter::once(Stage::Pure).chain(updates) {
            loops.insert((func, stage), loops_of(pipeline, func, stage));
        }
    }
    let uses = uses(pipeline);
    let mut levels = Levels { pipeline, uses, loops, paths: BTreeMap::new(), found };
    for func in pipeline.funcs.keys().rev() {
        levels.func(func);
    }
}

impl Levels<'_> {
    /// The loops around the body of a stage, outermost first.
    fn around(&self, func: Func, stage: Stage) -> Vec<Site> {
        let mut path = self.paths.get(&func).cloned().unwrap_or_default();
        let count = self.loops[&(func, stage)].len();
        path.extend((0..count).rev().map(|place| Site { func, stage, place }));
        path
    }

    fn name(&self, func: Func) -> &str {
        &self.pipeline.funcs[func].name
    }

    fn loop_of(&self, site: &Site) -> &Loop {
        &self.loops[&(site.func, site.stage)][site.place]
    }

    /// The number of loops, from outside, that all uses of a Func have in common, and those loops.
    fn common(&self, func: Func) -> Vec<Site> {
        let Some(uses) = self.uses.get(&func) else { return vec![] };
        let mut common: Option<Vec<Site>> = None;
        for &(user, stage) in uses {
            let path = self.around(user, stage);
            match &mut common {
                None => common = Some(path),
                Some(common) => {
                    let same = common.iter().zip(&path).take_while(|(a, b)| a == b).count();
                    common.truncate(same);
                }
            }
        }
        common.unwrap_or_default()
    }

    /// The place of loop `var` of `at` among the loops `common`.
    fn place(&self, common: &[Site], at: Func, var: &str) -> Option<usize> {
        common.iter().rposition(|site| site.func == at && self.loop_of(site).name == var)
    }

    fn func(&mut self, func: Func) {
        let pipeline = self.pipeline;
        let data = &pipeline.funcs[func];
        // Folding may leave a Func without uses: its place says nothing then.
        if !self.uses.contains_key(&func) && !pipeline.outputs.contains(&func) {
            self.paths.insert(func, vec![]);
            return;
        }
        let common = self.common(func);
        let level = level(data);
        let path = match level {
            _ if is_inlined(pipeline, func) => vec![],
            Level::Root => vec![],
            Level::Inline if pipeline.outputs.contains(&func) => vec![],
            Level::Inline => common.clone(),
            Level::At(at, var, span) => match self.compute_at(func, &common, at, var, span) {
                Some(depth) => common[..=depth].to_vec(),
                None => {
                    // One message for each directive that is at fault.
                    self.paths.insert(func, vec![]);
                    return;
                }
            },
        };
        self.storage(func, &level, &common, path.len());
        self.paths.insert(func, path);
    }

    fn compute_at(
        &mut self,
        func: Func,
        common: &[Site],
        at: Func,
        var: &str,
        span: Span,
    ) -> Option<usize> {
        let (name, at_name, shown) = (self.name(func), self.name(at), shown(var));
        if self.pipeline.outputs.contains(&func) {
            let diagnostic = Diagnostic::error(
                &codes::ILLEGAL_PLACE,
                format!("`{name}` is an output and cannot be computed inside another Func"),
            )
            .at(span, "an output is computed whole")
            .help(format!("write `{name}.compute_root()`"));
            self.found.push(diagnostic);
            return None;
        }
        if at == func {
            let diagnostic = Diagnostic::error(
                &codes::ILLEGAL_PLACE,
                format!("`{name}` cannot be computed inside its own loops"),
            )
            .at(span, "names the Func itself")
            .help(self.nest_text(func, common, "compute_at"));
            self.found.push(diagnostic);
            return None;
        }
        if let Some(fault) = self.missing_loop(at, var, span) {
            self.found.push(fault);
            return None;
        }
        if let Some(depth) = self.place(common, at, var) {
            return Some(depth);
        }
        let outside = self.outside(func, at, var);
        let diagnostic = Diagnostic::error(
            &codes::ILLEGAL_PLACE,
            format!("`{name}` cannot be computed at loop `{shown}` of `{at_name}`"),
        )
        .at(span, format!("{outside} `{name}` outside this loop"))
        .help(self.nest_text(func, common, "compute_at"));
        self.found.push(diagnostic);
        None
    }

    /// Who uses a Func outside a loop.
    fn outside(&self, func: Func, at: Func, var: &str) -> String {
        let users = self.uses.get(&func).into_iter().flatten();
        let mut stages: Vec<String> = users
            .filter(|&&(user, stage)| self.place(&self.around(user, stage), at, var).is_none())
            .map(|&(user, stage)| format!("`{}`", stage_name(self.pipeline, user, stage)))
            .collect();
        stages.dedup();
        match &stages[..] {
            [] => format!("several definitions of `{}` use", self.name(at)),
            [one] => format!("{one} uses"),
            [first, rest @ ..] => format!("{first} and {} more use", rest.len()),
        }
    }

    /// An error where `at` has no loop `var`.
    fn missing_loop(&self, at: Func, var: &str, span: Span) -> Option<Diagnostic> {
        let name = self.name(at);
        if is_inlined(self.pipeline, at) {
            let message = format!("`{name}` has no loops: it is computed anew at each use");
            return Some(
                Diagnostic::error(&codes::NO_SUCH_LOOP, message)
                    .at(span, format!("names a loop of `{name}`"))
                    .help(format!("give it loops of its own: `{name}.compute_root();`")),
            );
        }
        let range = (at, Stage::Pure)..=(at, Stage::Update(usize::MAX));
        let mut stages = self.loops.range(range);
        if stages.any(|(_, loops)| loops.iter().any(|l| l.name == var)) {
            return None;
        }
        let path = self.around(at, Stage::Pure);
        let text = self.lines(&[(at, Stage::Pure, path)], 0, &|_| String::new(), "");
        let message = format!("`{name}` has no loop `{}`", shown(var));
        Some(
            Diagnostic::error(&codes::NO_SUCH_LOOP, message)
                .at(span, "no such loop")
                .help(format!("its loops, after its schedule, are\n{}", text.trim_end())),
        )
    }

    /// Checks the last `store_at` or `store_root`. The Func is computed `depth` loops deep.
    fn storage(&mut self, func: Func, level: &Level<'_>, common: &[Site], depth: usize) {
        let pipeline = self.pipeline;
        let data = &pipeline.funcs[func];
        let asked = data.schedule.directives.iter().rev().find_map(|d| match &d.kind {
            DirectiveKind::StoreRoot => Some((None, d.span)),
            DirectiveKind::StoreAt { func, var } => Some((Some((*func, var.as_str())), d.span)),
            _ => None,
        });
        let Some((place, span)) = asked else { return };
        let name = data.name.clone();
        if matches!(level, Level::Inline) && !pipeline.outputs.contains(&func) {
            let diagnostic = Diagnostic::error(
                &codes::ILLEGAL_STORE,
                format!("`{name}` is stored at a place but not computed at one"),
            )
            .at(span, "it needs a `compute_at` inside this place")
            .help(self.nest_text(func, common, "compute_at"));
            self.found.push(diagnostic);
            return;
        }
        let Some((at, var)) = place else { return };
        if at != func
            && let Some(fault) = self.missing_loop(at, var, span)
        {
            self.found.push(fault);
            return;
        }
        if self.place(common, at, var).is_some_and(|stored| stored < depth) {
            return;
        }
        let what = match level {
            Level::At(at, var, _) => {
                format!("at loop `{}` of `{}`", shown(var), self.name(*at))
            }
            _ => "outside all loops".to_string(),
        };
        let help = match depth {
            0 => format!("write `{name}.store_root()`, or leave it out"),
            _ => self.nest_text(func, &common[..depth], "store_at"),
        };
        let diagnostic = Diagnostic::error(
            &codes::ILLEGAL_STORE,
            format!(
                "`{name}` cannot be stored at loop `{}` of `{}`: it is computed {what}",
                shown(var),
                self.name(at)
            ),
        )
        .at(span, "does not enclose the place where it is computed")
        .help(help);
        self.found.push(diagnostic);
    }

    /// The loops that use a Func, with marks where `directive` would be legal: at the sites
    /// `legal`, and outside all loops.
    fn nest_text(&self, func: Func, legal: &[Site], directive: &str) -> String {
        let name = self.name(func);
        let users = self.uses.get(&func).into_iter().flatten();
        let shown_users: Vec<(Func, Stage, Vec<Site>)> =
            users.map(|&(user, stage)| (user, stage, self.around(user, stage))).collect();
        let mark = |site: &Site| {
            let var = shown(&self.loop_of(site).name);
            format!("{name}.{directive}({}, {var})", self.name(site.func))
        };
        let root = directive.replace("_at", "_root");
        let mut text = format!("legal places are marked in the loops that use `{name}`\n");
        let head = format!("{name}.{root}()");
        text.push_str(&self.lines(&shown_users, legal.len(), &mark, &head));
        text.truncate(text.trim_end().len());
        text
    }

    /// Loop nests as text: the first `legal` loops of each path, all alike, are marked.
    fn lines(
        &self,
        paths: &[(Func, Stage, Vec<Site>)],
        legal: usize,
        mark: &dyn Fn(&Site) -> String,
        head: &str,
    ) -> String {
        // Text and mark of each line.
        let mut lines: Vec<(String, String)> = Vec::new();
        if !head.is_empty() {
            lines.push(("before all loops".to_string(), head.to_string()));
        }
        let mut last: &[Site] = &[];
        for (user, stage, path) in paths.iter().take(MAX_SHOWN) {
            let same = last.iter().zip(path).take_while(|(a, b)| a == b).count();
            for (depth, site) in path.iter().enumerate().skip(same) {
                let place = if depth < legal { mark(site) } else { String::new() };
                let starts = depth == 0
                    || (path[depth - 1].func, path[depth - 1].stage) != (site.func, site.stage);
                let of = match starts {
                    true => format!("{}: ", stage_name(self.pipeline, site.func, site.stage)),
                    false => String::new(),
                };
                let text = format!("{}{of}{}", "  ".repeat(depth), self.loop_of(site).text());
                lines.push((text, place));
            }
            if !head.is_empty() {
                let text = stage_name(self.pipeline, *user, *stage);
                let indent = "  ".repeat(path.len());
                lines.push((format!("{indent}{text} uses it"), String::new()));
            }
            last = path;
        }
        let width = lines.iter().map(|(text, _)| text.chars().count()).max().unwrap_or(0);
        let mut all = String::new();
        for (text, place) in &lines {
            let _ = match place.as_str() {
                "" => writeln!(all, "  {text}"),
                place => writeln!(all, "  {text:<width$}  <- {place}"),
            };
        }
        if paths.len() > MAX_SHOWN {
            let _ = writeln!(all, "  and {} more", paths.len() - MAX_SHOWN);
        }
        all
    }
}
