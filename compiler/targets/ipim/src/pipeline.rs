//! The passes of this target, in order: the only place that says so. What a pass does to one kernel depends on
//! no other, so that threads share them.

use nbcc_base::Failed;
use nbcc_ir::{Function, IntrinsicCall, Op};
use nbcc_pipeline::{Context, Fact, OptLevel, PassDesc, attempt, optional, pass};
use nbcc_placement::{Message, Remark, RemarkKind};
use rayon::prelude::*;

use crate::backend::select::requests;
use crate::configuration::{Configuration, Rematerialise, Trial, Unrolling};
use crate::kernel::{Kernel, KernelCall, Size};
use crate::passes::{
    addresses, complete, forward, fuse, increments, legalize, merge, place, preload, reuse, share,
    sink, unroll,
};
use crate::plan::jams;
use crate::state::Compilation;
use crate::{contest, fit, front, intrinsics};

const EXTENTS: Fact = Fact("extents");
const BOUNDS: Fact = Fact("bounds");
const PLAN: Fact = Fact("plan");
const KERNELS: Fact = Fact("kernels");
const ADDRESSES: Fact = Fact("addresses");
const LEGAL: Fact = Fact("legal operations");
const PLACES: Fact = Fact("places");
const MACHINE: Fact = Fact("machine instructions");
const REGISTERS: Fact = Fact("registers");

/// The part of the instruction memory that is for kernels which are not merged since they run much.
const UNMERGED_PART: usize = 6;

