//! What a plan does, in words: the schedule in effect, ready to paste; stage by stage where data
//! lives and what moves between banks; what became of each directive.

use std::fmt::Write;

use nbcc_base::{SourceMap, Span};
use nbcc_isa_ipim::layout::{Layout, Role};
use nbcc_isa_ipim::{ELEMENT_BYTES, Machine};
use nbcc_placement::alike::{lines, runs};
use nbcc_placement::{Message, Remark, RemarkKind, Term};
use nbcc_stages::print::directive_text;
use nbcc_stages::{Directive, DirectiveKind, Func, FuncData, Pipeline};

use super::cost::{Bounds, Cost, Taken, costs};
use super::order::NOWHERE;
use super::schedule::defaults::{Site, inner_names, sites};
use super::traffic::{Traffic, of_merge, of_move, of_nest};
use super::verdict::{Share, used_engines, verdict};
use super::{BufferPlan, Finding, FindingKind, Nest, Plan, Stage, Step};

/// The part of the cycles from which on ignoring a schedule is worth a word.
const WORTH_SAYING: f64 = 0.95;

/// Explains a plan. `written` is the pipeline as the source has it, `taken` what the code of each step
/// takes, if there is code, `without` the estimated cycles of the plan were its schedule ignored.
pub fn explain(
    plan: &Plan,
    machine: &Machine,
    written: &Pipeline,
    taken: Option<&[Taken]>,
    without: Option<u64>,
    sources: &SourceMap,
) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "machine {}: {} of {}",
        machine.name,
        count(machine.vaults().into(), "vault"),
        count(machine.engines().into(), "engine")
    );
    let _ = writeln!(out, "\nschedule in effect\n");
    let (end, inside) = schedule_lines(plan, written, sources);
    for line in end {
        let _ = writeln!(out, "    {line}");
    }
    if !inside.is_empty() {
        let _ = writeln!(out, "\nand inside of braces\n");
    }
    for line in inside {
        let _ = writeln!(out, "    {line}");
    }
    let told = |is: fn(&FindingKind) -> bool| {
        let found = plan.findings.iter().filter(move |finding| is(&finding.kind));
        found.map(|finding| match finding.about.as_str() {
            "" => finding.message().to_string(),
            about => format!("{about}: {}", finding.message()),
        })
    };
    let decided =
        |kind: &_| matches!(kind, FindingKind::Scheduled { .. } | FindingKind::Compared { .. });
    let rewritten = |kind: &FindingKind| {
        matches!(kind, FindingKind::ReducedByLine { .. } | FindingKind::InChunks { .. })
            || matches!(
                kind,
                FindingKind::ScannedByParts { .. } | FindingKind::ReducedByValue { .. }
            )
    };
    let rewritten = plan.findings.iter().filter(|finding| rewritten(&finding.kind));
    let rewritten = rewritten.map(|finding| finding.message().to_string());
    let decided: Vec<String> = told(decided).chain(rewritten).collect();
    if !decided.is_empty() {
        let _ = writeln!(out, "\nwhat was decided, by estimated cycles\n");
    }
    tell(&mut out, "    ", &decided);
    let forced =
        |kind: &_| matches!(kind, FindingKind::FixedParameter { .. } | FindingKind::NotRepeated);
    let mut forced = told(forced).peekable();
    if forced.peek().is_some() {
        let _ = writeln!(out, "\nwhat could not be otherwise\n");
    }
    for line in forced {
        let _ = writeln!(out, "    {line}");
    }
    let _ = writeln!(out, "\nwhere data lives\n");
    let homes: Vec<String> = plan.buffers.values().map(home_text).collect();
    tell(&mut out, "    ", &homes);
    let _ = writeln!(out, "\nwhat is done, in order\n");
    let (mut total, mut cycles) = (Traffic::default(), Cost::default());
    let mut told = None;
    let mut kernels = Vec::new();
    let works = works(plan, machine, taken);
    let shares: Vec<Share<'_>> = works.iter().map(Work::share).collect();
    let verdict = verdict(&shares);
    for work in works {
        let mut lines = vec![work.text];
        // Once for all stages of a Func.
        if told.replace(work.func) != Some(work.func) {
            lines.extend(undistributed(plan, work.func).map(|message| message.to_string()));
        }
        lines.extend(work.lines);
        lines.push(format!("costs {}", cost_text(&work.cost)));
        lines.extend(work.bounds.map(|bounds| bounds_text(&bounds, &work.cost)));
        kernels.push(lines.join("\n"));
        total += work.traffic;
        cycles += work.cost;
    }
    for run in runs(&kernels) {
        let all = run.times * run.texts.len();
        let (last, mut indent) = (run.first + all - 1, "       ");
        if run.times > 1 {
            let _ = writeln!(out, "  {:>3} to {last}: {} times", run.first, run.times);
            indent = "           ";
        }
        for (k, text) in run.texts.iter().enumerate() {
            let (head, rest) = text.split_once('\n').unwrap_or((text, ""));
            let _ = match run.times {
                1 => writeln!(out, "  {:>3}. {head}", run.first + k),
                _ => writeln!(out, "       {head}"),
            };
            rest.lines().for_each(|line| {
                let _ = writeln!(out, "{indent}{line}");
            });
        }
    }
    let _ = writeln!(out, "\nmoved in all: {}", traffic_text(total));
    let _ = writeln!(out, "costs in all: {}", cost_text(&cycles));
    if let Some(verdict) = verdict {
        let _ = writeln!(out, "verdict: {verdict}");
    }
    if taken.is_none() {
        let _ =
            writeln!(out, "costs are those of the plan: there is no code that fits the machine");
    }
    let part = without.map(|other| other as f64 / cycles.cycles().max(1) as f64);
    if let Some(part) = part.filter(|&part| part <= WORTH_SAYING && taken.is_some()) {
        let part = if part < 0.01 { "less than 0.01".to_string() } else { format!("{part:.2}") };
        let _ = writeln!(
            out,
            "by the model {part} of the cycles without this schedule: -X schedule=ignore"
        );
    }
    let directives = plan.findings.iter().filter_map(|finding| match &finding.kind {
        FindingKind::Directive { verdict, .. } => {
            let word = if verdict.is_ok() { "followed" } else { "not followed" };
            Some(format!("{}.{} ({word})", finding.about, finding.message()))
        }
        _ => None,
    });
    let directives: Vec<String> = directives.collect();
    if !directives.is_empty() {
        let _ = writeln!(out, "\ndirectives\n");
    }
    tell(&mut out, "    ", &directives);
    out
}

