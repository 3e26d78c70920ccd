//! The passes of this target, in order: the only place that says so.

use cranelift_entity::SecondaryMap;
use nbcc_base::{Diagnostic, Diagnostics, Failed};
use nbcc_isa_ipim::layout::{MAX_COUNT, MAX_DIMENSIONS};
use nbcc_isa_ipim::program::Param;
use nbcc_isa_ipim::{ATOM_BYTES, Machine};
use nbcc_mach::regalloc::{Allocation, Policy, Shortage};
use nbcc_pipeline::{Context, Fact, OptLevel, PassDesc, optional, pass};
use nbcc_placement::{Message, Remark, RemarkKind, Term};
use nbcc_stages::bounds::{Extents, ParamValues, infer};
use nbcc_stages::{ElementType, Pipeline};

use crate::backend::select::Selected;
use crate::backend::{
    addresses, emit, legalize, merge, place, provenance, regalloc, reorder, select,
};
use crate::codes;
use crate::lower::Size;
use crate::lower::share::{Turn, in_turn};
use crate::outputs::crop_outputs;
use crate::parameters;
use crate::plan::schedule::defaults::relief;
use crate::plan::{BANK_RESERVED, element, make_plan, remarks, schedule};
use crate::state::{Compilation, Excess, Form, MachineKernel};

const EXTENTS: Fact = Fact("extents");
const BOUNDS: Fact = Fact("bounds");
const PLAN: Fact = Fact("plan");
const KERNELS: Fact = Fact("kernels");
const ADDRESSES: Fact = Fact("addresses");
const LEGAL: Fact = Fact("legal operations");
const PLACES: Fact = Fact("places");
const MACHINE: Fact = Fact("machine instructions");
const REGISTERS: Fact = Fact("registers");

/// Bytes of an instruction.
const INST_BYTES: u64 = 16;

/// The part of the instruction memory that is for kernels which are not merged since they run much.
const APART: usize = 6;

/// A kernel this many times too large is not made to fit by a smaller form.
const FAR: u64 = 8;

/// Parameters take no more than a quarter of the reserved part of each bank.
const MAX_PARAMS: u32 = BANK_RESERVED / 4 / ATOM_BYTES;

/// A kernel of more operations than this for each instruction that there is room for does not fit,
/// whatever becomes of them. All kernels together may have four times as many: some are alike.
const OPERATIONS: u64 = 32;

/// The pipeline.
pub const PASSES: &[PassDesc<Compilation>] = &[
    pass(
        "extents",
        "fix the extents of images and fold what depends on them",
        extents,
        &[],
        &[EXTENTS],
    ),
    pass(
        "schedule",
        "refuse directives that no loop nest can follow",
        check_schedule,
        &[EXTENTS],
        &[],
    ),
    pass("defaults", "give a schedule to what has none", defaults, &[EXTENTS], &[]),
    pass("inline", "compute Funcs without loops of their own at each use", inline, &[EXTENTS], &[]),
    pass(
        "bounds",
        "infer the region over which each Func is computed",
        bounds,
        &[EXTENTS],
        &[BOUNDS],
    ),
    pass(
        "distribute",
        "choose tiles, banks and what is brought between them",
        distribute,
        &[BOUNDS],
        &[PLAN],
    ),
    pass("lower", "write each kernel of the plan in IR", lower, &[PLAN], &[KERNELS]),
    pass(
        "share",
        "make kernels one that differ in the addresses of their buffers only",
        share,
        &[KERNELS],
        &[],
    ),
    pass(
        "addresses",
        "turn elements of buffers into addresses of banks and scratchpads",
        make_addresses,
        &[KERNELS],
        &[ADDRESSES],
    ),
    pass("merge", "make kernels one that differ in constants only", join, &[ADDRESSES], &[]),
    pass(
        "legalize",
        "express what Table I has not by what it has",
        make_legal,
        &[ADDRESSES],
        &[LEGAL],
    ),
    optional("fold", "fold constants and simplify arithmetic", OptLevel::O1, fold, &[LEGAL]),
    optional("cse", "compute equal values once", OptLevel::O1, cse, &[LEGAL]),
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
    pass("place", "decide which register file each value lives in", place, &[LEGAL], &[PLACES]),
    pass("select", "choose instructions", choose, &[PLACES], &[MACHINE]),
    pass("allocate", "give registers, keep the rest in banks", allocate, &[MACHINE], &[REGISTERS]),
    optional(
        "reorder",
        "issue instructions in an order in which few wait",
        OptLevel::O1,
        reorder_kernels,
        &[REGISTERS],
    ),
    pass("emit", "put text, constants and labels together", put_together, &[REGISTERS], &[]),
];