/// The pipeline.
pub const PASSES: &[PassDesc<Compilation, Configuration>] = &[
    pass(
        "extents",
        "fix the extents of images and fold what depends on them",
        front::extents,
        &[],
        &[EXTENTS],
    ),
    pass(
        "schedule",
        "refuse directives that no loop nest can follow",
        front::check_schedule,
        &[EXTENTS],
        &[],
    ),
    pass(
        "unroll-updates",
        "make updates over few points part of the definition",
        front::unroll_updates,
        &[EXTENTS],
        &[],
    )
    .optional_from(OptLevel::O1)
    .resuming(|_, _| true),
    optional(
        "free-variables",
        "make dimensions of variables of domains that nothing goes through in order",
        OptLevel::O1,
        front::free_variables,
        &[EXTENTS],
    ),
    optional(
        "integer-coordinates",
        "make coordinates of integers that are made of floats",
        OptLevel::O1,
        front::integer_coordinates,
        &[EXTENTS],
    ),
    pass("defaults", "give a schedule to what has none", front::defaults, &[EXTENTS], &[]),
    optional(
        "compare-schedules",
        "compile what may be the fastest schedules, and keep the one whose code is",
        OptLevel::O2,
        contest::compare_schedules,
        &[EXTENTS],
    ),
    attempt(
        "inline",
        "compute Funcs without loops of their own at each use",
        front::inline,
        &[EXTENTS],
        &[],
    )
    .resuming(Configuration::same_definitions),
    pass(
        "bounds",
        "infer the region over which each Func is computed",
        front::bounds,
        &[EXTENTS],
        &[BOUNDS],
    ),
    pass(
        "distribute",
        "choose tiles, banks and what is brought between them",
        front::distribute,
        &[BOUNDS],
        &[PLAN],
    ),
    optional(
        "jam",
        "find vectors that can be computed together (unroll-and-jam)",
        OptLevel::O2,
        find_jams,
        &[PLAN],
    ),
    attempt("lower", "write each kernel of the plan in IR", fit::lower, &[PLAN], &[KERNELS])
        .resuming(Configuration::same_plan),
    pass(
        "share",
        "make kernels one that differ in the addresses of their buffers only",
        share_kernels,
        &[KERNELS],
        &[],
    ),
    optional(
        "cse-lanes",
        "compute vectors once of which lanes are picked",
        OptLevel::O1,
        cse_lanes,
        &[KERNELS],
    ),
    pass(
        "addresses",
        "turn elements of buffers into addresses of banks and scratchpads",
        make_addresses,
        &[KERNELS],
        &[ADDRESSES],
    ),
    pass(
        "merge",
        "make kernels one that differ in constants only",
        merge_kernels,
        &[ADDRESSES],
        &[],
    ),
    pass(
        "legalize",
        "express what Table I has not by what it has",
        make_legal,
        &[ADDRESSES],
        &[LEGAL],
    ),
    optional("fold", "fold constants and simplify arithmetic", OptLevel::O1, fold, &[LEGAL]),
    optional("cse", "compute equal values once", OptLevel::O1, cse, &[LEGAL])
        .resuming(Configuration::same_kernels),
    optional(
        "unroll",
        "repeat the bodies of loops while there is room for code",
        OptLevel::O2,
        unroll,
        &[LEGAL],
    ),
    optional("ranges", "fold what ranges of values decide", OptLevel::O1, ranges, &[LEGAL]),
    // Folding may leave operations whose expansion has constants, which must not stay in loops.
    pass("legalize-folded", "legalize what folding made", make_legal, &[LEGAL], &[]),
    optional("licm", "move what does not change out of loops", OptLevel::O1, licm, &[LEGAL]),
    optional(
        "strength",
        "turn products of loop counters into sums",
        OptLevel::O2,
        strength,
        &[LEGAL],
    ),
    optional("clean", "remove what nothing uses", OptLevel::O1, clean, &[LEGAL]),
    pass("relegalize", "legalize what the transforms made", make_legal, &[LEGAL], &[]),
    optional("fuse", "multiply and add in one instruction", OptLevel::O2, fuse, &[LEGAL]),
    optional(
        "sink",
        "compute what a round has read while windows are filled for the next one",
        OptLevel::O2,
        sink_behind_fills,
        &[LEGAL],
    ),
    optional(
        "preload",
        "load what a round of a loop computes with in the round before",
        OptLevel::O2,
        preload_loops,
        &[LEGAL],
    ),
    optional(
        "unroll-completely",
        "write loops over few tiles in full, with addresses in instructions",
        OptLevel::O2,
        unroll_completely,
        &[LEGAL],
    )
    .resuming(Configuration::same_loops),
    optional(
        "increments",
        "make addresses of each other where registers are too few for all of them",
        OptLevel::O2,
        make_increments,
        &[LEGAL],
    ),
    pass(
        "place",
        "decide which register file each value lives in",
        place_values,
        &[LEGAL],
        &[PLACES],
    ),
    attempt("select", "choose instructions", fit::choose, &[PLACES], &[MACHINE]),
    optional(
        "split-ranges",
        "leave out of registers what is rarely used while other values wait for registers",
        OptLevel::O2,
        fit::split_ranges,
        &[MACHINE],
    ),
    optional(
        "schedule-kernels",
        "issue instructions in an order in which few wait and few values need registers",
        OptLevel::O2,
        fit::schedule_kernels,
        &[MACHINE],
    ),
    attempt(
        "allocate",
        "give registers, keep the rest in banks",
        fit::allocate,
        &[MACHINE],
        &[REGISTERS],
    ),
    optional(
        "rename-registers",
        "give values of a block the registers that have rested longest",
        OptLevel::O2,
        fit::rename_registers,
        &[REGISTERS],
    ),
    optional(
        "reorder",
        "issue instructions in an order in which few wait",
        OptLevel::O1,
        fit::reorder_kernels,
        &[REGISTERS],
    ),
    attempt(
        "emit",
        "put text, constants and labels together",
        fit::put_together,
        &[REGISTERS],
        &[],
    ),
];

/// Whether that is worth it is asked when there is code, which must not be short of room.
fn find_jams(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    state.jams = match state.configuration.size {
        Size::Fast => jams(state.plan(), &state.machine),
        _ => Default::default(),
    };
    Ok(())
}

fn share_kernels(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    // Where constants may differ, addresses are constants like others.
    if !state.configuration.share || state.configuration.size >= Size::Merged {
        return Ok(());
    }
    let kernels = std::mem::take(&mut state.kernels);
    (state.kernels, state.calls) = share::share(kernels, &state.machine);
    say_shared(state, cx, "share");
    Ok(())
}

/// Tells which kernels are called.
fn say_shared(state: &Compilation, cx: &mut Context<'_>, pass: &'static str) {
    for (number, kernel) in state.kernels.iter().enumerate() {
        if kernel.args.is_none() {
            continue;
        }
        let calls = state.calls.iter().filter(|call| call.kernel == number).count();
        cx.remarks.push(Remark {
            kind: RemarkKind::Passed,
            pass,
            name: "Shared",
            function: kernel.func.name.clone(),
            span: kernel.func.first_span().or(kernel.place),
            message: Message::of_value("Calls", calls).text(" kernels are one that is called"),
            terms: vec![],
        });
    }
}

