//! iPIM as a [`Target`].

use nbcc_base::{CodeInfo, Diagnostic, Failed};
use nbcc_isa_ipim::machine::BUILT_IN;
use nbcc_isa_ipim::{Machine, asm};
use nbcc_mach::regalloc::Policy;
use nbcc_pipeline::{
    Artifact, Choice, Context, Emit, MachineInfo, OptLevel, PassDesc, PassInfo, Program,
    ProgramKind, Request, Target, run_attempts, run_rest,
};
use nbcc_stages::bounds::Extents;
use nbcc_stages::{DirectiveInfo, ParamKind};

use crate::codes;
use crate::configuration::Configuration;
use crate::estimate;
use crate::kernel::Size;
use crate::pipeline::PASSES;
use crate::plan;
use crate::plan::schedule::defaults::{Rule, is_scheduled, unscheduled};
use crate::state::Compilation;

/// The iPIM target.
pub static IPIM: Ipim = Ipim;

/// The iPIM target.
#[derive(Debug)]
pub struct Ipim;

const DIRECTIVES: &[DirectiveInfo] = &[
    DirectiveInfo {
        name: "ipim_tile",
        forms: &[
            &[
                ParamKind::Var,
                ParamKind::Var,
                ParamKind::NewVar,
                ParamKind::NewVar,
                ParamKind::Size,
                ParamKind::Size,
            ],
            &[ParamKind::Var, ParamKind::NewVar, ParamKind::Size],
        ],
        usage: "ipim_tile(x, y, xi, yi, W, H) or ipim_tile(x, xi, W)",
        about: "cuts the image into tiles of W x H and distributes them over the engines",
    },
    DirectiveInfo {
        name: "load_pgsm",
        forms: &[&[ParamKind::Vars]],
        usage: "load_pgsm(xi, yi)",
        about: "stages what the Func reads from banks in the scratchpad of the group",
    },
];

const MACHINES: [MachineInfo; BUILT_IN.len()] = MachineInfo::all(
    BUILT_IN,
    [
        "iPIM as evaluated: 8 cubes of 16 vaults",
        "one cube of 16 vaults",
        "one vault",
        "the comparison with compute logic on the base die",
    ],
);

const SWITCH: &[&str] = &["on", "off"];

const CHOICES: &[Choice] = &[
    Choice {
        key: "regalloc",
        values: &["spread", "min"],
        about: "spread values over registers so that reuse does not stall, or use as few as possible",
    },
    Choice {
        key: "reorder",
        values: SWITCH,
        about: "reorder instructions so that few wait; off at -O0",
    },
    Choice {
        key: "memory-order",
        values: SWITCH,
        about: "keep accesses to an object in the order of the program when instructions are reordered",
    },
    Choice {
        key: "code",
        values: &["fast", "merged", "rolled", "compact", "smallest"],
        about: "how small code is to be; what is too large is made smaller than this",
    },
    Choice {
        key: "schedule",
        values: &["model", "simple", "root", "ignore"],
        about: "what has no schedule: by estimated cycles, computed at each use, or computed whole; \
                ignore sets the source's schedule aside, too, and goes by estimated cycles",
    },
];

impl Target for Ipim {
    fn name(&self) -> &'static str {
        "ipim"
    }

    fn about(&self) -> &'static str {
        "iPIM: image pipelines on engines beside DRAM banks, SIMB instructions"
    }

    fn directives(&self) -> &'static [DirectiveInfo] {
        DIRECTIVES
    }

    fn machines(&self) -> &'static [MachineInfo] {
        &MACHINES
    }

    fn choices(&self) -> &'static [Choice] {
        CHOICES
    }

    fn accepts(&self) -> ProgramKind {
        ProgramKind::Stages
    }

    fn passes(&self) -> Vec<PassInfo> {
        PASSES.iter().map(|p| p.info()).collect()
    }

    fn codes(&self) -> Vec<&'static CodeInfo> {
        codes::ALL.iter().chain(nbcc_stages::codes::ALL).copied().collect()
    }

    fn compile(
        &self,
        program: Program,
        request: &Request,
        cx: &mut Context<'_>,
    ) -> Result<Artifact, Failed> {
        let passes = match request.emit {
            Emit::Stages => until("lower"),
            emit => emit.passes(PASSES),
        };
        let mut state = start(program, request, cx)?;
        run_attempts(passes, &mut state, cx)?;
        let program = || state.program.as_ref().expect("the last pass makes the program");
        let written = request.emit.artifact(&state, || program().to_elf(), asm::disassemble_elf);
        written.or_else(|why| cx.diagnostics.fail(Diagnostic::error(&codes::TOO_LARGE, why)))
    }

    fn explain(
        &self,
        program: Program,
        request: &Request,
        cx: &mut Context<'_>,
    ) -> Result<String, Failed> {
        let first = start(program, request, cx)?;
        let mut compiled = first.clone();
        let fits = run_rest(PASSES, PASSES[0].name, &mut compiled, cx.sources, cx.passes).is_ok();
        let mut state = first.clone();
        if fits {
            // The plan of the program that fits the machine: maybe one with less inlined, or without updates
            // in definitions.
            let Configuration { inlining_budget, unroll_updates, .. } = compiled.configuration;
            state.configuration =
                Configuration { inlining_budget, unroll_updates, ..state.configuration };
            state.found.clone_from(&compiled.found);
        }
        run_attempts(until("addresses"), &mut state, cx)?;
        let taken = fits.then(|| estimate::of_steps(&compiled));
        let without = without_schedule(&first, cx);
        // What the code takes goes with the plan that the code is of.
        let plan = if fits { compiled.plan() } else { state.plan() };
        let taken = taken.as_deref();
        Ok(plan::explain(plan, &state.machine, &first.pipeline, taken, without, cx.sources))
    }
}