/// Writes texts, those that repeat once.
fn tell(out: &mut String, indent: &str, texts: &[String]) {
    for line in lines(texts) {
        let _ = writeln!(out, "{indent}{line}");
    }
}

/// Why a Func is not computed tile by tile, or along which dimensions it is instead of the first.
fn undistributed(plan: &Plan, func: Func) -> Option<Message> {
    let of_func = |finding: &&Finding| match finding.kind {
        FindingKind::NotDistributed { func: f, .. } | FindingKind::Reordered { func: f, .. } => {
            f == func
        }
        _ => false,
    };
    plan.findings.iter().find(of_func).map(Finding::message)
}

/// A remark for each input that is read and for each Func that is computed where it is used, and
/// for each kernel, at its definition: where its values live and what it makes move.
pub fn remarks(plan: &Plan, machine: &Machine, sources: &SourceMap) -> Vec<Remark> {
    let fact = |name, function: &str, span, message: String| Remark {
        kind: RemarkKind::Analysis,
        pass: "distribute",
        name,
        function: function.to_string(),
        span: Some(span),
        message: Message::of(message),
        terms: vec![],
    };
    let mut all = Vec::new();
    for (input, data) in &plan.pipeline.inputs {
        let Some(id) = plan.inputs[input] else { continue };
        all.push(fact("Home", &data.name, data.span, home_text(&plan.buffers[id])));
    }
    for site in sites(&plan.pipeline, sources).unwrap_or_default() {
        for func in site.funcs.into_iter().filter(|&f| plan.bounds.funcs[f].is_none()) {
            let data = &plan.pipeline.funcs[func];
            let message = "computed where it is used, in the kernels of its consumers".to_string();
            all.push(fact("Inlined", &data.name, span_of(data, Stage::Pure), message));
        }
    }
    all.extend(kernel_remarks(plan, machine));
    all
}

fn kernel_remarks(plan: &Plan, machine: &Machine) -> Vec<Remark> {
    let works = works(plan, machine, None).into_iter();
    let remark = |work: Work| {
        let bytes = [
            Term::new("WindowBytes", work.traffic.window),
            Term::new("VaultScratchpadBytes", work.traffic.vault),
            Term::new("RequestedBytes", work.traffic.req),
            Term::new("EstimatedCycles", work.cost.cycles()),
            Term::new("EstimatedMoveCycles", work.moving),
        ];
        let home = plan.funcs[work.func].first().map(|&id| place_text(&plan.buffers[id]));
        Remark {
            kind: RemarkKind::Analysis,
            pass: "distribute",
            name: "Kernel",
            function: plan.pipeline.funcs[work.func].name.clone(),
            span: Some(span_of(&plan.pipeline.funcs[work.func], work.stage)),
            message: Message::of(work.text)
                .text("; its values live in ")
                .value("Home", home.unwrap_or_default()),
            terms: bytes.to_vec(),
        }
    };
    works.map(remark).collect()
}