/// Reports what the stages found.
fn report<T>(result: Result<T, Diagnostics>, cx: &mut Context<'_>) -> Result<T, Failed> {
    result.map_err(|mut found| {
        for diagnostic in found.take() {
            cx.diagnostics.push(diagnostic);
        }
        Failed
    })
}

fn extents(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    let mut given = SecondaryMap::new();
    for (input, data) in &state.pipeline.inputs {
        given[input] = state.given.0.get(&data.name).cloned();
    }
    let size = (!state.given.1.is_empty()).then_some(&state.given.1[..]);
    let values = parameters::values(&state.pipeline, &state.params);
    let found = parameters::fix(&state.pipeline, &given, size, &values);
    (state.extents, state.fixed) = report(found, cx)?;
    for (param, data) in &state.pipeline.params {
        let Some(word) = state.fixed[param] else { continue };
        cx.remarks.push(Remark {
            kind: RemarkKind::Analysis,
            pass: "extents",
            name: "FixedParameter",
            function: String::new(),
            span: Some(data.span),
            message: Message::of("bounds depend on `")
                .value("Param", &data.name)
                .text("`: the program is for one value"),
            terms: vec![Term::new("Value", shown(data.ty, word))],
        });
    }
    let extents = &state.extents.inputs;
    state.pipeline = nbcc_stages::specialize(&state.pipeline, extents, &state.fixed);
    Ok(())
}

/// A value of a type.
fn shown(ty: ElementType, word: u32) -> String {
    match ty.is_float() {
        true => format!("{:?}", f32::from_bits(word)),
        false => nbcc_stages::scalar::to_i64(ty, word).to_string(),
    }
}

fn check_schedule(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    report(schedule::check(&state.pipeline), cx)
}

fn defaults(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    let (extents, machine) = (&state.extents, &state.machine);
    let (pipeline, remarks) =
        schedule::defaults::schedule(&state.pipeline, extents, machine, state.rule, cx.sources);
    state.pipeline = pipeline;
    cx.remarks.extend(remarks);
    Ok(())
}

fn inline(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    let scheduled = state.scheduled.get_or_insert_with(|| state.pipeline.clone());
    let inlined = relief::inline(scheduled, &state.extents, &mut state.form.repeated);
    let (pipeline, remarks) = report(inlined, cx)?;
    state.pipeline = pipeline;
    cx.remarks.extend(remarks);
    Ok(())
}

fn bounds(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    let found = infer(&state.pipeline, &state.extents, &ParamValues::new());
    let mut found = report(found, cx)?;
    if let Some(cropped) = crop_outputs(&state.pipeline, &state.extents, &found) {
        state.pipeline = cropped;
        found = report(infer(&state.pipeline, &state.extents, &ParamValues::new()), cx)?;
    }
    state.bounds = Some(found);
    Ok(())
}

/// Refuses images that the layout of buffers has no room to describe.
fn check_images(
    pipeline: &Pipeline,
    extents: &Extents,
    diagnostics: &mut Diagnostics,
) -> Result<(), Failed> {
    let inputs = pipeline
        .inputs
        .iter()
        .map(|(input, data)| (&data.name, data.span, extents.inputs[input].to_vec()));
    let outputs = pipeline.outputs.iter().zip(&extents.outputs).map(|(&func, region)| {
        let data = &pipeline.funcs[func];
        (&data.name, data.span, region.iter().map(|interval| interval.extent()).collect())
    });
    for (name, span, extent) in inputs.chain(outputs) {
        let message = if extent.len() > MAX_DIMENSIONS {
            format!("`{name}` has {} dimensions; {MAX_DIMENSIONS} are the most", extent.len())
        } else if let Some(n) = extent.iter().find(|&&n| n > MAX_COUNT) {
            format!("`{name}` has {n} elements along a dimension; {MAX_COUNT} are the most")
        } else {
            continue;
        };
        let error = Diagnostic::error(&codes::TOO_LARGE, message).at(span, "this image");
        let help = "make dimensions one, as in `f(x, y + H * c)`, or images smaller";
        return diagnostics.fail(error.help(help));
    }
    Ok(())
}