/// The estimated cycles of a pipeline whose source schedules it, were that schedule ignored. `None`
/// where it schedules nothing, or where no other plan can be made.
fn without_schedule(first: &Compilation, cx: &Context<'_>) -> Option<u64> {
    if first.rule != Rule::Model || !is_scheduled(&first.pipeline) {
        return None;
    }
    let mut state = first.clone();
    state.rule = Rule::Ignore;
    state.pipeline = unscheduled(state.pipeline);
    // The first schedule is as good an answer, and much quicker.
    let mut options = cx.passes.clone();
    options.disabled.push("compare-schedules".to_string());
    run_rest(PASSES, PASSES[0].name, &mut state, cx.sources, &options).ok()?;
    Some(estimate::of_steps(&state).iter().map(|taken| taken.cost.cycles()).sum())
}

/// The passes before the one of that name.
fn until(name: &str) -> &'static [PassDesc<Compilation, Configuration>] {
    nbcc_pipeline::before(PASSES, name)
}

/// The size of code to begin with.
fn first_size(request: &Request, cx: &mut Context<'_>) -> Result<Size, Failed> {
    Ok(match request.choices.get("code").map(String::as_str) {
        None | Some("fast") => Size::Fast,
        Some("merged") => Size::Merged,
        Some("rolled") => Size::Rolled,
        Some("compact") => Size::Compact,
        Some("smallest") => Size::Smallest,
        Some(other) => {
            let message = format!("`{other}` is no value of -X code");
            return cx.diagnostics.fail(
                Diagnostic::error(&codes::BAD_CHOICE, message)
                    .help("fast, merged, rolled, compact or smallest"),
            );
        }
    })
}

/// A choice between on and off; on where nothing is chosen.
fn switch(request: &Request, key: &str, cx: &mut Context<'_>) -> Result<bool, Failed> {
    match request.choices.get(key).map(String::as_str) {
        None | Some("on") => Ok(true),
        Some("off") => Ok(false),
        Some(other) => {
            let message = format!("`{other}` is no value of -X {key}");
            cx.diagnostics.fail(Diagnostic::error(&codes::BAD_CHOICE, message).help("on or off"))
        }
    }
}

fn start(program: Program, request: &Request, cx: &mut Context<'_>) -> Result<Compilation, Failed> {
    let Program::Stages(pipeline) = program else { panic!("iPIM takes image pipelines") };
    let machine = request.read_machine(Machine::from_toml, &codes::BAD_MACHINE, cx.diagnostics)?;
    let least = plan::least_bytes(&machine);
    if machine.memory.pgsm_bytes < least {
        let message = format!(
            "the scratchpad of a group has {} bytes, of which its engines need {least} themselves",
            machine.memory.pgsm_bytes
        );
        let help = format!("set memory.pgsm_bytes to {least} or more");
        return cx.diagnostics.fail(Diagnostic::error(&codes::BAD_MACHINE, message).help(help));
    }
    let spread = cx.passes.level >= OptLevel::O1;
    let policy = match request.choices.get("regalloc").map(String::as_str) {
        Some("min") => Policy::Min,
        Some("spread") => Policy::Spread,
        Some(other) => {
            let message = format!("`{other}` is no value of -X regalloc");
            return cx
                .diagnostics
                .fail(Diagnostic::error(&codes::BAD_CHOICE, message).help("spread or min"));
        }
        None if spread => Policy::Spread,
        None => Policy::Min,
    };
    let reorder = switch(request, "reorder", cx)?;
    let memory_order = switch(request, "memory-order", cx)?;
    let rule = match request.choices.get("schedule") {
        None => Rule::default(),
        Some(name) => match Rule::named(name) {
            Some(rule) => rule,
            None => {
                let message = format!("`{name}` is no value of -X schedule");
                let diagnostic = Diagnostic::error(&codes::BAD_CHOICE, message);
                return cx.diagnostics.fail(diagnostic.help("model, simple, root or ignore"));
            }
        },
    };
    let pipeline = match rule {
        Rule::Ignore => unscheduled(pipeline),
        Rule::Model | Rule::Simple | Rule::Root => pipeline,
    };
    let first = Configuration::first(first_size(request, cx)?, &machine);
    Ok(Compilation {
        pipeline,
        findings: vec![],
        configuration: first.clone(),
        first,
        machine,
        policy,
        reorder,
        memory_order,
        rule,
        given: (request.input_extents.clone(), request.size.clone()),
        params: request.params.clone(),
        fixed: Default::default(),
        extents: Extents::default(),
        updates_unrolled: false,
        found: None,
        scheduled: None,
        bounds: None,
        plan: None,
        jams: Default::default(),
        kernels: vec![],
        calls: vec![],
        transforms: Default::default(),
        complete: Default::default(),
        places: vec![],
        pool: Default::default(),
        selected: vec![],
        program: None,
    })
}