/// Where a stage is defined.
pub fn span_of(data: &FuncData, stage: Stage) -> Span {
    match stage {
        Stage::Pure => data.pure.as_ref().map_or(data.span, |pure| pure.span),
        Stage::Update(k) => data.updates[k].span,
    }
}

/// The schedule in effect: the statements for the end of the file, then those that stand inside of
/// braces, each with the place behind which it stands.
fn schedule_lines(
    plan: &Plan,
    written: &Pipeline,
    sources: &SourceMap,
) -> (Vec<String>, Vec<String>) {
    let (mut end, mut inside) = (Vec::new(), Vec::new());
    for data in plan.pipeline.funcs.values() {
        for (k, update) in data.updates.iter().enumerate() {
            let made = |d: &&Directive| matches!(d.kind, DirectiveKind::Rfactor(_));
            for directive in update.schedule.directives.iter().filter(made) {
                let text = directive_text(&plan.pipeline, directive);
                let text = format!("{}.update({k}).{text}", data.name);
                end.push(format!("// the statements with {text} and its loops stay as they are"));
            }
        }
    }
    for site in sites(&plan.pipeline, sources).unwrap_or_default() {
        let text = format!("{}{};", site.name, chain(plan, written, &site));
        match site.behind {
            None => end.push(text),
            Some(span) => {
                let file = sources.get(span.source);
                let after = &file.text[span.end as usize..];
                let stop = after.find(';').map_or(span.end, |n| span.end + n as u32 + 1);
                let at = file.position(stop);
                inside.push(format!("behind {}:{}: {text}", at.line, at.column));
            }
        }
    }
    (end, inside)
}

/// The directives of the Funcs of a site, each with the dot before it.
fn chain(plan: &Plan, written: &Pipeline, site: &Site) -> String {
    let whole: Vec<Func> =
        site.funcs.iter().copied().filter(|&f| plan.bounds.funcs[f].is_some()).collect();
    let Some(&first) = whole.first() else { return ".compute_inline()".to_string() };
    let data = &plan.pipeline.funcs[first];
    let mut text = ".compute_root()".to_string();
    let kept = |d: &&Directive| {
        matches!(d.kind, DirectiveKind::Bound { .. } | DirectiveKind::SetEstimate { .. })
    };
    // As they are written: they may depend on the extents of inputs.
    for directive in written.funcs[first].schedule.directives.iter().filter(kept) {
        let _ = write!(text, ".{}", directive_text(written, directive));
    }
    let tile = |func: Func| {
        let buffer = plan.funcs[func].first()?;
        match &plan.buffers[*buffer].layout {
            Layout::Tiled(tiles) => Some((func, tiles.tile)),
            _ => None,
        }
    };
    let tiles: Vec<(Func, [u32; 2])> = whole.iter().filter_map(|&func| tile(func)).collect();
    let Some(&(_, size)) = tiles.first() else { return text };
    let outer: Vec<String> =
        data.vars.iter().take(2).filter(|var| *var != NOWHERE).cloned().collect();
    let names: Vec<String> = match tiles.iter().all(|(_, tile)| *tile == size) {
        true => inner_names(data),
        // Their consumers say how large their tiles are.
        false => outer.clone(),
    };
    let list = names.join(", ");
    if names != outer {
        let outer = outer.join(", ");
        let sizes: Vec<String> = size.iter().take(names.len()).map(u32::to_string).collect();
        let _ = write!(text, ".ipim_tile({outer}, {list}, {})", sizes.join(", "));
    }
    let staged = |func: Func| {
        plan.steps.iter().any(|step| match step {
            Step::Tiles(s) if (s.func, s.stage) == (func, Stage::Pure) => {
                !s.nest.reads.is_empty() && s.nest.reads.iter().all(|r| r.window.is_some())
            }
            _ => false,
        })
    };
    if tiles.iter().all(|&(func, _)| staged(func)) {
        let _ = write!(text, ".load_pgsm({list})");
    }
    let _ = write!(text, ".vectorize({}, {})", names[0], nbcc_isa_ipim::LANES);
    text
}

