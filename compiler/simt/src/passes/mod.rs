//! The passes that SIMT targets make their lists of: what each requires and establishes, and its
//! remarks and diagnostics. Which of them run, and in which order, a target says.

pub mod ifconvert;
pub mod inline;
pub mod objects;

use nbcc_base::{Diagnostic, Failed, Span};
use nbcc_ir::Function;
use nbcc_mach::regalloc::Allocation;
use nbcc_pipeline::{Context, Fact, OptLevel, PassDesc, optional, pass};
use nbcc_placement::{Message, Remark, RemarkKind, Term};

use crate::backend::{emit, latch, layout, provenance, regalloc, select};
use crate::codes;
use crate::passes::inline::InlineError;
use crate::state::Compilation;

/// Kernels call nothing.
pub const NO_CALLS: Fact = Fact("no calls");
/// Shared and local objects have their addresses.
pub const PLACED: Fact = Fact("objects placed");
/// Kernels are instructions.
pub const MACHINE: Fact = Fact("machine instructions");
/// Values are in registers.
pub const REGISTERS: Fact = Fact("registers");

type Pass<X> = PassDesc<Compilation<X>>;

/// The passes of a target that takes all of these, with its own behind selection, behind allocation and
/// behind emission.
#[macro_export]
macro_rules! pipeline {
    (
        selected: [$($selected:expr),* $(,)?],
        allocated: [$($allocated:expr),* $(,)?],
        emitted: [$($emitted:expr),* $(,)?] $(,)?
    ) => {
        &[
            $crate::passes::inline(),
            $crate::passes::unreachable(),
            $crate::passes::objects(),
            $crate::passes::fold(),
            $crate::passes::simplify_cfg(),
            $crate::passes::cse(),
            $crate::passes::dce(),
            $crate::passes::if_convert(),
            $crate::passes::licm(),
            $crate::passes::clean(),
            $crate::passes::select(),
            $($selected,)*
            $crate::passes::allocate(),
            $crate::passes::latch(),
            $($allocated,)*
            $crate::passes::layout(),
            $crate::passes::emit(),
            $($emitted,)*
        ]
    };
}

/// Inline every call, callees first.
pub const fn inline<X>() -> Pass<X> {
    pass("inline", "inline every call, callees first", inline_calls, &[], &[NO_CALLS])
}

/// Remove blocks that nothing reaches.
pub const fn unreachable<X>() -> Pass<X> {
    pass("unreachable", "remove blocks that nothing reaches", run_unreachable, &[NO_CALLS], &[])
}

/// Give shared and local objects their addresses.
pub const fn objects<X>() -> Pass<X> {
    pass(
        "objects",
        "give shared and local objects their addresses",
        place_objects,
        &[NO_CALLS],
        &[PLACED],
    )
}

/// Fold constants and simplify arithmetic.
pub const fn fold<X>() -> Pass<X> {
    optional("fold", "fold constants and simplify arithmetic", OptLevel::O1, run_fold, &[PLACED])
}

/// Join blocks and lead jumps to their ends.
pub const fn simplify_cfg<X>() -> Pass<X> {
    optional(
        "simplify-cfg",
        "join blocks and lead jumps to their ends",
        OptLevel::O1,
        run_simplify,
        &[PLACED],
    )
}

/// Compute equal values once.
pub const fn cse<X>() -> Pass<X> {
    optional("cse", "compute equal values once", OptLevel::O1, run_cse, &[PLACED])
}

/// Remove what nothing uses.
pub const fn dce<X>() -> Pass<X> {
    optional("dce", "remove what nothing uses", OptLevel::O1, run_clean, &[PLACED])
}

/// Compute small branches and select.
pub const fn if_convert<X>() -> Pass<X> {
    optional(
        "if-convert",
        "compute small branches and select",
        OptLevel::O2,
        run_if_convert,
        &[PLACED],
    )
}

/// Move what does not change out of loops.
pub const fn licm<X>() -> Pass<X> {
    optional("licm", "move what does not change out of loops", OptLevel::O1, run_licm, &[PLACED])
}

/// Fold and clean what the transforms made.
pub const fn clean<X>() -> Pass<X> {
    optional("clean", "fold and clean what the transforms made", OptLevel::O1, run_tidy, &[PLACED])
}

/// Choose instructions.
pub const fn select<X>() -> Pass<X> {
    pass("select", "choose instructions", choose, &[PLACED], &[MACHINE])
}

/// Give registers, keep the rest in local memory.
pub const fn allocate<X>() -> Pass<X> {
    pass(
        "allocate",
        "give registers, keep the rest in local memory",
        run_allocate,
        &[MACHINE],
        &[REGISTERS],
    )
}

/// Let loops go back by the branch that may leave them.
pub const fn latch<X>() -> Pass<X> {
    optional(
        "latch",
        "let loops go back by the branch that may leave them",
        OptLevel::O1,
        turn_latches,
        &[REGISTERS],
    )
}

/// Straighten branches.
pub const fn layout<X>() -> Pass<X> {
    pass("layout", "straighten branches", lay_out, &[REGISTERS], &[])
}

