//! The passes of this target, in order: the only place that says so.

use std::cell::RefCell;

use nbcc_base::{Diagnostic, Failed, Span};
use nbcc_ir::{Block, Function, Mem};
use nbcc_isa_sdpnm::core::memory::PAGE;
use nbcc_mach::regalloc::Allocation;
use nbcc_opt::{
    accumulators, choices, cse, dce, fold, licm, lower_switch, params, ranges, rotate,
    simplify_cfg, trip_counts,
};
use nbcc_opt::{unreachable, widen};
use nbcc_pipeline::{Context, Fact, OptLevel, PassDesc, Stop, attempt, optional, pass, signature};
use nbcc_placement::{Message, Remark, RemarkKind, Term};

use crate::arrays::estimates::{Guess, estimate};
use crate::arrays::facts::sources::Wishes;
use crate::arrays::homes::forgotten;
use crate::arrays::loops::collapse::MOST_OPERATIONS;
use crate::arrays::loops::flatten::MOST_FOR_CORE;
use crate::arrays::loops::strips::Strips;
use crate::arrays::loops::{
    collapse, counters, divisions, divisors, flatten, merge, strips, unswitch,
};
use crate::arrays::reports::fates;
use crate::arrays::reports::remarks;
use crate::arrays::{self};
use crate::arrays::{ASKED_FOR_CORE, Decision};
use crate::codes;
use crate::core::{divide, emit, islands, layout, objects, regalloc, select};
use crate::map::mappers::MAPPERS;
use crate::state::{Compilation, Configuration};

const WORDS: Fact = Fact("no division of 64 bits");
const PLACED: Fact = Fact("objects placed");
const MACHINE: Fact = Fact("machine instructions");
const REGISTERS: Fact = Fact("registers");

/// The pipeline.
pub const PASSES: &[PassDesc<Compilation, Configuration>] = &[
    pass("unreachable", "remove blocks that nothing reaches", run_unreachable, &[], &[]),
    optional("fold", "fold constants and simplify arithmetic", OptLevel::O1, run_fold, &[]),
    optional(
        "simplify-cfg",
        "join blocks and lead jumps to their ends",
        OptLevel::O1,
        run_simplify,
        &[],
    ),
    optional("cse", "compute equal values once", OptLevel::O1, run_cse, &[]),
    optional("dce", "remove what nothing uses", OptLevel::O1, run_clean, &[]),
    optional(
        "lower-switch",
        "make branches of switches in loops, which arrays predicate",
        OptLevel::O1,
        run_lower_switch,
        &[],
    ),
    optional(
        "count",
        "test loops at their end, count them in words, and how often they run",
        OptLevel::O1,
        run_count,
        &[],
    ),
    optional("licm", "move what does not change out of loops", OptLevel::O1, run_licm, &[]),
    optional("clean", "fold and clean what the transforms made", OptLevel::O1, run_tidy, &[]),
    optional(
        "flatten",
        "unroll short loops inside of others, make values of small arrays",
        OptLevel::O1,
        run_flatten,
        &[],
    )
    .resuming(|_, _| true),
    optional(
        "strips",
        "let loops go in strips through what is larger than a shared memory",
        OptLevel::O1,
        run_strips,
        &[],
    )
    .resuming(Configuration::unrolls_as),
    optional("merge", "join loops that stand one behind the other", OptLevel::O1, run_merge, &[])
        .resuming(Configuration::strips_as),
    optional("collapse", "make one loop of nests of loops", OptLevel::O1, run_collapse, &[])
        .resuming(Configuration::merges_as),
    optional(
        "reassociate",
        "let recurrences of sums be shorter, where arrays gain by it",
        OptLevel::O1,
        run_reassociate,
        &[],
    ),
    optional(
        "jam",
        "let arrays do several iterations of a loop at a time, where they gain by it",
        OptLevel::O1,
        run_jam,
        &[],
    ),
    attempt("arrays", "put loops on arrays", run_arrays, &[], &[]).optional_from(OptLevel::O1),
    pass("divide", "make loops of 64-bit divisions", run_divide, &[], &[WORDS]),
    pass("objects", "give memory objects their addresses", run_objects, &[], &[PLACED]),
    pass("select", "choose instructions", run_select, &[WORDS, PLACED], &[MACHINE]),
    pass(
        "allocate",
        "give registers, keep the rest in the frame",
        run_allocate,
        &[MACHINE],
        &[REGISTERS],
    ),
    pass("layout", "straighten branches, and extend those too far", run_layout, &[REGISTERS], &[]),
    pass("emit", "put the program together", run_emit, &[REGISTERS], &[]),
];

