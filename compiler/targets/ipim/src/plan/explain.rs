//! What a plan does, in words: the schedule in effect, ready to paste; stage by stage where data
//! lives and what moves between banks; what became of each directive.

use std::fmt::Write;

use nbcc_base::{SourceMap, Span};
use nbcc_isa_ipim::Machine;
use nbcc_isa_ipim::layout::{Layout, Role};
use nbcc_placement::{Remark, RemarkKind};
use nbcc_stages::print::directive_text;
use nbcc_stages::{Directive, DirectiveKind, Func, FuncData, Pipeline};

use super::traffic::{Traffic, of_merge, of_move, of_nest};
use super::{BufferPlan, Nest, Plan, Stage, Step};

/// Explains a plan. `written` is the pipeline as the source has it, `remarks` are those of its
/// compilation.
pub fn explain(
    plan: &Plan,
    machine: &Machine,
    written: &Pipeline,
    sources: &SourceMap,
    remarks: &[Remark],
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
    for line in schedule_lines(plan, written, sources) {
        let _ = writeln!(out, "    {line}");
    }
    let _ = writeln!(out, "\nwhere data lives\n");
    for buffer in plan.buffers.values() {
        let _ = writeln!(out, "    {}", home_text(buffer));
    }
    let _ = writeln!(out, "\nwhat is done, in order\n");
    let mut total = Traffic::default();
    for (number, work) in works(plan, machine).iter().enumerate() {
        let _ = writeln!(out, "  {number:>3}. {}", work.text);
        for line in &work.lines {
            let _ = writeln!(out, "       {line}");
        }
        total += work.traffic;
    }
    let _ = writeln!(out, "\nmoved in all: {}", traffic_text(total));
    let mut said = remarks.iter().filter(|r| r.pass == "schedule").peekable();
    if said.peek().is_some() {
        let _ = writeln!(out, "\ndirectives\n");
    }
    for remark in said {
        let word = match remark.kind {
            RemarkKind::Missed => "not followed",
            _ => "followed",
        };
        let _ = writeln!(out, "    {}.{} ({word})", remark.function, remark.message);
    }
    out
}

/// A remark for each kernel, at its definition: where its values live and what it makes move.
pub fn remarks(plan: &Plan, machine: &Machine) -> Vec<Remark> {
    let works = works(plan, machine).into_iter();
    let remark = |work: Work| {
        let bytes = [
            ("WindowBytes", work.traffic.window),
            ("VaultScratchpadBytes", work.traffic.vault),
            ("RequestedBytes", work.traffic.req),
        ];
        let home = plan.funcs[work.func].first().map(|&id| place_text(&plan.buffers[id]));
        Remark {
            kind: RemarkKind::Analysis,
            pass: "distribute",
            name: "Kernel",
            function: plan.pipeline.funcs[work.func].name.clone(),
            span: Some(span_of(&plan.pipeline.funcs[work.func], work.stage)),
            message: format!("{}; its values live in {}", work.text, home.unwrap_or_default()),
            terms: bytes.map(|(name, n)| (name.to_string(), n.to_string())).to_vec(),
        }
    };
    works.map(remark).collect()
}

fn span_of(data: &FuncData, stage: Stage) -> Span {
    match stage {
        Stage::Pure => data.pure.as_ref().map_or(data.span, |pure| pure.span),
        Stage::Update(k) => data.updates[k].span,
    }
}

/// The schedule in effect: a statement for each Func that the source can name, a comment for each
/// other.
fn schedule_lines(plan: &Plan, written: &Pipeline, sources: &SourceMap) -> Vec<String> {
    let p = &plan.pipeline;
    let mut lines = Vec::new();
    for (func, data) in &p.funcs {
        let text = chain(plan, written, func);
        lines.push(match handle(sources, p, data) {
            Some(name) => format!("{name}{text};"),
            None => format!("// {} has no name here: {}", data.name, &text[1..]),
        });
    }
    lines
}

/// The directives of a Func, each with the dot before it.
fn chain(plan: &Plan, written: &Pipeline, func: Func) -> String {
    let data = &plan.pipeline.funcs[func];
    let mut text = match plan.bounds.funcs[func] {
        Some(_) => ".compute_root()".to_string(),
        None => return ".compute_inline()".to_string(),
    };
    let kept = |d: &&Directive| {
        matches!(d.kind, DirectiveKind::Bound { .. } | DirectiveKind::SetEstimate { .. })
    };
    // As they are written: they may depend on the extents of inputs.
    for directive in written.funcs[func].schedule.directives.iter().filter(kept) {
        let _ = write!(text, ".{}", directive_text(written, directive));
    }
    let buffer = plan.funcs[func].first().map(|&id| &plan.buffers[id].layout);
    let Some(Layout::Tiled(tiles)) = buffer else { return text };
    let inner: Vec<String> = data.vars.iter().take(2).map(|v| inner_name(data, v)).collect();
    let outer = data.vars.iter().take(2).cloned().collect::<Vec<_>>().join(", ");
    let inner_list = inner.join(", ");
    let sizes: Vec<String> = tiles.tile.iter().take(inner.len()).map(u32::to_string).collect();
    let _ = write!(text, ".ipim_tile({outer}, {inner_list}, {})", sizes.join(", "));
    let staged = |step: &Step| match step {
        Step::Tiles(s) if (s.func, s.stage) == (func, Stage::Pure) => {
            !s.nest.reads.is_empty() && s.nest.reads.iter().all(|r| r.window.is_some())
        }
        _ => false,
    };
    if plan.steps.iter().any(staged) {
        let _ = write!(text, ".load_pgsm({inner_list})");
    }
    let _ = write!(text, ".vectorize({}, {})", inner[0], nbcc_isa_ipim::LANES);
    text
}