/// Values of the control core are left alone: registers for those may be too few. Where single words are
/// accessed, and nothing is asked of other vaults, they are not: places of words that are equal have to
/// be one value to be known as one.
fn cse_lanes(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    let fast = state.configuration.size < Size::Merged;
    let words = |func: &Function| fast && addresses::has_words(func) && !requests(func);
    for kernel in state.kernels.iter_mut().filter(|kernel| words(&kernel.func)) {
        nbcc_opt::cse::run(&mut kernel.func);
    }
    let picking = |kernel: &&mut Kernel| addresses::picks_lanes(&kernel.func);
    for kernel in state.kernels.iter_mut().filter(picking) {
        nbcc_opt::cse::run_where(&mut kernel.func, |func, inst| {
            let vector = func.result(inst).is_some_and(|value| func.ty(value).lanes > 1);
            vector || matches!(func.insts[inst].op, Op::Extract(..))
        });
    }
    Ok(())
}

fn make_addresses(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    let params = state.plan().params.clone();
    let fast = state.configuration.size < Size::Merged;
    let (kernels, calls, machine) = (&mut state.kernels, &state.calls, &state.machine);
    kernels.par_iter_mut().enumerate().for_each(|(number, kernel)| {
        addresses::run(kernel, &calls_of(calls, number), machine, &params, fast);
    });
    Ok(())
}

/// The calls of a kernel.
fn calls_of(calls: &[KernelCall], number: usize) -> Vec<&KernelCall> {
    calls.iter().filter(|call| call.kernel == number).collect()
}

fn merge_kernels(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    if state.configuration.size >= Size::Merged {
        let (kernels, calls) =
            (std::mem::take(&mut state.kernels), std::mem::take(&mut state.calls));
        let apart = state.configuration.apart && state.configuration.size == Size::Merged;
        let room = if apart { fit::room(state) as usize / UNMERGED_PART } else { 0 };
        (state.kernels, state.calls) =
            merge::merge(kernels, calls, state.configuration.merged_constants, room);
        // Code has to be small at every level.
        state.transforms.cse = true;
        each(state, Some(Rematerialise::Everything), &[nbcc_opt::cse::run])?;
        each(state, None, &[nbcc_opt::dce::run])?;
        say_shared(state, cx, "merge");
    }
    Ok(())
}

fn make_legal(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    state.kernels.par_iter_mut().for_each(|kernel| {
        legalize::run(&mut kernel.func, &legalize::Features::default());
    });
    Ok(())
}

/// Runs target-neutral transforms over the kernels that rematerialise less than that.
fn each(
    state: &mut Compilation,
    most: Option<Rematerialise>,
    transforms: &[nbcc_opt::Pass],
) -> Result<(), Failed> {
    let rematerialise = &state.configuration.rematerialise;
    let few = |number: &usize| most.is_none() || rematerialise.get(number).copied() < most;
    let kernels = state.kernels.par_iter_mut().enumerate();
    kernels.filter(|(number, _)| few(number)).for_each(|(_, kernel)| {
        for transform in transforms {
            transform(&mut kernel.func);
        }
    });
    Ok(())
}

fn fold(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    each(state, None, &[nbcc_opt::fold::run])
}

fn cse(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    state.transforms.cse = true;
    each(state, Some(Rematerialise::Everything), &[nbcc_opt::cse::run])
}

fn unroll(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    use nbcc_opt::{cse, dce, fold, params};
    let share = match state.configuration.unroll {
        Unrolling::All => 1,
        Unrolling::Third => 3,
        Unrolling::None => return Ok(()),
    };
    // Merged kernels have more instructions for each operation: what differs is in registers. Where
    // loops are left as they are written, those that run most are worth the attempt.
    let part = match state.configuration.size {
        Size::Fast | Size::Rolled => 6,
        _ => 5,
    };
    let room = fit::room(state) * part / 8;
    let rematerialise = &state.configuration.rematerialise;
    let skip = |number| rematerialise.contains_key(&number);
    let engines = state.machine.hierarchy.pes;
    let unrolled = unroll::run(&mut state.kernels, &state.calls, (room, share), engines, skip);
    state.transforms.unroll = unrolled.any;
    state.transforms.starved = unrolled.starved;
    each(state, Some(Rematerialise::Invariants), &[params::run, fold::run, cse::run])?;
    state.kernels.par_iter_mut().for_each(|kernel| {
        reuse::run(kernel);
        forward::run(kernel);
    });
    each(state, Some(Rematerialise::Invariants), &[cse::run, dce::run])
}