/// Put text, data and tables together.
pub const fn emit<X>() -> Pass<X> {
    pass("emit", "put text, data and tables together", put_together, &[REGISTERS], &[])
}

fn inline_calls<X>(state: &mut Compilation<X>, cx: &mut Context<'_>) -> Result<(), Failed> {
    let error = match inline::run(&mut state.module) {
        Ok(0) => return Ok(()),
        Ok(count) => {
            cx.remarks.push(remark(
                "inline",
                "Inlined",
                "",
                state.module.functions.values().find_map(Function::first_span),
                Message::of_value("Calls", count).text(" calls are inlined"),
                vec![],
            ));
            return Ok(());
        }
        Err(error) => error,
    };
    let (func, message) = match error {
        InlineError::Recursion(func) => (func, "calls itself"),
        InlineError::TooLarge(func) => (func, "is too large with what it calls"),
    };
    let func = &state.module.functions[func];
    let message = format!("`{}` {message}", func.name);
    let error = Diagnostic::error(&codes::CALLS, message).help(format!(
        "{} inlines every call: use loops instead of recursion, and call less",
        state.machine.isa.title
    ));
    cx.diagnostics.fail(error.at_some(func.first_span(), "in this function"))
}

fn remark(
    pass: &'static str,
    name: &'static str,
    function: &str,
    span: Option<Span>,
    message: Message,
    terms: Vec<Term>,
) -> Remark {
    Remark {
        kind: RemarkKind::Analysis,
        pass,
        name,
        function: function.to_string(),
        span,
        message,
        terms,
    }
}

/// Runs target-neutral transforms over every kernel.
fn each<X>(state: &mut Compilation<X>, transforms: &[nbcc_opt::Pass]) -> Result<(), Failed> {
    for kernel in &state.kernels {
        for transform in transforms {
            transform(&mut state.module.functions[kernel.func]);
        }
    }
    Ok(())
}

fn run_unreachable<X>(state: &mut Compilation<X>, _: &mut Context<'_>) -> Result<(), Failed> {
    each(state, &[nbcc_opt::unreachable::run])
}

fn place_objects<X>(state: &mut Compilation<X>, cx: &mut Context<'_>) -> Result<(), Failed> {
    for kernel in &mut state.kernels {
        kernel.origins = provenance::origins(&state.module, &state.module.functions[kernel.func]);
        kernel.frame = objects::run(&mut state.module, kernel.func);
        let limits = &state.machine.limits;
        let func = &state.module.functions[kernel.func];
        let params = func.kernel.as_ref().map_or(0, |kernel| kernel.params_size());
        let uses = [
            ("shared memory", kernel.frame.shared_bytes, u64::from(limits.shared_bytes)),
            ("local memory", kernel.frame.local_bytes, u64::from(limits.local_bytes)),
            ("parameters", params, u64::from(limits.param_bytes)),
        ];
        for (what, bytes, most) in uses {
            if bytes > most {
                let name = &func.name;
                let message =
                    format!("`{name}` has {bytes} bytes of {what}; the machine has {most}");
                let error = Diagnostic::error(&codes::TOO_LARGE, message).help(format!(
                    "use less {what}: `nbcc targets --machine NAME` lists the limits"
                ));
                return cx.diagnostics.fail(error.at_some(func.first_span(), "in this kernel"));
            }
        }
    }
    Ok(())
}

fn run_fold<X>(state: &mut Compilation<X>, _: &mut Context<'_>) -> Result<(), Failed> {
    each(state, &[nbcc_opt::fold::run])
}

fn run_simplify<X>(state: &mut Compilation<X>, _: &mut Context<'_>) -> Result<(), Failed> {
    each(state, &[nbcc_opt::simplify_cfg::run])
}

fn run_cse<X>(state: &mut Compilation<X>, _: &mut Context<'_>) -> Result<(), Failed> {
    each(state, &[nbcc_opt::cse::run])
}

fn run_licm<X>(state: &mut Compilation<X>, _: &mut Context<'_>) -> Result<(), Failed> {
    each(state, &[nbcc_opt::licm::run])
}

fn run_clean<X>(state: &mut Compilation<X>, _: &mut Context<'_>) -> Result<(), Failed> {
    use nbcc_opt::{dce, params};
    each(state, &[dce::run, params::run, dce::run])
}

fn run_if_convert<X>(state: &mut Compilation<X>, _: &mut Context<'_>) -> Result<(), Failed> {
    each(state, &[ifconvert::run])
}

fn run_tidy<X>(state: &mut Compilation<X>, cx: &mut Context<'_>) -> Result<(), Failed> {
    use nbcc_opt::{cse, fold, simplify_cfg};
    each(state, &[fold::run, cse::run, simplify_cfg::run])?;
    run_clean(state, cx)
}

