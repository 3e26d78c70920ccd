//! What became of each directive: whether it was followed, or what is done instead.

use nbcc_base::{SourceMap, Span};
use nbcc_isa_ipim::LANES;
use nbcc_isa_ipim::layout::Tiled;
use nbcc_stages::bounds::Interval;
use nbcc_stages::print::directive_text;
use nbcc_stages::{Directive, DirectiveArg, DirectiveKind, Func, Pipeline, Update, is_inlined};

use super::super::verdict::used_engines;
use super::super::{Finding, FindingKind, Nest, Plan, Stage, Step};
use super::loops::{Loop, MAX_TILE, each_directive, find, scheduled_tile, within};
use super::stages::{groups, schedules};

/// Followed, and how; or not, and why.
type Verdict = Result<String, String>;

/// How a stage is computed in the end.
enum Made<'a> {
    /// At each use.
    Inlined,
    /// It never runs.
    Never,
    /// Tile by tile.
    Tiles(&'a Nest),
    /// In parts that are merged.
    Parts,
    /// On one engine.
    Serial,
}

/// Says of every directive of the pipeline what became of it.
pub fn settle(plan: &Plan, sources: &SourceMap) -> Vec<Finding> {
    let mut findings = Vec::new();
    for func in plan.pipeline.funcs.keys() {
        for (stage, schedule) in schedules(&plan.pipeline, func) {
            if schedule.directives.is_empty() {
                continue;
            }
            let settler = Settler { plan, func, stage, made: made(plan, func, stage) };
            let mut verdicts = Vec::new();
            each_directive(&plan.pipeline, func, stage, |loops, directive| {
                verdicts.push(settler.verdict(loops, verdicts.len(), directive));
            });
            let mut verdicts = verdicts.into_iter();
            for group in groups(schedule) {
                let of_group: Vec<Verdict> = verdicts.by_ref().take(group.len()).collect();
                // What nobody wrote needs no answer.
                if group[0].span == Span::default() {
                    continue;
                }
                findings.push(settler.finding(group, of_group, sources));
            }
        }
    }
    findings
}

/// Says of the directives of a Func's updates, which are unrolled, what became of them.
pub fn settle_unrolled(pipeline: &Pipeline, func: Func, sources: &SourceMap) -> Vec<Finding> {
    let of_update = |(k, update): (usize, &Update)| -> Vec<Finding> {
        let one = |group: &[Directive]| {
            let verdict = match group[0].kind {
                DirectiveKind::Unroll { .. } => {
                    Ok("points of the domain stand one after the other".to_string())
                }
                _ => {
                    Err("the update is part of the definition, whose loops it runs in".to_string())
                }
            };
            finding(pipeline, (func, Stage::Update(k)), &group[0], verdict, sources)
        };
        groups(&update.schedule).into_iter().map(one).collect()
    };
    pipeline.funcs[func].updates.iter().enumerate().flat_map(of_update).collect()
}

/// What is said of a directive.
fn finding(
    pipeline: &Pipeline,
    (func, stage): (Func, Stage),
    directive: &Directive,
    verdict: Verdict,
    sources: &SourceMap,
) -> Finding {
    let span = directive.span;
    let known = span.end > span.start && (span.source.0 as usize) < sources.files().len();
    let source = if known { sources.text_of(span) } else { "" };
    let text = match source {
        "" => directive_text(pipeline, directive),
        source => source.split_whitespace().collect::<Vec<_>>().join(" "),
    };
    let update = match stage {
        Stage::Pure => None,
        Stage::Update(k) => Some(k),
    };
    let data = &pipeline.funcs[func];
    Finding {
        about: data.name.clone(),
        // A directive that the compiler added stands where its Func does.
        span: Some(if known { span } else { data.span }),
        kind: FindingKind::Directive { text, update, verdict },
    }
}