/// Where the elements of a buffer are.
fn place_text(buffer: &BufferPlan) -> String {
    match &buffer.layout {
        Layout::Tiled(t) => {
            let mut text = format!(
                "{} of {} x {}, {} in each bank",
                if buffer.patch.is_some() { "what each tile reads, boxes" } else { "tiles" },
                t.tile[0],
                t.tile[1],
                match (t.grid.strips, t.grid.rows) {
                    (1, 1) => "one".to_string(),
                    (columns, rows) => format!("{columns} x {rows}"),
                }
            );
            let [left, right] = buffer.reach_x;
            let [above, below] = t.ghost_rows;
            if [left, right, above, below] != [0; 4] {
                let _ = write!(
                    text,
                    ", with ghost zones of {left} + {right} columns and {above} + {below} rows \
                     around each group's"
                );
            }
            if t.beside > 0 {
                let _ = write!(text, ", each row beside {} elements of other buffers", t.beside);
            }
            text
        }
        Layout::Single { cube, vault, pg, pe } => {
            format!("one bank (cube {cube}, vault {vault}, group {pg}, engine {pe})")
        }
        Layout::Replicated => match &buffer.excerpt {
            Some(_) => "every bank of a vault what the vault reads".to_string(),
            None => "every bank, whole".to_string(),
        },
    }
}

fn home_text(buffer: &BufferPlan) -> String {
    let region: Vec<String> = buffer.held().iter().map(|i| format!("[{i}]")).collect();
    let role = match buffer.role {
        Some(Role::Input) => "input ",
        Some(Role::Output) => "output ",
        _ => "",
    };
    let dims = buffer.backwards_dims().into_iter().map(|dim| format!("dimension {dim}"));
    let backwards = match dims.collect::<Vec<_>>() {
        dims if dims.is_empty() => String::new(),
        dims => format!(", counted from the last along {}", dims.join(" and ")),
    };
    format!(
        "{role}{} of {} over {}{backwards}: {}, from {:#x}",
        buffer.name,
        buffer.element.name(),
        if region.is_empty() { "one element".to_string() } else { region.join(" x ") },
        place_text(buffer),
        buffer.base
    )
}

/// A kernel that computes, with what is moved for it.
struct Work {
    func: Func,
    stage: Stage,
    text: String,
    lines: Vec<String>,
    traffic: Traffic,
    cost: Cost,
    /// What its code takes at least, if there is code.
    bounds: Option<Bounds>,
    /// Cycles of the cost in which ghost zones are filled and copies made.
    moving: u64,
    /// The name of the stage.
    name: String,
    /// The engines that compute it, and those that there are.
    engines: (u64, u64),
}

impl Work {
    fn share(&self) -> Share<'_> {
        Share { stage: &self.name, cost: self.cost, engines: self.engines }
    }
}

/// What is done, with what its code takes or else what it is estimated to take by the plan.
fn works(plan: &Plan, machine: &Machine, taken: Option<&[Taken]>) -> Vec<Work> {
    let mut works = Vec::new();
    let estimates = match taken {
        Some(taken) => taken.iter().map(|taken| (taken.cost, Some(taken.bounds))).collect(),
        None => costs(plan, machine).into_iter().map(|cost| (cost, None)).collect::<Vec<_>>(),
    };
    let mut bounds: Option<Bounds> = None;
    let (mut lines, mut traffic) = (Vec::new(), Traffic::default());
    let (mut cost, mut moving) = (Cost::default(), 0);
    let name = |func: Func, stage: Stage| {
        let name = &plan.pipeline.funcs[func].name;
        match stage {
            Stage::Pure => name.clone(),
            Stage::Update(k) => format!("update {k} of {name}"),
        }
    };
    for (step, (estimate, least)) in plan.steps.iter().zip(estimates) {
        let moved = of_move(plan, machine, step);
        cost += estimate;
        if let Some(least) = least {
            *bounds.get_or_insert_default() += least;
        }
        let (func, stage, engines, text) = match step {
            Step::Exchange(id) => {
                lines.push(format!(
                    "first: ghost zones of {} are filled, {}",
                    plan.buffers[*id].name,
                    traffic_text(moved)
                ));
                traffic += moved;
                moving += estimate.cycles();
                continue;
            }
            Step::Redistribute { from, to, .. } => {
                lines.push(format!(
                    "first: {} is copied to {}, {}",
                    plan.buffers[*from].name,
                    plan.buffers[*to].name,
                    traffic_text(moved)
                ));
                traffic += moved;
                moving += estimate.cycles();
                continue;
            }
            Step::Tiles(s) => {
                traffic += nest_lines(plan, &s.nest, &mut lines);
                let rows = count(s.nest.block_rows.into(), "row");
                let text = format!("{}: tile by tile, {rows} at a time", name(s.func, s.stage));
                (s.func, s.stage, used_engines(&s.nest.tiles, &s.nest.region), text)
            }
            Step::Reduce(s) => {
                traffic += nest_lines(plan, &s.nest, &mut lines);
                let merged = of_merge(s, plan);
                lines.push(format!("parts are merged, {}", traffic_text(merged)));
                traffic += merged;
                let stage = part_stage(plan, &works, s.func);
                let text = format!("{}: in parts on all engines, then merged", name(s.func, stage));
                (s.func, stage, used_engines(&s.nest.tiles, &s.nest.region), text)
            }
            Step::Serial(s) => {
                let text = format!("{}: on one engine, in order", name(s.func, s.stage));
                let there = u64::from(machine.vaults()) * u64::from(machine.engines());
                (s.func, s.stage, (1, there), text)
            }
        };
        works.push(Work {
            func,
            stage,
            text,
            name: name(func, stage),
            engines,
            lines: std::mem::take(&mut lines),
            traffic: std::mem::take(&mut traffic),
            cost: std::mem::take(&mut cost),
            bounds: bounds.take(),
            moving: std::mem::take(&mut moving),
        });
    }
    works
}

