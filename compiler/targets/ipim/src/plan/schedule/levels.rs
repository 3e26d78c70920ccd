//! Where Funcs may be computed and stored: `compute_at` and `store_at` name a loop that encloses
//! every use.
//!
//! Consumers are visited before producers. The loops around a stage are those of the place where
//! its Func is computed and then its own; the places open to a producer are the loops that all its
//! uses have in common, as in Halide's scheduling of functions. Loops of several definitions of a
//! Func are the same loop to a directive where their names are: what is computed at it is computed
//! in each of them. Uses by Funcs that are computed anew at each use count where those are used.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use nbcc_base::{Diagnostic, Diagnostics, Span};
use nbcc_stages::{DirectiveKind, ExprKind, Func, FuncData, Pipeline, Walker, is_inlined};

use super::super::{Stage, stage_roots};
use super::loops::{Loop, loops_of};
use super::stages::{shown, stage_name};
use crate::codes;

/// Most stages that a message shows the loops of.
const MAX_SHOWN: usize = 4;

/// Most places of a Func that are told apart.
const MAX_PLACES: usize = 64;

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
    /// The loops around each place where a Func is computed, outermost first.
    paths: BTreeMap<Func, Vec<Vec<Site>>>,
    /// Loops around places that are alike with others.
    others: Vec<Site>,
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
    let mut levels =
        Levels { pipeline, uses, loops, paths: BTreeMap::new(), others: vec![], found };
    for func in pipeline.funcs.keys().rev() {
        levels.func(func);
    }
}