/// Runs target-neutral transforms.
fn each(state: &mut Compilation, transforms: &[nbcc_opt::Pass]) -> Result<(), Failed> {
    for transform in transforms {
        transform(&mut state.module.functions[state.func]);
    }
    Ok(())
}

fn run_unreachable(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    each(state, &[unreachable::run])
}

fn run_fold(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    each(state, &[fold::run])
}

fn run_simplify(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    each(state, &[simplify_cfg::run])
}

fn run_cse(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    each(state, &[cse::run])
}

fn run_clean(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    each(state, &[dce::run, params::run, dce::run])
}

fn run_lower_switch(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    match state.mapper.is_some() {
        true => each(state, &[lower_switch::run, fold::run, simplify_cfg::run]),
        false => Ok(()),
    }
}

fn run_count(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    // Words are counted, and what is counted makes more words.
    each(state, &[rotate::run, widen::run, trip_counts::run, widen::run])
}

fn run_licm(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    each(state, &[licm::run])
}

fn run_tidy(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    each(state, &[ranges::run, choices::run, fold::run, cse::run, simplify_cfg::run])?;
    run_clean(state, cx)
}

fn run_flatten(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    if state.mapper.is_none() {
        return Ok(());
    }
    let function = &mut state.module.functions[state.func];
    let divided = unswitch::run(function)
        | counters::run(function)
        | divisions::run(function)
        | divisors::run(function);
    let (changed, flattened) =
        flatten::run(&mut state.module, state.func, &state.configuration.rolled, &state.sources);
    state.flattened = flattened;
    let added = accumulators::run(&mut state.module.functions[state.func]);
    match changed | divided | added {
        true => each(
            state,
            &[fold::run, cse::run, licm::run, simplify_cfg::run, dce::run, params::run, dce::run],
        ),
        false => Ok(()),
    }
}

fn run_strips(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    if state.mapper.is_some() {
        let refused = &state.configuration.unstripped;
        state.strips = strips::run(&mut state.module, state.func, &state.machine, refused);
        state.arrays.windows = state.strips.iter().flat_map(|of| of.windows.clone()).collect();
    }
    Ok(())
}

fn run_merge(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    if state.mapper.is_some() && state.configuration.merges {
        let func = &mut state.module.functions[state.func];
        let unmerged = &state.configuration.unmerged;
        state.heads = state.sources.heads(func);
        state.merged = merge::run(func, unmerged, state.hyperblocks, &state.sources);
    }
    Ok(())
}

fn run_collapse(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    state.chains = true;
    if state.mapper.is_some() && state.configuration.collapses {
        let own = forgotten(&state.module, state.func);
        let machine = &state.machine;
        let (most, splits) = (state.configuration.operations, state.splits);
        let hyperblocks = state.hyperblocks;
        let cycles = |func: &Function, header, rows, is_several| {
            let most = if is_several { most } else { usize::MAX };
            let guess = Guess { header, rows, most, own: &own, splits, hyperblocks };
            estimate(func, guess, machine)
        };
        let func = &mut state.module.functions[state.func];
        let mut refused = state.sources.apart(func);
        refused.extend(&state.configuration.uncollapsed);
        state.is_decided = true;
        state.heads.extend(state.sources.heads(func));
        state.collapsed = collapse::run(func, &refused, cycles);
    }
    Ok(())
}