/// The update of a Func that the next reduction in parts is of: the first that has not run yet.
fn part_stage(plan: &Plan, done: &[Work], func: Func) -> Stage {
    let ran = |k: usize| {
        let stages = plan.bounds.funcs[func].as_ref().map(|b| &b.stages);
        stages.is_some_and(|s| s[k + 1].is_some())
            && !done.iter().any(|w| (w.func, w.stage) == (func, Stage::Update(k)))
    };
    let updates = plan.pipeline.funcs[func].updates.len();
    (0..updates).find(|&k| ran(k)).map_or(Stage::Pure, Stage::Update)
}

/// Adds what a nest reads; gives what that moves.
fn nest_lines(plan: &Plan, nest: &Nest, lines: &mut Vec<String>) -> Traffic {
    let moved = of_nest(nest);
    for read in &nest.reads {
        let name = &plan.buffers[read.buffer].name;
        let how = match &read.window {
            Some(w) => {
                format!("through a window of {} x {} elements of the group", w.pitch, w.rows)
            }
            None => "from the engine's own bank".to_string(),
        };
        let [x, y] = read.reach;
        lines.push(format!(
            "reads {name} {how}: x {}..={}, y {}..={} of a tile",
            x.0, x.1, y.0, y.1
        ));
    }
    for (id, table) in &nest.tables {
        let bytes = u64::from(table.words) * u64::from(ELEMENT_BYTES);
        let slice = table.slice.as_ref().map_or(String::new(), |slice| {
            let all = nest.region[slice.dim].extent();
            format!(", filled anew for each {} of {all} planes", slice.planes)
        });
        lines.push(format!(
            "looks up {} in a table of {bytes} bytes in the scratchpads of groups{slice}",
            plan.buffers[*id].name
        ));
    }
    if moved.window > 0 {
        lines.push(format!("windows are filled, {}", traffic_text(moved)));
    }
    moved
}

/// Estimated cycles, and what they are for.
fn cost_text(cost: &Cost) -> String {
    let parts = [
        (cost.compute, "computing"),
        (cost.windows, "filling windows"),
        (cost.moves, "moving between banks"),
        (cost.setup, "constants and barriers"),
    ];
    let parts: Vec<String> =
        parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    format!("about {} cycles: {}", cost.cycles(), parts.join(", "))
}

/// What code takes at least, the largest first, and how far from that it is.
fn bounds_text(bounds: &Bounds, cost: &Cost) -> String {
    let mut each = bounds.each();
    each.sort_by_key(|&(cycles, _)| std::cmp::Reverse(cycles));
    let parts: Vec<String> = each
        .iter()
        .filter(|(cycles, _)| *cycles > 0)
        .map(|(cycles, what)| format!("{cycles} {what}"))
        .collect();
    let times = cost.cycles() as f64 / each[0].0.max(1) as f64;
    format!("at least: {}; the code takes {times:.2} times the largest", parts.join(", "))
}

fn traffic_text(traffic: Traffic) -> String {
    let parts = [
        (traffic.window, "into scratchpads of groups"),
        (traffic.vault, "through scratchpads of vaults"),
        (traffic.req, "by req"),
    ];
    let parts: Vec<String> =
        parts.iter().filter(|(n, _)| *n > 0).map(|(n, how)| format!("{n} bytes {how}")).collect();
    match parts.is_empty() {
        true => "nothing".to_string(),
        false => parts.join(", "),
    }
}

fn count(n: u64, noun: &str) -> String {
    match n {
        1 => format!("1 {noun}"),
        n => format!("{n} {noun}s"),
    }
}