fn distribute(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    check_images(&state.pipeline, &state.extents, cx.diagnostics)?;
    let bounds = state.bounds.clone().expect("bounds come first");
    let pipeline = state.pipeline.clone();
    match make_plan(pipeline, &state.extents, bounds, &state.machine, cx.remarks) {
        Ok(mut plan) => {
            // Parameters stand at the end of the reserved part of each bank.
            let count = plan.pipeline.params.len() as u32;
            if count > MAX_PARAMS {
                let message =
                    format!("the pipeline has {count} parameters; {MAX_PARAMS} are the most");
                return cx.diagnostics.fail(
                    Diagnostic::error(&codes::TOO_LARGE, message)
                        .help("make constants of some: `const int` in place of `Param<int>`"),
                );
            }
            plan.params = (0..count).map(|n| BANK_RESERVED - 16 * (n + 1)).collect();
            schedule::settle(&plan, cx.sources, cx.remarks);
            cx.remarks.extend(remarks(&plan, &state.machine, cx.sources));
            state.plan = Some(plan);
            Ok(())
        }
        Err(error) => {
            let mut diagnostic = Diagnostic::error(&codes::TOO_LARGE, error.message)
                .help("use a machine with more vaults, smaller tiles or smaller images");
            if let Some(span) = error.span {
                diagnostic = diagnostic.at(span, "this stage");
            }
            cx.diagnostics.fail(diagnostic)
        }
    }
}

fn lower(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    // What cannot fit is told before time and memory go into it.
    let room = u64::from(state.plan().vsm_data) / INST_BYTES;
    let steps = state.plan().steps.len();
    if steps as u64 > room {
        let message = format!("the program has {steps} kernels; {room} instructions are the most");
        return cx.diagnostics.fail(too_large(message));
    }
    state.kernels = crate::lower::lower_to(state.plan(), &state.machine, state.form.size);
    state.turns = in_turn(&state.kernels);
    let counts = state.kernels.iter().map(|kernel| kernel.func.insts.len() as u64);
    let (all, largest) = sum_and_largest(counts);
    let excess = match largest > OPERATIONS * room {
        true => Excess::FarKernel,
        false if all > 4 * OPERATIONS * room => Excess::Program,
        false => return Ok(()),
    };
    if !try_smaller(state, excess) {
        let message = format!(
            "the program has {all} operations, before they become instructions; {room} \
             instructions are the most"
        );
        return cx.diagnostics.fail(too_large(message));
    }
    state.kernels.clear();
    state.turns.clear();
    Ok(())
}

fn sum_and_largest(counts: impl Iterator<Item = u64>) -> (u64, u64) {
    counts.fold((0, 0), |(sum, most), n| (sum + n, most.max(n)))
}

/// A program that does not fit the instruction memory.
fn too_large(message: String) -> Diagnostic {
    Diagnostic::error(&codes::TOO_LARGE, message)
        .help("compute fewer stages in one program, or inline more of them")
}

fn share(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    // Where constants may differ, addresses are constants like others.
    if !state.form.share || state.form.size >= Size::Merged {
        return Ok(());
    }
    let kernels = std::mem::take(&mut state.kernels);
    (state.kernels, state.turns) = crate::lower::share::share(kernels, &state.machine);
    say_shared(state, cx, "share");
    Ok(())
}