fn run_reassociate(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    state.reassociates = true;
    Ok(())
}

fn run_jam(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    state.jams = true;
    Ok(())
}

/// Attempts that undo what was made of one pair of loops or one nest, before all is undone: each takes
/// as long as the first.
const ATTEMPTS: usize = 3;

/// Operations of a nest's loop from which on fewer are tried where no array runs it.
const LEAST_OPERATIONS: usize = MOST_OPERATIONS / 2;

/// What is said of a loop that was made of several and found no array: the pass that made it, the name
/// of the remark, and its text.
type Lost = [&'static str; 3];

/// The configuration without what made a loop of several.
fn without(state: &Compilation, header: Block) -> Option<(Configuration, Lost)> {
    let mut new = state.configuration.clone();
    let nest = state.collapsed.iter().rfind(|made| made.header == header);
    let pair = state.merged.iter().rfind(|(made, _)| *made == header);
    let is_last = new.uncollapsed.len() + new.unmerged.len() >= ATTEMPTS;
    let what = match (nest, pair) {
        (Some(nest), _) if nest.is_several && new.operations > LEAST_OPERATIONS => {
            new.operations /= 2;
            ["collapse", "Smaller", "no array runs so many iterations of the loops here as one"]
        }
        (Some(nest), _) => {
            new.uncollapsed.extend(&nest.around);
            ["collapse", "NotCollapsed", "no array runs the loops here as one"]
        }
        (None, Some(&(_, pair))) => {
            new.unmerged.insert(pair);
            let message = "loops that were merged here are too much for an array together";
            ["merge", "NotMerged", message]
        }
        (None, None) => return otherwise_unrolled(state, header),
    };
    if is_last {
        (new.merges, new.collapses) = (false, false);
    }
    Some((new, what))
}

/// Loops that were unrolled inside of others and that another attempt may leave, behind those around them.
fn rollable(state: &Compilation) -> impl Iterator<Item = (Block, Block)> {
    let Configuration { rolled, unrolled, .. } = &state.configuration;
    let may = rolled.len() + unrolled.len() < ATTEMPTS;
    let long = state.flattened.iter().filter(move |loops| may && loops.trips > MOST_FOR_CORE);
    long.map(|loops| (loops.outer, loops.inner)).filter(|(_, inner)| !unrolled.contains(inner))
}

/// The configuration without loops that were unrolled inside of one, or with one that was left.
fn otherwise_unrolled(state: &Compilation, header: Block) -> Option<(Configuration, Lost)> {
    let mut new = state.configuration.clone();
    if new.rolled.remove(&header) {
        new.unrolled.insert(header);
        let message = "no array runs this loop, which is unrolled for the core";
        return Some((new, ["flatten", "Unrolled", message]));
    }
    let inside: Vec<Block> =
        rollable(state).filter(|(outer, _)| *outer == header).map(|(_, inner)| inner).collect();
    if inside.is_empty() {
        return None;
    }
    new.rolled.extend(inside);
    let message = "no array runs the loop here with those inside unrolled";
    Some((new, ["flatten", "NotUnrolled", message]))
}

fn run_arrays(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Stop<Configuration>> {
    let Some(mapper) = state.mapper else {
        let func = state.module.functions[state.func].name.clone();
        let (machine, mapper) = (&state.machine, &MAPPERS[0]);
        let about = remarks::About { function: &func, machine, mapper, sources: cx.sources };
        cx.remarks.extend(fates::remarks(state, about));
        return Ok(());
    };
    let rollable = rollable(state).map(|(outer, _)| outer).collect();
    let tools = arrays::Tools {
        machine: &state.machine,
        mapper,
        memory: &state.memory,
        sources: cx.sources,
        splits: state.splits,
        hyperblocks: state.hyperblocks,
        reassociates: state.reassociates,
        jams: state.jams,
        nests: &state.collapsed,
        chains: state.chains,
        loops: &state.sources,
        rollable: &rollable,
        wishes: Wishes::default(),
        notes: &RefCell::default(),
    };
    state.heads.extend(state.sources.heads(&state.module.functions[state.func]));
    state.decisions = arrays::run(&mut state.module, state.func, tools, &mut state.arrays);
    // Of the questions which version runs, loops around answer some.
    each(
        state,
        &[ranges::run, fold::run, cse::run, licm::run, simplify_cfg::run, dce::run, params::run],
    )?;
    arrays::look_again(&state.module.functions[state.func], &mut state.decisions);
    // What is too much for an array together may be enough for it one by one.
    let is_lost = |d: &&Decision| d.place.as_ref().is_err_and(|why| why != ASKED_FOR_CORE);
    let lost = state.decisions.iter().filter(is_lost);
    let mut lost = lost.filter_map(|d| Some((d, without(state, d.header)?)));
    if let Some((lost, (new, [pass, name, message]))) = lost.next() {
        let why = Remark {
            kind: RemarkKind::Missed,
            span: lost.span,
            ..remark(state, pass, name, Message::of(message))
        };
        return Err(Stop::retry(new, Some(why)));
    }
    // Strips are for arrays only.
    let is_home = |mem: &Mem| state.arrays.homes.iter().any(|home| home.0 == *mem);
    let in_vain = state
        .strips
        .iter()
        .filter(|strips| !strips.windows.is_empty() && !strips.windows.iter().any(is_home));
    let in_vain: Vec<Block> = in_vain.map(|strips| strips.header).collect();
    if !in_vain.is_empty() {
        let mut new = state.configuration.clone();
        new.unstripped.extend(in_vain);
        return Err(Stop::retry(new, None));
    }
    // The source has no loop over strips.
    let strips = &state.strips;
    state.decisions.retain(|d| !strips.iter().any(|strips| strips.over == d.header));
    let func = state.module.functions[state.func].name.clone();
    let about =
        remarks::About { function: &func, machine: &state.machine, mapper, sources: cx.sources };
    cx.remarks.extend(remarks::of(&state.decisions, about));
    cx.remarks.extend(fates::remarks(state, about));
    cx.remarks.extend(state.strips.iter().map(|strips| in_strips(state, strips)));
    Ok(())
}

/// Says that a loop goes in strips.
fn in_strips(state: &Compilation, strips: &Strips) -> Remark {
    let func = &state.module.functions[state.func];
    let names = strips.windows.iter().map(|&mem| func.mems[mem].name.split('.').next());
    let names: Vec<&str> = names.flatten().collect();
    let message = Message::of("this loop goes in strips of ")
        .value("Each", strips.each)
        .text(" of its ")
        .value("Trips", strips.trips)
        .text(match names.is_empty() {
            true => " iterations, so that loops inside may be one with it",
            false => " iterations, whose part of large arrays is moved to a shared memory before and back behind: ",
        })
        .value("Arrays", names.join(", "));
    Remark {
        kind: RemarkKind::Passed,
        span: strips.span,
        ..remark(state, "strips", "Strips", message)
    }
}

fn run_divide(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    divide::run(&mut state.module.functions[state.func]);
    Ok(())
}

/// A remark on the function.
fn remark(state: &Compilation, pass: &'static str, name: &'static str, message: Message) -> Remark {
    let func = &state.module.functions[state.func];
    Remark {
        kind: RemarkKind::Analysis,
        pass,
        name,
        function: func.name.clone(),
        span: func.first_span(),
        message,
        terms: vec![],
    }
}

/// Says that a function does not fit.
fn too_large(state: &Compilation, what: &str, cx: &mut Context<'_>) -> Result<(), Failed> {
    too_large_at(state, state.module.functions[state.func].first_span(), what, cx)
}

fn too_large_at(
    state: &Compilation,
    span: Option<Span>,
    what: &str,
    cx: &mut Context<'_>,
) -> Result<(), Failed> {
    let func = &state.module.functions[state.func];
    let message = format!("`{}` does not fit the core: {what}", func.name);
    let error = Diagnostic::error(&codes::CORE_TOO_LARGE, message)
        .at_some(span, "in this function")
        .help("use smaller variables, fewer values at a time, or less code in one function");
    cx.diagnostics.fail(error)
}

fn run_objects(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    let func = &state.module.functions[state.func];
    match objects::place(&state.module, func, &signature(func), &state.machine, &state.arrays) {
        Ok(objects) => state.objects = objects,
        Err(what) => return too_large(state, &what, cx),
    }
    Ok(())
}

fn run_select(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    match select::select(&state.module.functions[state.func], &state.objects) {
        Ok(selected) => state.selected = Some(selected),
        Err(unsupported) => {
            let message = format!("the core has no instructions for {}", unsupported.what);
            let error = Diagnostic::error(&codes::UNSUPPORTED, message)
                .at_some(unsupported.span, "used here")
                .help("compute with integers of up to 64 bits, on arrays and variables");
            return cx.diagnostics.fail(error);
        }
    }
    Ok(())
}

fn run_allocate(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    let selected = state.selected.as_mut().expect("instructions are selected");
    state.unallocated = cx.passes.verify_each.then(|| selected.func.clone());
    let coalescing = cx.passes.level >= OptLevel::O1;
    let (frame, slots) = (&mut state.objects.frame.frame, &state.objects.slots);
    let Ok((done, end)) = regalloc::allocate(selected, frame.address, slots, coalescing) else {
        return too_large(state, "the frame has no room for so many values at a time", cx);
    };
    frame.bytes = frame.bytes.max(end.next_multiple_of(PAGE));
    let Allocation { spilled, rematerialised, coalesced, .. } = done;
    let message = Message::of_value("Registers", done.used.first().copied().unwrap_or(0))
        .text(" registers; ")
        .value("Spilled", spilled)
        .text(" values are kept in the frame, ")
        .value("Rematerialised", rematerialised)
        .text(" are rematerialised");
    let terms = vec![Term::new("Coalesced", coalesced)];
    let remark = remark(state, "allocate", "Registers", message);
    cx.remarks.push(Remark { terms, ..remark });
    state.allocation = Some(done);
    Ok(())
}

fn run_layout(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    // Blocks are others from here on.
    state.unallocated = None;
    let selected = state.selected.as_mut().expect("instructions are selected");
    layout::straighten(&mut selected.func, selected.zero);
    layout::extend(&mut selected.func, selected.zero);
    loop {
        match islands::put(&mut selected.func, selected.zero, islands::MAX_FORWARD) {
            Ok(None) => return Ok(()),
            Ok(Some(names)) => {
                for (block, _) in &mut selected.traps {
                    *block = nbcc_mach::Block::from_u32(names[block.as_u32() as usize]);
                }
            }
            Err(span) => {
                let what = "a part of it without jumps is larger than jumps reach, 1 MiB";
                let span = span.or_else(|| selected.func.first_span());
                return too_large_at(state, span, what, cx);
            }
        }
        layout::extend(&mut selected.func, selected.zero);
    }
}

fn run_emit(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    let selected = state.selected.as_ref().expect("instructions are selected");
    let allocation = state.allocation.as_ref().expect("registers are allocated");
    let signature = signature(&state.module.functions[state.func]);
    let (objects, machine) = (&state.objects, &state.machine);
    let program = emit::emit(
        selected,
        allocation,
        objects,
        signature,
        machine,
        &state.arrays.packages,
        cx.sources,
    );
    state.program = Some(program);
    Ok(())
}