fn made(plan: &Plan, func: Func, stage: Stage) -> Made<'_> {
    if plan.bounds.funcs[func].is_none() {
        return if is_inlined(&plan.pipeline, func) { Made::Inlined } else { Made::Never };
    }
    let found = plan.steps.iter().find_map(|step| match step {
        Step::Tiles(s) if (s.func, s.stage) == (func, stage) => Some(Made::Tiles(&s.nest)),
        Step::Serial(s) if (s.func, s.stage) == (func, stage) => Some(Made::Serial),
        _ => None,
    });
    let in_parts = || {
        let runs = match (&plan.bounds.funcs[func], stage) {
            (Some(bounds), Stage::Update(k)) => bounds.stages[k + 1].is_some(),
            _ => false,
        };
        runs && plan.steps.iter().any(|step| matches!(step, Step::Reduce(s) if s.func == func))
    };
    match found {
        Some(made) => made,
        // Updates without a kernel of their own are those that are reduced in parts.
        None if in_parts() => Made::Parts,
        None => Made::Never,
    }
}

struct Settler<'a> {
    plan: &'a Plan,
    func: Func,
    stage: Stage,
    made: Made<'a>,
}

impl Settler<'_> {
    fn pipeline(&self) -> &Pipeline {
        &self.plan.pipeline
    }

    fn finding(&self, group: &[Directive], verdicts: Vec<Verdict>, sources: &SourceMap) -> Finding {
        let mut followed = Vec::new();
        let mut missed = None;
        for verdict in verdicts {
            match verdict {
                Ok(how) => followed.push(how),
                Err(why) => missed = missed.or(Some(why)),
            }
        }
        let verdict = match missed {
            Some(why) => Err(why),
            None => Ok(followed.join("; ")),
        };
        finding(self.pipeline(), (self.func, self.stage), &group[0], verdict, sources)
    }

    fn verdict(&self, loops: &[Loop], number: usize, directive: &Directive) -> Verdict {
        match &directive.kind {
            DirectiveKind::ComputeRoot
            | DirectiveKind::ComputeInline
            | DirectiveKind::ComputeAt { .. } => self.computed(number, directive),
            DirectiveKind::StoreRoot | DirectiveKind::StoreAt { .. } => self.stored(directive),
            DirectiveKind::Bound { var, min, extent } => {
                self.bounded(number, var, [*min, *extent].map(|e| self.constant(e)))
            }
            DirectiveKind::SetEstimate { var, min, extent } => {
                self.estimate(var, [*min, *extent].map(|e| self.constant(e)))
            }
            DirectiveKind::Rfactor { .. } => {
                Ok("partial results are a Func of their own".to_string())
            }
            kind => self.of_loops(loops, kind, directive),
        }
    }

    fn constant(&self, expr: nbcc_stages::Expr) -> Option<i64> {
        self.pipeline().integer(expr)
    }

    fn computed(&self, number: usize, directive: &Directive) -> Verdict {
        let p = self.pipeline();
        let data = &p.funcs[self.func];
        // What was decided here has no place in a source.
        let places = |d: &&Directive| {
            d.span != Span::default()
                && matches!(
                    d.kind,
                    DirectiveKind::ComputeRoot
                        | DirectiveKind::ComputeInline
                        | DirectiveKind::ComputeAt { .. }
                )
        };
        let last = data.schedule.directives[number + 1..].iter().rfind(places);
        let same = |last: &Directive| match (&directive.kind, &last.kind) {
            (
                DirectiveKind::ComputeAt { func: f, var: v },
                DirectiveKind::ComputeAt { func: g, var: w },
            ) => f == g && v == w,
            (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
        };
        if last.is_some_and(|last| !same(last)) {
            return Err("a later directive says otherwise".to_string());
        }
        match directive.kind {
            DirectiveKind::ComputeRoot if matches!(self.made, Made::Inlined) => {
                Err("it is computed at each use, which costs less".to_string())
            }
            DirectiveKind::ComputeRoot => Ok("computed whole and kept in banks".to_string()),
            DirectiveKind::ComputeInline => match self.made {
                Made::Inlined => Ok("computed at each use".to_string()),
                _ if p.outputs.contains(&self.func) => {
                    Err("an output is computed whole".to_string())
                }
                _ if !data.updates.is_empty() => {
                    Err("a Func with updates is computed whole, before its consumers".to_string())
                }
                _ => Err("it is computed whole: the program is too large otherwise".to_string()),
            },
            _ => Err("computed whole, before its consumers, as with compute_root: engines cannot \
                      wait for each other inside a kernel, and a tile needs its neighbours'"
                .to_string()),
        }
    }

    fn stored(&self, directive: &Directive) -> Verdict {
        match directive.kind {
            DirectiveKind::StoreRoot => Ok("kept whole in banks".to_string()),
            _ => Err("kept whole in banks, as with store_root".to_string()),
        }
    }

    fn bounded(&self, number: usize, var: &str, values: [Option<i64>; 2]) -> Verdict {
        let data = &self.pipeline().funcs[self.func];
        let otherwise = |d: &Directive| match &d.kind {
            DirectiveKind::Bound { var: v, min, extent } => {
                v == var && [*min, *extent].map(|e| self.constant(e)) != values
            }
            _ => false,
        };
        match data.schedule.directives[number + 1..].iter().any(otherwise) {
            true => Err("a later bound says otherwise".to_string()),
            false => Ok("the region is fixed".to_string()),
        }
    }

    fn estimate(&self, var: &str, values: [Option<i64>; 2]) -> Verdict {
        let p = self.pipeline();
        let data = &p.funcs[self.func];
        if !p.outputs.contains(&self.func) {
            return Err("only estimates of outputs and inputs are used".to_string());
        }
        let d = data.vars.iter().position(|v| v == var);
        let region = self.plan.bounds.region(self.func);
        let Some(interval) = d.zip(region).and_then(|(d, r)| r.get(d)) else {
            return Err("it is not computed".to_string());
        };
        let same = values == [Some(interval.min.into()), Some(interval.extent().into())];
        match same {
            true => Ok(format!("{var} is {interval}")),
            false => Err(format!("{var} is {interval}, as the size, the input or a bound says")),
        }
    }

    /// A directive about loops.
    fn of_loops(&self, loops: &[Loop], kind: &DirectiveKind, directive: &Directive) -> Verdict {
        let nest = match &self.made {
            Made::Inlined => return Err("computed at each use: it has no loops".to_string()),
            Made::Never => return Err("it never runs".to_string()),
            Made::Serial => {
                return Err("computed on one engine, an element at a time, in order".to_string());
            }
            Made::Parts => {
                return Err("every engine reduces the part that it holds, then parts are merged"
                    .to_string());
            }
            Made::Tiles(nest) => *nest,
        };
        let [width, height] = nest.tiles.tile;
        match kind {
            DirectiveKind::Vectorize { var, width: n } => {
                self.vectorized(loops, var, *n, i64::from(width))
            }
            DirectiveKind::Parallel(var) => match find(loops, var).and_then(|n| loops[n].dim()) {
                Some(0 | 1) => Err(format!(
                    "engines run their tiles of {width} x {height} in parallel, whichever loop \
                     is named"
                )),
                _ => Err("engines run in parallel over tiles only".to_string()),
            },
            DirectiveKind::Unroll { .. } => Err(format!(
                "kernels repeat their body for {} and {}, as accesses and the width of tiles ask",
                count(nest.unroll[1], "row"),
                count(nest.unroll[0], "vector")
            )),
            DirectiveKind::Target { name: "ipim_tile", .. } => self.tiled(nest, directive),
            DirectiveKind::Target { name: "load_pgsm", args } => self.staged(nest, loops, args),
            _ => Err(format!(
                "loops run over tiles of {width} x {height}, over inner dimensions, then over rows \
                 and vectors of a tile, the order of which changes no value"
            )),
        }
    }

    fn vectorized(&self, loops: &[Loop], var: &str, width: Option<i64>, tile: i64) -> Verdict {
        let lanes = LANES as i64;
        let instead = format!("vectors are {lanes} elements along the first dimension");
        let Some(l) = find(loops, var).map(|n| &loops[n]) else { return Err(instead) };
        if l.dim() != Some(0) || l.stride != Some(1) {
            return Err(instead);
        }
        match width.or(l.extent) {
            Some(n) if n % lanes != 0 => Err(instead),
            Some(n) if n > tile => Ok(format!("as vectors of {lanes}, tile by tile")),
            Some(n) if n > lanes => Ok(format!("as {} vectors of {lanes}", n / lanes)),
            Some(_) => Ok(format!("vectors of {lanes}")),
            None => Ok(format!("the row in vectors of {lanes}")),
        }
    }

    fn tiled(&self, nest: &Nest, directive: &Directive) -> Verdict {
        if self.stage != Stage::Pure {
            return Err("an update uses the tiles of its Func".to_string());
        }
        let [width, height] = nest.tiles.tile;
        let used = format!("tiles are {width} x {height}");
        let Some((tile, span)) = scheduled_tile(self.pipeline(), self.func) else {
            return Err(format!("{used}: only the first two dimensions are distributed"));
        };
        if span != directive.span {
            return Err(format!("{used}, as another ipim_tile says"));
        }
        let region = self.plan.bounds.region(self.func).unwrap_or_default();
        let asked = within(tile, region);
        let over = over_engines(&nest.tiles, region);
        if asked != nest.tiles.tile {
            let why = if asked[0] > width && width < MAX_TILE {
                "what wider tiles read does not fit the scratchpad of a group".to_string()
            } else if asked[0] > width || asked[1] > height {
                format!("no tile is wider or higher than {MAX_TILE}")
            } else {
                format!("whole atoms of {LANES} elements, here and in what it reads")
            };
            return Err(format!("{used} {over}: {why}"));
        }
        match asked == tile {
            true => Ok(format!("{used} {over}")),
            false => Ok(format!("{used}, cut to what is computed, {over}")),
        }
    }

    fn staged(&self, nest: &Nest, loops: &[Loop], args: &[DirectiveArg]) -> Verdict {
        let rows = format!("staged for {} of a tile at a time", count(nest.block_rows, "row"));
        if nest.reads.is_empty() {
            return Err("it reads nothing from banks tile by tile".to_string());
        }
        if nest.reads.iter().any(|r| r.window.is_none()) {
            return Err("only what lies in other banks is staged".to_string());
        }
        let is_named = |l: &Loop| {
            args.iter().any(|arg| matches!(arg, DirectiveArg::Var(var) if *var == l.name))
        };
        // One row at a time is what a row alone asks for.
        let asked_for = |l: &Loop| l.in_tile && (nest.block_rows > 1 || l.dim() != Some(1));
        let tiled = loops.iter().any(|l| l.in_tile);
        let all = loops.iter().all(|l| is_named(l) == asked_for(l) || is_named(l) && l.in_tile);
        match tiled && all {
            true => Ok(rows),
            false => Err(format!("{rows}, whichever loops are named")),
        }
    }
}

/// The engines whose banks hold some of a region, in words.
fn over_engines(tiles: &Tiled, region: &[Interval]) -> String {
    match used_engines(tiles, region) {
        (1, all) if all > 1 => format!("over one of {all} engines"),
        (n, all) if n < all => format!("over {n} of {all} engines"),
        (_, all) => format!("over {all} engines"),
    }
}

/// A number and a noun.
fn count(n: u32, noun: &str) -> String {
    match n {
        1 => format!("1 {noun}"),
        n => format!("{n} {noun}s"),
    }
}