/// Rare blocks stay as they are: what is simpler there would be moved out of loops, and take registers
/// from what runs.
fn ranges(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    use nbcc_opt::{cse, dce, fold, ranges};
    let machine = &state.machine;
    state.kernels.par_iter_mut().for_each(|kernel| {
        let ids = |call: &IntrinsicCall| intrinsics::id_range(machine, call.name);
        ranges::run_where(&mut kernel.func, &ids, |block| !block.cold);
    });
    each(state, None, &[fold::run])?;
    each(state, Some(Rematerialise::Everything), &[cse::run])?;
    each(state, None, &[dce::run])
}

fn licm(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    state.transforms.licm = true;
    each(state, Some(Rematerialise::Invariants), &[nbcc_opt::licm::run])
}

fn strength(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    use nbcc_opt::{cse, fold, licm, strength};
    let transforms = [strength::run, fold::run, cse::run, licm::run];
    each(state, Some(Rematerialise::Invariants), &transforms)
}

fn clean(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    use nbcc_opt::{dce, params};
    each(state, Some(Rematerialise::Invariants), &[dce::run, params::run, dce::run])
}

fn fuse(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    state.kernels.par_iter_mut().for_each(|kernel| fuse::run(&mut kernel.func));
    each(state, None, &[nbcc_opt::dce::run])
}

fn sink_behind_fills(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    let registers = state.machine.registers.data as usize;
    let remark = |kernel: &mut Kernel| {
        let count = sink::run(kernel, registers);
        (count > 0).then(|| Remark {
            kind: RemarkKind::Passed,
            pass: "sink",
            name: "Sunk",
            function: kernel.func.name.clone(),
            span: kernel.func.first_span().or(kernel.place),
            message: Message::of_value("Instructions", count)
                .text(" instructions stand behind the fill of the next windows"),
            terms: vec![],
        })
    };
    let remarks: Vec<_> = state.kernels.par_iter_mut().map(remark).collect();
    cx.remarks.extend(remarks.into_iter().flatten());
    Ok(())
}

fn preload_loops(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    let (kernels, calls, machine) = (&mut state.kernels, &state.calls, &state.machine);
    kernels.par_iter_mut().enumerate().for_each(|(number, kernel)| {
        preload::run(kernel, &calls_of(calls, number), machine);
    });
    each(state, None, &[nbcc_opt::dce::run])
}

/// Only where the addresses of buffers are constants of the kernel. Whether that is worth it is asked when
/// there is code: at first it is only seen whether it can be done.
fn unroll_completely(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    let Configuration { size, unroll, complete, rematerialise, .. } = &state.configuration;
    if (*size, *unroll) != (Size::Fast, Unrolling::All) {
        return Ok(());
    }
    let room = fit::room(state) * 6 / 8;
    let skip = |number| {
        rematerialise.contains_key(&number) || *complete != Trial::Open && !complete.made(number)
    };
    let unrolled = complete::run(&state.kernels, room, &state.machine, skip);
    state.complete = unrolled.iter().map(|&(number, _)| number).collect();
    if *complete != Trial::Open {
        for (number, func) in unrolled {
            state.kernels[number].func = func;
        }
    }
    Ok(())
}

fn make_increments(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    state.kernels.par_iter_mut().for_each(|kernel| increments::run(&mut kernel.func));
    each(state, None, &[nbcc_opt::dce::run])
}

fn place_values(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    let place = |kernel: &Kernel| {
        let places = place::place(&kernel.func);
        (place::remark(kernel, &places), places)
    };
    let (remarks, places): (Vec<_>, Vec<_>) = state.kernels.par_iter().map(place).unzip();
    cx.remarks.extend(remarks);
    state.places = places;
    Ok(())
}