impl Levels<'_> {
    /// The loops around the body of a stage, outermost first, at each place where it runs.
    fn around(&self, func: Func, stage: Stage) -> Vec<Vec<Site>> {
        let mut paths = self.paths.get(&func).cloned().unwrap_or_else(|| vec![vec![]]);
        let count = self.loops[&(func, stage)].len();
        for path in &mut paths {
            path.extend((0..count).rev().map(|place| Site { func, stage, place }));
        }
        paths
    }

    /// The loops around each use of a Func.
    fn around_uses(&self, func: Func) -> impl Iterator<Item = Vec<Site>> {
        let users = self.uses.get(&func).into_iter().flatten();
        users.flat_map(|&(user, stage)| self.around(user, stage))
    }

    fn name(&self, func: Func) -> &str {
        &self.pipeline.funcs[func].name
    }

    fn loop_of(&self, site: &Site) -> &Loop {
        &self.loops[&(site.func, site.stage)][site.place]
    }

    /// Whether a directive that names one of two loops means the other, too.
    fn alike(&self, a: &Site, b: &Site) -> bool {
        a.func == b.func && self.loop_of(a).name == self.loop_of(b).name
    }

    /// The loops that all uses of a Func have in common, as those of the first use.
    fn common(&self, func: Func) -> Vec<Site> {
        let mut paths = self.around_uses(func);
        let mut common = paths.next().unwrap_or_default();
        for path in paths {
            common.retain(|site| path.iter().any(|other| self.alike(site, other)));
        }
        common
    }

    /// The loops around each place where a Func is computed that has `common[..depth]` around it. Places with
    /// loops alike around them are one. None where there are too many to look at each: then no loop is known
    /// to be around all of them.
    fn inside(&mut self, func: Func, common: &[Site], depth: usize) -> Vec<Vec<Site>> {
        let nowhere = vec![vec![]];
        let Some(last) = depth.checked_sub(1).map(|last| &common[last]) else { return nowhere };
        let mut places: Vec<Vec<Site>> = Vec::new();
        for mut path in self.around_uses(func).collect::<Vec<_>>() {
            let end = path.iter().rposition(|site| self.alike(site, last));
            path.truncate(end.map_or(0, |end| end + 1));
            let same = |place: &Vec<Site>| {
                let mut pairs = place.iter().zip(&path);
                place.len() == path.len() && pairs.all(|(a, b)| self.alike(a, b))
            };
            if !places.iter().any(same) {
                places.push(path);
                continue;
            }
            for site in path {
                if !self.others.contains(&site) {
                    self.others.push(site);
                }
            }
        }
        if places.len() > MAX_PLACES { nowhere } else { places }
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
            self.paths.insert(func, vec![vec![]]);
            return;
        }
        let common = self.common(func);
        let level = level(data);
        let depth = match level {
            _ if is_inlined(pipeline, func) => 0,
            Level::Root => 0,
            Level::Inline if pipeline.outputs.contains(&func) => 0,
            Level::Inline => common.len(),
            Level::At(at, var, span) => match self.compute_at(func, &common, at, var, span) {
                Some(place) => place + 1,
                None => {
                    // One message for each directive that is at fault.
                    self.paths.insert(func, vec![vec![]]);
                    return;
                }
            },
        };
        self.storage(func, &level, &common, depth);
        let places = self.inside(func, &common, depth);
        self.paths.insert(func, places);
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
        let legal = || self.nest_text(func, common, "compute_at");
        if let Some(fault) = self.missing_loop(at, var, span, &legal) {
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

    /// Who uses a Func outside a loop that not all its uses have around them.
    fn outside(&self, func: Func, at: Func, var: &str) -> String {
        let users = self.uses.get(&func).into_iter().flatten();
        let mut stages: Vec<String> = users
            .filter(|&&(user, stage)| {
                self.around(user, stage).iter().any(|path| self.place(path, at, var).is_none())
            })
            .map(|&(user, stage)| format!("`{}`", stage_name(self.pipeline, user, stage)))
            .collect();
        stages.dedup();
        match stages.len() {
            1 => format!("{} uses", stages[0]),
            all => format!("{} and {} more use", stages[0], all - 1),
        }
    }

    /// An error where `at` has no loop `var`; `legal` tells the legal places.
    fn missing_loop(
        &self,
        at: Func,
        var: &str,
        span: Span,
        legal: &dyn Fn() -> String,
    ) -> Option<Diagnostic> {
        let name = self.name(at);
        let (message, label, help) = if is_inlined(self.pipeline, at) {
            let message = format!("`{name}` has no loops: it is computed anew at each use");
            let help = format!("give it loops of its own, `{name}.compute_root();`");
            (message, format!("names a loop of `{name}`"), help)
        } else {
            let range = (at, Stage::Pure)..=(at, Stage::Update(usize::MAX));
            let mut stages = self.loops.range(range);
            if stages.any(|(_, loops)| loops.iter().any(|l| l.name == var)) {
                return None;
            }
            let loops = self.loops[&(at, Stage::Pure)].iter().rev();
            let loops: Vec<String> = loops.map(|l| format!("`{}`", shown(&l.name))).collect();
            let message = format!("`{name}` has no loop `{}`", shown(var));
            let help = match loops.as_slice() {
                [] => format!("`{name}` has no loops at all"),
                loops => format!("its loops, after its schedule, are {}", loops.join(", ")),
            };
            (message, "no such loop".to_string(), help)
        };
        Some(
            Diagnostic::error(&codes::NO_SUCH_LOOP, message)
                .at(span, label)
                .help(format!("{help}; {}", legal())),
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
        let Some((at, var)) = place else {
            self.stored_outside(func, &common[..depth], 0, span);
            return;
        };
        let legal = || self.nest_text(func, &common[..depth], "store_at");
        if at != func
            && let Some(fault) = self.missing_loop(at, var, span, &legal)
        {
            self.found.push(fault);
            return;
        }
        if let Some(stored) = self.place(common, at, var).filter(|&stored| stored < depth) {
            self.stored_outside(func, &common[..depth], stored + 1, span);
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

    /// An error where a Func is stored outside a loop whose rounds run at once, but computed inside
    /// it: the rounds would write to the same storage. `around` are the loops around its
    /// computation, of which those from `stored` on are inside its storage.
    fn stored_outside(&mut self, func: Func, around: &[Site], stored: usize, span: Span) {
        let paths: Vec<Vec<Site>> = self.around_uses(func).collect();
        let at_once = |site: &Site| {
            let around = paths.iter().flatten().chain(&self.others);
            let mut alike = around.filter(|other| self.alike(site, other));
            let words = ["parallel", "vectorized"];
            alike.any(|other| self.loop_of(other).how.iter().any(|w| words.contains(&w.as_str())))
        };
        let Some(last) = (stored..around.len()).rfind(|&n| at_once(&around[n])) else { return };
        let (name, site) = (self.name(func), &around[last]);
        let (of, var) = (self.name(site.func), shown(&self.loop_of(site).name));
        let message = format!(
            "`{name}` cannot be stored outside loop `{var}` of `{of}`, whose rounds run at once"
        );
        // Legal are the places inside of that loop.
        let marked = self.marked(func, &around[last..], "store_at", "");
        let diagnostic = Diagnostic::error(&codes::ILLEGAL_STORE, message)
            .at(span, "they compute it, and would write to the same storage")
            .help(marked);
        self.found.push(diagnostic);
    }

    /// The loops that use a Func, with marks where `directive` would be legal: at the sites
    /// `legal`, and outside all loops.
    fn nest_text(&self, func: Func, legal: &[Site], directive: &str) -> String {
        let head = format!("{}.{}()", self.name(func), directive.replace("_at", "_root"));
        self.marked(func, legal, directive, &head)
    }

    /// The loops that use a Func, with marks at loops like those of `legal` and, where `head`
    /// says how to ask for it, outside of all loops.
    fn marked(&self, func: Func, legal: &[Site], directive: &str, head: &str) -> String {
        let name = self.name(func);
        let users = self.uses.get(&func).into_iter().flatten();
        let shown_users: Vec<(Func, Stage, Vec<Site>)> = users
            .flat_map(|&(user, stage)| {
                self.around(user, stage).into_iter().map(move |path| (user, stage, path))
            })
            .collect();
        let mark = |site: &Site| {
            let var = shown(&self.loop_of(site).name);
            format!("{name}.{directive}({}, {var})", self.name(site.func))
        };
        let mut text = format!("legal places are marked in the loops that use `{name}`\n");
        text.push_str(&self.lines(&shown_users, legal, &mark, head));
        text.truncate(text.trim_end().len());
        text
    }

    /// Loop nests as text: loops like those of `legal` are marked.
    fn lines(
        &self,
        paths: &[(Func, Stage, Vec<Site>)],
        legal: &[Site],
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
                let place = match legal.iter().any(|other| self.alike(site, other)) {
                    true => mark(site),
                    false => String::new(),
                };
                let starts = depth == 0
                    || (path[depth - 1].func, path[depth - 1].stage) != (site.func, site.stage);
                let of = match starts {
                    true => format!("{}: ", stage_name(self.pipeline, site.func, site.stage)),
                    false => String::new(),
                };
                let text = format!("{}{of}{}", "  ".repeat(depth), self.loop_of(site).text());
                lines.push((text, place));
            }
            let text = stage_name(self.pipeline, *user, *stage);
            let indent = "  ".repeat(path.len());
            lines.push((format!("{indent}{text} uses it"), String::new()));
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
