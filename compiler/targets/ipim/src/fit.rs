//! Passes that end where a program does not fit the machine, from the plan to the binary: they ask
//! for a smaller one or refuse it.

use std::collections::{BTreeMap, BTreeSet};

use nbcc_base::{Diagnostic, Failed, Span};
use nbcc_isa_ipim::program::Param;
use nbcc_isa_ipim::{INSTRUCTION_BYTES, Machine};
use nbcc_mach::regalloc::{Allocation, Policy, Shortage};
use nbcc_mach::split::Split;
use nbcc_pipeline::{Context, Stop};
use nbcc_placement::{Message, Remark, RemarkKind, Term};
use nbcc_stages::Func;
use rayon::prelude::*;

use crate::backend::code::{MachineKernel, Selected};
use crate::backend::{emit, regalloc, reorder, select, split};
use crate::codes;
use crate::configuration::{Configuration, Excess};
use crate::estimate;
use crate::kernel::calls_in_order;
use crate::memory::{self, MAX_LITERAL_BYTES};
use crate::plan::{Plan, Step, element};
use crate::state::Compilation;
use crate::trials;

/// A kernel this many times too large does not fit as smaller code either.
const HOPELESS_RATIO: u64 = 8;

/// A kernel of more operations than this for each instruction that there is room for does not fit,
/// whatever becomes of them. All kernels together may have four times as many: some are alike.
const OPERATIONS: u64 = 32;

/// Refuses a program that does not fit the instruction memory; `most` is the stage that takes most of it.
fn too_large(message: String, most: Option<Span>, cx: &mut Context<'_>) -> Stop<Configuration> {
    let help = "compute fewer stages in one program, or inline more of them";
    let error = Diagnostic::error(&codes::TOO_LARGE, message).help(help);
    cx.diagnostics.push(error.at_some(most, "the most of it is for this"));
    Stop::Failed
}

/// The stage that has most steps of the plan.
fn busiest(plan: &Plan) -> Option<Span> {
    let mut counts: BTreeMap<Func, usize> = BTreeMap::new();
    for step in &plan.steps {
        let func = match step {
            Step::Tiles(step) => step.func,
            Step::Reduce(step) => step.func,
            Step::Serial(step) => step.func,
            Step::Exchange(_) | Step::Redistribute { .. } => continue,
        };
        *counts.entry(func).or_default() += 1;
    }
    let (&func, _) = counts.iter().max_by_key(|&(_, &count)| count)?;
    Some(plan.pipeline.funcs[func].span)
}

/// Where the kernel comes from that has most instructions.
fn largest_of(kernels: &[MachineKernel]) -> Option<Span> {
    let largest = kernels.iter().max_by_key(|kernel| regalloc::least_insts(&kernel.code))?;
    largest.code.func.first_span()
}

/// Instructions that there is room for.
pub fn room(state: &Compilation) -> u64 {
    memory::code_room(&state.machine).into()
}

fn sum_and_largest(counts: impl Iterator<Item = u64>) -> (u64, u64) {
    counts.fold((0, 0), |(sum, most), n| (sum + n, most.max(n)))
}