/// Tells which kernels are called.
fn say_shared(state: &Compilation, cx: &mut Context<'_>, pass: &'static str) {
    for (number, kernel) in state.kernels.iter().enumerate() {
        if kernel.args.is_none() {
            continue;
        }
        let calls = state.turns.iter().filter(|turn| turn.kernel == number).count();
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

fn make_addresses(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    let params = state.plan().params.clone();
    for (number, kernel) in state.kernels.iter_mut().enumerate() {
        addresses::run(kernel, &state.machine, &params);
        let turns: Vec<&Turn> = state.turns.iter().filter(|turn| turn.kernel == number).collect();
        kernel.objects = provenance::objects(kernel, &turns);
    }
    Ok(())
}

fn join(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    if state.form.size >= Size::Merged {
        let (kernels, turns) =
            (std::mem::take(&mut state.kernels), std::mem::take(&mut state.turns));
        let apart = state.form.apart && state.form.size == Size::Merged;
        let all = u64::from(state.plan().vsm_data) / INST_BYTES;
        let room = if apart { all as usize / APART } else { 0 };
        (state.kernels, state.turns) = merge::merge(kernels, turns, state.form.numbers, room);
        say_shared(state, cx, "merge");
    }
    Ok(())
}

fn make_legal(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    for kernel in &mut state.kernels {
        legalize::run(&mut kernel.func, &legalize::Features::default());
    }
    Ok(())
}

/// Runs target-neutral transforms over every kernel.
fn each(state: &mut Compilation, transforms: &[nbcc_opt::Pass]) -> Result<(), Failed> {
    for kernel in &mut state.kernels {
        for transform in transforms {
            transform(&mut kernel.func);
        }
    }
    Ok(())
}

fn fold(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    each(state, &[nbcc_opt::fold::run])
}

fn cse(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    state.plainer.push(state.kernels.clone());
    each(state, &[nbcc_opt::cse::run])
}

fn licm(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    state.plainer.push(state.kernels.clone());
    each(state, &[nbcc_opt::licm::run])
}

fn strength(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    use nbcc_opt::{cse, fold, licm, strength};
    each(state, &[strength::run, fold::run, cse::run, licm::run])
}

fn clean(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    use nbcc_opt::{dce, params};
    each(state, &[dce::run, params::run, dce::run])
}

fn place(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    for kernel in &state.kernels {
        let places = place::place(&kernel.func);
        let moves = places.moves(&kernel.func);
        cx.remarks.push(Remark {
            kind: RemarkKind::Analysis,
            pass: "place",
            name: "Moves",
            function: kernel.func.name.clone(),
            span: kernel.func.first_span().or(kernel.place),
            message: Message::of_value("Moves", moves)
                .text(" values move between AddrRF and DataRF"),
            terms: vec![],
        });
        state.places.push(places);
    }
    Ok(())
}

/// Asks for the next form, of a smaller program. False where there is none.
fn try_smaller(state: &mut Compilation, excess: Excess) -> bool {
    state.instead = state.smaller(excess);
    state.instead.is_some()
}

fn choose(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    for (kernel, places) in state.kernels.iter().zip(std::mem::take(&mut state.places)) {
        let code = select::select(kernel, places, &mut state.pool);
        state.selected.push(MachineKernel {
            code,
            registers: None,
            unallocated: None,
            unordered: None,
        });
    }
    // Registers need not be looked for where the code is too large in any case.
    let room = u64::from(state.plan().vsm_data) / INST_BYTES;
    let least = state.selected.iter().map(|k| regalloc::least_insts(&k.code) as u64);
    let (all, largest) = sum_and_largest(least);
    if all <= room {
        return Ok(());
    }
    let excess = match largest {
        n if n > FAR * room => Excess::FarKernel,
        n if n > room => Excess::Kernel,
        _ => Excess::Program,
    };
    state.selected.clear();
    match try_smaller(state, excess) {
        true => Ok(()),
        false => {
            let message =
                format!("the program has at least {all} instructions; {room} are the most");
            cx.diagnostics.fail(too_large(message))
        }
    }
}

fn allocate(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    let slots_end = state.slots_end();
    let mut few = None;
    for (number, kernel) in state.selected.iter_mut().enumerate() {
        let allocate = |kernel: &mut MachineKernel| {
            kernel.unallocated = cx.passes.verify_each.then(|| kernel.code.func.clone());
            regalloc::allocate(&mut kernel.code, &state.machine, state.policy, slots_end)
        };
        let mut result = allocate(kernel);
        // Values of the control core cannot be kept in a bank. Where too many are alive, they are
        // computed where they are used: instead of outside of loops, then at each use.
        for plainer in state.plainer.iter_mut().rev() {
            let Some(plain) = plainer.get_mut(number).filter(|_| result.is_err()) else { continue };
            legalize::run(&mut plain.func, &legalize::Features::default());
            let places = place::place(&plain.func);
            kernel.code = select::select(plain, places, &mut state.pool);
            result = allocate(kernel);
        }
        let code = &kernel.code;
        match result {
            Ok(registers) => {
                let Allocation { spilled, rematerialised, coalesced, .. } = registers;
                cx.remarks.push(Remark {
                    kind: RemarkKind::Analysis,
                    pass: "allocate",
                    name: "Registers",
                    function: code.func.name.clone(),
                    span: code.func.first_span(),
                    message: Message::of_value("Spilled", spilled)
                        .text(" values are kept in the bank, ")
                        .value("Rematerialised", rematerialised)
                        .text(" constants are rematerialised"),
                    terms: vec![Term::new("Coalesced", coalesced)],
                });
                kernel.registers = Some(registers);
            }
            // Arguments take registers, too.
            Err(_) if code.args.as_ref().is_some_and(|args| !args.numbers.is_empty()) => {
                state.instead = Some(Form { numbers: state.form.numbers / 2, ..state.form });
                return Ok(());
            }
            Err(_) if state.form.share && state.kernels.iter().any(|k| k.args.is_some()) => {
                state.instead = Some(Form { share: false, ..state.form });
                return Ok(());
            }
            Err(shortage) => {
                few = Some(shortage_of(shortage, state.policy, code, &state.machine));
                break;
            }
        }
    }
    match few {
        Some(few) if !try_smaller(state, Excess::Program) => cx.diagnostics.fail(few),
        _ => Ok(()),
    }
}

fn reorder_kernels(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    for kernel in &mut state.selected {
        let (true, Some(registers)) = (state.reorder, &kernel.registers) else { continue };
        // Instructions are elsewhere from here on.
        kernel.unallocated = None;
        let before = cx.passes.verify_each.then(|| kernel.code.func.clone());
        let (machine, memory_order) = (&state.machine, state.memory_order);
        let orders = reorder::run(&mut kernel.code.func, registers, machine, memory_order);
        kernel.unordered = before.map(|before| (before, orders));
    }
    Ok(())
}

/// A kernel for which the machine has too few registers.
fn shortage_of(
    shortage: Shortage,
    policy: Policy,
    kernel: &Selected,
    machine: &Machine,
) -> Diagnostic {
    let name = &kernel.func.name;
    let message = match shortage {
        Shortage::Registers(file) => format!(
            "{} of `{name}` has {} entries for values, too few for one instruction and its loops",
            nbcc_isa::RegisterClass::name(regalloc::FILES[file]),
            regalloc::files(machine, policy, kernel.args.as_ref())[file].entries.len(),
        ),
        Shortage::Memory => {
            format!("`{name}` has more values at once than registers and reserved memory hold")
        }
    };
    let help = "give the machine more registers with --set registers.ctrl=N, addr or data";
    Diagnostic::error(&codes::TOO_FEW_REGISTERS, message).help(help)
}

fn put_together(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    if state.instead.is_some() {
        return Ok(());
    }
    let plan = state.plan();
    let pipeline = &plan.pipeline;
    let inputs = pipeline.inputs.keys().filter_map(|input| plan.inputs[input]);
    let outputs = pipeline.outputs.iter().flat_map(|&func| plan.funcs[func].iter().copied());
    let buffers = inputs
        .chain(outputs)
        .filter_map(|id| Some(plan.buffers[id].to_buffer(plan.buffers[id].role?)))
        .collect();
    let params = pipeline
        .params
        .iter()
        .zip(&plan.params)
        .filter(|((param, _), _)| state.fixed[*param].is_none())
        .map(|((_, param), &address)| Param {
            name: param.name.clone(),
            element: element(param.ty),
            address,
            default: param.default.map(|l| nbcc_stages::scalar::literal_word(param.ty, l)),
        })
        .collect();
    let vsm_data = plan.vsm_data;
    let kernels: Vec<_> = state
        .selected
        .iter()
        .map(|kernel| {
            let registers = kernel.registers.as_ref().expect("registers come first");
            (&kernel.code, &registers.entries)
        })
        .collect();
    let data = emit::Data { buffers, params };
    let (turns, pool) = (&state.turns, &mut state.pool);
    let program = emit::emit(&kernels, turns, pool, data, &state.machine, cx.sources);
    let code = program.code.text.len() as u64 * INST_BYTES;
    let constants = program.rodata.bytes.len() as u64;
    if code > u64::from(vsm_data) || constants > u64::from(BANK_RESERVED / 2) {
        if try_smaller(state, Excess::Program) {
            return Ok(());
        }
        let message = format!(
            "the program has {code} bytes of code and {constants} of constants; {vsm_data} and {} \
             are the most",
            BANK_RESERVED / 2
        );
        return cx.diagnostics.fail(too_large(message));
    }
    state.program = Some(program);
    Ok(())
}