fn choose<X>(state: &mut Compilation<X>, cx: &mut Context<'_>) -> Result<(), Failed> {
    for kernel in &mut state.kernels {
        let func = &state.module.functions[kernel.func];
        match select::select(&state.module, func, &kernel.origins, &mut state.messages) {
            Ok(selected) => {
                let [divergent, uniform] = selected.branches;
                let message = Message::of("threads of a warp may part at ")
                    .value("Divergent", divergent)
                    .text(" branches, and stay together at ")
                    .value("Uniform", uniform);
                let span = func.first_span();
                cx.remarks.push(remark("select", "Branches", &func.name, span, message, vec![]));
                kernel.selected = Some(selected);
            }
            Err(unsupported) => {
                let message = format!(
                    "{} has no instruction for {}",
                    state.machine.isa.title, unsupported.what
                );
                let error = Diagnostic::error(&codes::UNSUPPORTED, message)
                    .at_some(unsupported.span, "used here")
                    .help("compute it with other instructions; docs/language-ptx.md lists them");
                return cx.diagnostics.fail(error);
            }
        }
    }
    Ok(())
}

/// What to do about a machine of few registers.
const MORE_REGISTERS: &str = "give the machine more registers with --set: `nbcc targets --machine \
                              NAME` lists its parameters";

fn run_allocate<X>(state: &mut Compilation<X>, cx: &mut Context<'_>) -> Result<(), Failed> {
    let coalescing = cx.passes.level >= OptLevel::O1;
    for kernel in &mut state.kernels {
        let banks = kernel.banks(&state.machine.limits);
        let Some(selected) = &mut kernel.selected else { continue };
        let name = selected.func.name.clone();
        kernel.unallocated = cx.passes.verify_each.then(|| selected.func.clone());
        let local = kernel.frame.local_bytes;
        let done = regalloc::allocate(&mut selected.func, &banks, local, coalescing);
        let Ok(done) = done else {
            let words = state.machine.limits.registers;
            let message = format!("`{name}` needs more registers than the {words} of a thread");
            return cx
                .diagnostics
                .fail(Diagnostic::error(&codes::TOO_LARGE, message).help(MORE_REGISTERS));
        };
        let Allocation { spilled, moved, rematerialised, coalesced, .. } = done.allocation;
        let message = Message::of_value("Registers", done.words())
            .text(" registers and ")
            .value("Predicates", done.predicates())
            .text(" predicates; ")
            .value("Spilled", spilled)
            .text(" values are kept in local memory, ")
            .value("Moved", moved)
            .text(" predicates in registers, ")
            .value("Rematerialised", rematerialised)
            .text(" values are rematerialised");
        let terms = vec![Term::new("Coalesced", coalesced)];
        let span = state.module.functions[kernel.func].first_span();
        cx.remarks.push(remark("allocate", "Registers", &name, span, message, terms));
        if done.local_bytes.next_multiple_of(16) > u64::from(state.machine.limits.local_bytes) {
            let bytes = done.local_bytes;
            let message = format!("`{name}` has {bytes} bytes of local memory with spilled values");
            let help = format!("keep fewer values at a time, or {MORE_REGISTERS}");
            return cx.diagnostics.fail(Diagnostic::error(&codes::TOO_LARGE, message).help(help));
        }
        kernel.registers = Some(done);
    }
    Ok(())
}

fn turn_latches<X>(state: &mut Compilation<X>, _: &mut Context<'_>) -> Result<(), Failed> {
    for kernel in &mut state.kernels {
        // Instructions are at other places from here on.
        kernel.unallocated = None;
        if let (Some(selected), Some(registers)) = (&mut kernel.selected, &kernel.registers) {
            latch::run(&mut selected.func, registers, kernel.frame.local_bytes);
        }
    }
    Ok(())
}

fn lay_out<X>(state: &mut Compilation<X>, _: &mut Context<'_>) -> Result<(), Failed> {
    for kernel in &mut state.kernels {
        // Blocks are others from here on.
        kernel.unallocated = None;
        if let Some(selected) = &mut kernel.selected {
            layout::run(&mut selected.func);
        }
    }
    Ok(())
}

/// What to do about a program that no binary holds.
const LESS: &str = "put fewer kernels into a file, or make them smaller";

fn put_together<X>(state: &mut Compilation<X>, cx: &mut Context<'_>) -> Result<(), Failed> {
    let mut ready = Vec::new();
    for kernel in &state.kernels {
        let (Some(selected), Some(registers)) = (&kernel.selected, &kernel.registers) else {
            continue;
        };
        ready.push(emit::Ready {
            ir: &state.module.functions[kernel.func],
            func: &selected.func,
            registers,
            frame: kernel.frame,
        });
    }
    let program = emit::emit(&state.module, &ready, &state.messages, &state.machine, cx.sources);
    match program {
        Ok(program) => {
            if let Err(error) = program.validate() {
                let message = error.to_string();
                return cx
                    .diagnostics
                    .fail(Diagnostic::error(&codes::TOO_LARGE, message).help(LESS));
            }
            state.program = Some(program);
            Ok(())
        }
        Err(message) => {
            cx.diagnostics.fail(Diagnostic::error(&codes::TOO_LARGE, message).help(LESS))
        }
    }
}