/// Writes the kernels of the plan in IR. What cannot fit is told before time and memory go into it.
pub fn lower(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Stop<Configuration>> {
    let room = room(state);
    let steps = state.plan().steps.len();
    if steps as u64 > room {
        let message = format!("the program has {steps} kernels; {room} instructions are the most");
        return Err(too_large(message, busiest(state.plan()), cx));
    }
    let Configuration { size, jam, .. } = &state.configuration;
    let jammed = state.jams.iter().filter(|(step, _)| jam.made(**step));
    let jammed = jammed.map(|(&step, &jam)| (step, jam)).collect();
    state.kernels = crate::lower::lower_to(state.plan(), &state.machine, *size, &jammed);
    state.calls = calls_in_order(&state.kernels);
    let counts = state.kernels.iter().map(|kernel| kernel.func.insts.len() as u64);
    let (all, largest) = sum_and_largest(counts);
    let excess = match largest > OPERATIONS * room {
        true => Excess::FarKernel,
        false if all > 4 * OPERATIONS * room => Excess::Program,
        false => return Ok(()),
    };
    state.retry_smaller(excess)?;
    let message = format!(
        "the program has {all} operations, before they become instructions; {room} instructions \
         are the most"
    );
    let most = state.kernels.iter().max_by_key(|kernel| kernel.func.insts.len());
    let place = most.and_then(|kernel| kernel.place.or_else(|| kernel.func.first_span()));
    Err(too_large(message, place, cx))
}

/// Selects instructions.
pub fn choose(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Stop<Configuration>> {
    if state.transforms.starved
        && let Some(other) = state.configuration.with_room()
    {
        return Err(state.retry(other));
    }
    for (kernel, places) in state.kernels.iter().zip(std::mem::take(&mut state.places)) {
        let code = select::select(kernel, places, &mut state.pool);
        state.selected.push(MachineKernel {
            code,
            unsplit: None,
            unscheduled: None,
            registers: None,
            unallocated: None,
            unordered: None,
        });
    }
    // Registers need not be looked for where the code is too large in any case.
    let room = room(state);
    let least = state.selected.iter().map(|k| regalloc::least_insts(&k.code) as u64);
    let (all, largest) = sum_and_largest(least);
    if all <= room {
        return Ok(());
    }
    state.retry_smaller(match largest {
        n if n > HOPELESS_RATIO * room => Excess::FarKernel,
        n if n > room => Excess::Kernel,
        _ => Excess::Program,
    })?;
    let message = format!("the program has at least {all} instructions; {room} are the most");
    Err(too_large(message, largest_of(&state.selected), cx))
}

/// Splits live ranges where registers limit a kernel. Where they are to be few, they are reused soon
/// in any case.
pub fn split_ranges(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    if state.policy == Policy::Min {
        return Ok(());
    }
    let (machine, verify_each) = (&state.machine, cx.passes.verify_each);
    let split = |kernel: &mut MachineKernel| {
        let before = verify_each.then(|| kernel.code.func.clone());
        let done = split::run(&mut kernel.code, machine);
        let any = done.rematerialised + done.moved > 0;
        let remark = any.then(|| split_remark(&kernel.code, &done));
        kernel.unsplit = before.map(|before| (before, done));
        remark
    };
    let remarks: Vec<_> = state.selected.par_iter_mut().map(split).collect();
    cx.remarks.extend(remarks.into_iter().flatten());
    Ok(())
}

/// How many values of a kernel need no register between their uses.
fn split_remark(code: &Selected, done: &Split) -> Remark {
    Remark {
        kind: RemarkKind::Passed,
        pass: "split-ranges",
        name: "Split",
        function: code.func.name.clone(),
        span: code.func.first_span(),
        message: Message::of_value("Rematerialised", done.rematerialised)
            .text(" constants are rematerialised at their uses, ")
            .value("Moved", done.moved)
            .text(" addresses lie in DataRF between them: other values wait for registers"),
        terms: vec![],
    }
}

/// Gives the registers of each block entries that have rested.
pub fn rename_registers(state: &mut Compilation, _: &mut Context<'_>) -> Result<(), Failed> {
    if state.policy == Policy::Min {
        return Ok(());
    }
    let machine = &state.machine;
    state.selected.par_iter_mut().for_each(|kernel| {
        if let Some(registers) = &mut kernel.registers {
            regalloc::rename(&kernel.code, machine, registers);
        }
    });
    Ok(())
}

/// Reorders instructions before they get registers.
pub fn schedule_kernels(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    if !state.reorder {
        return Ok(());
    }
    let (machine, memory_order, policy) = (&state.machine, state.memory_order, state.policy);
    let verify_each = cx.passes.verify_each;
    state.selected.par_iter_mut().for_each(|kernel| {
        // Instructions are elsewhere from here on.
        kernel.unsplit = None;
        let before = verify_each.then(|| kernel.code.func.clone());
        let files = regalloc::files(machine, policy, kernel.code.args.as_ref());
        let func = &mut kernel.code.func;
        let orders =
            reorder::run_before_allocation(func, &kernel.code.runs, &files, machine, memory_order);
        kernel.unscheduled = before.map(|before| (before, orders));
    });
    Ok(())
}

/// Gives registers. Values of the control core cannot be kept in a bank: where too many are alive,
/// they are rematerialised, instead of outside of loops, then at each use.
pub fn allocate(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Stop<Configuration>> {
    let slots = state.slots();
    let (machine, policy) = (&state.machine, state.policy);
    // Kernels that were short before may be so again, and merged ones have many values: the others
    // get no registers before these.
    let merged = |kernel: &MachineKernel| {
        kernel.code.args.as_ref().is_some_and(|args| !args.constants.is_empty())
    };
    let mut suspects: BTreeSet<usize> = state.configuration.rematerialise.keys().copied().collect();
    suspects.extend((0..state.selected.len()).filter(|&k| merged(&state.selected[k])));
    let control_shortages = |kernels: &[MachineKernel], numbers: Vec<usize>| {
        let shortage = |number: usize| {
            let code = &kernels[number].code;
            Some((number, regalloc::control_shortage(code, machine, policy)?))
        };
        numbers.into_par_iter().filter_map(shortage).collect::<Vec<_>>()
    };
    let mut short = control_shortages(&state.selected, suspects.iter().copied().collect());
    if !short.is_empty() {
        let others = (0..state.selected.len()).filter(|number| !suspects.contains(number));
        short.extend(control_shortages(&state.selected, others.collect()));
        return Err(with_fewer_values(state, short, cx));
    }
    let verify_each = cx.passes.verify_each;
    let allocate = |kernel: &mut MachineKernel| {
        // Instructions are others from here on.
        kernel.unsplit = None;
        kernel.unscheduled = None;
        kernel.unallocated = verify_each.then(|| kernel.code.func.clone());
        let registers = regalloc::allocate(&mut kernel.code, machine, policy, slots.clone())?;
        let remark = registers_remark(&kernel.code, &registers);
        kernel.registers = Some(registers);
        Ok(remark)
    };
    let allocated: Vec<_> = state.selected.par_iter_mut().map(allocate).collect();
    for (number, result) in allocated.into_iter().enumerate() {
        match result {
            Ok(remark) => cx.remarks.push(remark),
            Err(shortage) => short.push((number, shortage)),
        }
    }
    match short.is_empty() {
        true => Ok(()),
        false => Err(with_fewer_values(state, short, cx)),
    }
}

/// How many values of a kernel found no register.
fn registers_remark(code: &Selected, registers: &Allocation) -> Remark {
    let &Allocation { spilled, rematerialised, coalesced, .. } = registers;
    Remark {
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
    }
}

/// What becomes of a program of which registers are too few for some kernels: these rematerialise
/// more or, where one of them cannot, have fewer arguments or are smaller.
fn with_fewer_values(
    state: &Compilation,
    mut short: Vec<(usize, Shortage)>,
    cx: &mut Context<'_>,
) -> Stop<Configuration> {
    let configuration = &state.configuration;
    if let Some(untried) = configuration.untried() {
        return state.retry(untried);
    }
    short.sort_unstable_by_key(|&(number, _)| number);
    let more = |number: usize| {
        let now = configuration.rematerialise.get(&number).copied();
        state.transforms.more_rematerialised(now)
    };
    let Some(&(number, shortage)) = short.iter().find(|&&(number, _)| more(number).is_none())
    else {
        let mut new = configuration.clone();
        let more = short.iter().filter_map(|&(number, _)| Some((number, more(number)?)));
        new.rematerialise.extend(more);
        return Stop::retry(new, None);
    };
    let code = &state.selected[number].code;
    // Arguments take registers, too.
    if code.args.as_ref().is_some_and(|args| !args.constants.is_empty()) {
        return state.retry(configuration.with_fewer_merged_constants());
    }
    if configuration.share && state.kernels.iter().any(|kernel| kernel.args.is_some()) {
        return state.retry(configuration.unshared());
    }
    if let Err(smaller) = state.retry_smaller(Excess::Program) {
        return smaller;
    }
    cx.diagnostics.push(shortage_of(shortage, state.policy, code, &state.machine));
    Stop::Failed
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
    let error = Diagnostic::error(&codes::TOO_FEW_REGISTERS, message).help(help);
    error.at_some(kernel.func.first_span(), "computed by it")
}

/// Reorders instructions.
pub fn reorder_kernels(state: &mut Compilation, cx: &mut Context<'_>) -> Result<(), Failed> {
    if !state.reorder {
        return Ok(());
    }
    let (machine, memory_order) = (&state.machine, state.memory_order);
    let verify_each = cx.passes.verify_each;
    state.selected.par_iter_mut().for_each(|kernel| {
        let Some(registers) = &kernel.registers else { return };
        // Instructions are elsewhere from here on.
        kernel.unallocated = None;
        let before = verify_each.then(|| kernel.code.func.clone());
        let orders = reorder::run(&mut kernel.code.func, registers, machine, memory_order);
        kernel.unordered = before.map(|before| (before, orders));
    });
    Ok(())
}

/// Puts the program together.
pub fn put_together(
    state: &mut Compilation,
    cx: &mut Context<'_>,
) -> Result<(), Stop<Configuration>> {
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
    let kernels: Vec<_> = state
        .selected
        .iter()
        .map(|kernel| {
            let registers = kernel.registers.as_ref().expect("registers come first");
            (&kernel.code, &registers.entries)
        })
        .collect();
    let data = emit::Data { buffers, params };
    let (calls, pool) = (&state.calls, &mut state.pool);
    let program = emit::emit(&kernels, calls, pool, data, &state.machine, cx.sources);
    let code = program.code.text.len() as u64 * u64::from(INSTRUCTION_BYTES);
    let constants = program.rodata.bytes.len() as u64;
    let code_bytes = memory::data_begin(&state.machine);
    if code > u64::from(code_bytes) || constants > u64::from(MAX_LITERAL_BYTES) {
        state.retry_smaller(Excess::Program)?;
        let message = format!(
            "the program has {code} bytes of code and {constants} of constants; {code_bytes} and \
             {MAX_LITERAL_BYTES} are the most",
        );
        return Err(too_large(message, largest_of(&state.selected), cx));
    }
    state.program = Some(program);
    if let Some(other) = trials::next(state) {
        return Err(state.retry(other));
    }
    cx.remarks.extend(estimate::remarks(state));
    Ok(())
}