/// A name for the loop over the elements of a tile.
fn inner_name(data: &FuncData, var: &str) -> String {
    let mut name = format!("{var}i");
    while data.vars.contains(&name) {
        name.push('i');
    }
    name
}

/// How the source names a Func at its end: the name it was declared with outside of all braces,
/// with the index of an element of an array. An input that is used as a Func has none.
fn handle(sources: &SourceMap, pipeline: &Pipeline, data: &FuncData) -> Option<String> {
    let file = sources.files().get(data.span.source.0 as usize)?;
    let (start, end) = (data.span.start as usize, data.span.end as usize);
    let name = file.text.get(start..end)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_input = pipeline.inputs.values().any(|input| input.name == name);
    let named = !name.is_empty() && name.chars().all(plain) && !is_input;
    if !named || depth(&file.text[..start]) != 0 {
        return None;
    }
    let index = data.name.find('[').map_or("", |at| &data.name[at..]);
    Some(format!("{name}{index}"))
}

/// How many braces are open at the end of a text.
fn depth(text: &str) -> i64 {
    let mut depth = 0;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let skip = match c {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |n| n + 2),
            '"' => rest[1..].find('"').map_or(rest.len(), |n| n + 2),
            _ => {
                depth += i64::from(c == '{') - i64::from(c == '}');
                c.len_utf8()
            }
        };
        rest = &rest[skip..];
    }
    depth
}

/// Where the elements of a buffer are.
fn place_text(buffer: &BufferPlan) -> String {
    match &buffer.layout {
        Layout::Tiled(t) => {
            let mut text = format!(
                "tiles of {} x {}, {} in each bank",
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
            text
        }
        Layout::Single { cube, vault, pg, pe } => {
            format!("one bank (cube {cube}, vault {vault}, group {pg}, engine {pe})")
        }
        Layout::Replicated => "every bank, whole".to_string(),
    }
}

fn home_text(buffer: &BufferPlan) -> String {
    let region: Vec<String> = buffer.region.iter().map(|i| format!("[{i}]")).collect();
    let role = match buffer.role {
        Some(Role::Input) => "input ",
        Some(Role::Output) => "output ",
        _ => "",
    };
    format!(
        "{role}{} of {} over {}: {}, from {:#x}",
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
}

fn works(plan: &Plan, machine: &Machine) -> Vec<Work> {
    let mut works = Vec::new();
    let (mut lines, mut traffic) = (Vec::new(), Traffic::default());
    let name = |func: Func, stage: Stage| {
        let name = &plan.pipeline.funcs[func].name;
        match stage {
            Stage::Pure => name.clone(),
            Stage::Update(k) => format!("update {k} of {name}"),
        }
    };
    for step in &plan.steps {
        let moved = of_move(plan, machine, step);
        let (func, stage, text) = match step {
            Step::Exchange(id) => {
                lines.push(format!(
                    "first: ghost zones of {} are filled, {}",
                    plan.buffers[*id].name,
                    traffic_text(moved)
                ));
                traffic += moved;
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
                continue;
            }
            Step::Tiles(s) => {
                traffic += nest_lines(plan, &s.nest, &mut lines);
                let rows = count(s.nest.block_rows.into(), "row");
                let text = format!("{}: tile by tile, {rows} at a time", name(s.func, s.stage));
                (s.func, s.stage, text)
            }
            Step::Reduce(s) => {
                traffic += nest_lines(plan, &s.nest, &mut lines);
                let merged = of_merge(s, plan);
                lines.push(format!("parts are merged, {}", traffic_text(merged)));
                traffic += merged;
                let stage = part_stage(plan, &works, s.func);
                let text = format!("{}: in parts on all engines, then merged", name(s.func, stage));
                (s.func, stage, text)
            }
            Step::Serial(s) => {
                let text = format!("{}: on one engine, in order", name(s.func, s.stage));
                (s.func, s.stage, text)
            }
        };
        works.push(Work {
            func,
            stage,
            text,
            lines: std::mem::take(&mut lines),
            traffic: std::mem::take(&mut traffic),
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
    if moved.window > 0 {
        lines.push(format!("windows are filled, {}", traffic_text(moved)));
    }
    moved
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

#[cfg(test)]
mod tests {
    use super::depth;

    #[test]
    fn braces_in_comments_and_texts_do_not_count() {
        assert_eq!(depth("Func f() { // }\n /* { */ \"{\""), 1);
        assert_eq!(depth("for (;;) { }\n/* é"), 0);
    }
}
