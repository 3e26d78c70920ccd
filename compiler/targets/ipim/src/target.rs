//! iPIM as a [`Target`].

use nbcc_base::{CodeInfo, Diagnostic, Diagnostics, Failed, Span};
use nbcc_isa_ipim::Machine;
use nbcc_isa_ipim::machine::BUILT_IN;
use nbcc_mach::regalloc::Policy;
use nbcc_pipeline::{
    Artifact, Choice, Context, Emit, MachineInfo, NoObserver, OptLevel, PassInfo, Program,
    ProgramKind, Request, State, Target, run_passes, run_passes_from,
};
use nbcc_placement::{Message, Remark, RemarkKind};
use nbcc_stages::bounds::Extents;
use nbcc_stages::{DirectiveInfo, ParamKind, Pipeline};

use crate::codes;
use crate::lower::Size;
use crate::pipeline::PASSES;
use crate::plan;
use crate::plan::schedule::defaults::{Rule, relief};
use crate::state::{Compilation, Form};

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
        values: &["fast", "merged", "compact", "smallest"],
        about: "how small code is to be; what is too large is made smaller than this",
    },
    Choice {
        key: "schedule",
        values: &["model", "simple", "root"],
        about: "what has no schedule: by estimated cycles, computed at each use, or computed whole",
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
            Emit::Ir => until("select"),
            Emit::MachineIr => until("allocate"),
            Emit::Binary | Emit::Asm | Emit::Remarks => PASSES,
        };
        let state = run(passes, program, request, cx)?;
        let program = || state.program.as_ref().expect("the last pass makes the program");
        let written = match request.emit {
            Emit::Stages | Emit::Ir | Emit::MachineIr => Ok(Artifact::Text(state.text())),
            Emit::Remarks => Ok(Artifact::Text(String::new())),
            Emit::Asm => nbcc_isa_ipim::asm::disassemble(program()).map(Artifact::Text),
            Emit::Binary => program().to_elf().map(Artifact::Binary),
        };
        written.or_else(|error| {
            let message = format!("the program does not fit the binary format: {error}");
            cx.diagnostics.fail(Diagnostic::error(&codes::TOO_LARGE, message))
        })
    }

    fn explain(
        &self,
        program: Program,
        request: &Request,
        cx: &mut Context<'_>,
    ) -> Result<String, Failed> {
        let mut state = start(program.clone(), request, cx)?;
        let written = state.pipeline.clone();
        run_passes(until("inline"), &mut state, cx)?;
        if relief::next(&state.pipeline, &state.extents, relief::NO_LIMIT).is_some() {
            state.form.repeated = repeated(program, request, cx);
        }
        let passes = until("addresses");
        run_passes_from(passes, until("inline").len(), &mut state, cx)?;
        let plan = state.plan();
        Ok(plan::explain(plan, &state.machine, &written, cx.sources, cx.remarks))
    }
}

/// How much of its Funcs the program repeats that fits the machine; without a limit where none does.
fn repeated(program: Program, request: &Request, cx: &Context<'_>) -> u64 {
    let (mut diagnostics, mut remarks) = (Diagnostics::default(), vec![]);
    let mut quiet = Context {
        sources: cx.sources,
        diagnostics: &mut diagnostics,
        remarks: &mut remarks,
        passes: cx.passes,
        observer: &mut NoObserver,
    };
    run(PASSES, program, request, &mut quiet).map_or(relief::NO_LIMIT, |done| done.form.repeated)
}

/// The passes before the one of that name.
fn until(name: &str) -> &'static [nbcc_pipeline::PassDesc<Compilation>] {
    nbcc_pipeline::before(PASSES, name)
}

/// Runs passes in the first form that fits the machine.
fn run(
    passes: &[nbcc_pipeline::PassDesc<Compilation>],
    program: Program,
    request: &Request,
    cx: &mut Context<'_>,
) -> Result<Compilation, Failed> {
    let mut state = start(program, request, cx)?;
    state.first = Form::first(first_size(request, cx)?, &state.machine);
    state.form = state.first;
    let upto = |name| until(name).len().min(passes.len());
    let (inline, plan) = (upto("inline"), upto("lower"));
    run_passes(&passes[..inline], &mut state, cx)?;
    let scheduled = cx.remarks.len();
    // Up to the plan, programs are the same in every form that repeats as much.
    run_passes_from(&passes[..plan], inline, &mut state, cx)?;
    let mut remarks = cx.remarks.len();
    let mut tried = Vec::new();
    loop {
        let done = run_passes_from(passes, plan, &mut state, cx);
        match (done, state.instead) {
            (Ok(()), Some(instead)) => {
                // What the user is told of a program is told of the one that is kept.
                if instead.repeated == state.form.repeated {
                    cx.remarks.truncate(remarks);
                    tried.push(remark(state.form, instead, output_span(&state.pipeline)));
                    state.begin_again(instead);
                } else {
                    cx.remarks.truncate(scheduled);
                    tried.clear();
                    state.begin_again(instead);
                    run_passes_from(&passes[..plan], inline, &mut state, cx)?;
                    remarks = cx.remarks.len();
                }
            }
            (done, _) => {
                cx.remarks.extend(tried);
                return done.map(|()| state);
            }
        }
    }
}

/// The size of code to begin with.
fn first_size(request: &Request, cx: &mut Context<'_>) -> Result<Size, Failed> {
    Ok(match request.choices.get("code").map(String::as_str) {
        None | Some("fast") => Size::Fast,
        Some("merged") => Size::Merged,
        Some("compact") => Size::Compact,
        Some("smallest") => Size::Smallest,
        Some(other) => {
            let message = format!("`{other}` is no value of -X code");
            return cx.diagnostics.fail(
                Diagnostic::error(&codes::BAD_CHOICE, message)
                    .help("fast, merged, compact or smallest"),
            );
        }
    })
}

/// Says why a program does not have the form tried before.
fn remark(before: Form, form: Form, span: Option<Span>) -> Remark {
    let (name, message) = match form.size {
        _ if form.numbers < before.numbers => {
            ("FewerNumbers", "registers are too few for the numbers of merged kernels")
        }
        _ if before.share && !form.share => {
            ("Unshared", "registers are too few for the arguments of shared kernels")
        }
        Size::Merged if form.apart => (
            "Merged",
            "the program is too large: kernels that differ in constants and do not run much are one",
        ),
        Size::Merged => {
            ("AllMerged", "the program is too large: all kernels that differ in constants are one")
        }
        Size::Smallest => ("Smallest", "the program is too large: requests are made in loops"),
        Size::Fast | Size::Compact => {
            ("Compact", "the program is too large: loops are not unrolled")
        }
    };
    Remark {
        kind: RemarkKind::Missed,
        pass: "emit",
        name,
        function: String::new(),
        span,
        message: Message::of(message),
        terms: vec![],
    }
}

/// The line that stands for the whole program: the definition of its first output.
fn output_span(pipeline: &Pipeline) -> Option<Span> {
    let output = pipeline.outputs.first()?;
    Some(pipeline.funcs[*output].span)
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
                return cx.diagnostics.fail(diagnostic.help("model, simple or root"));
            }
        },
    };
    Ok(Compilation {
        pipeline,
        first: Form::first(Size::Fast, &machine),
        form: Form::first(Size::Fast, &machine),
        machine,
        policy,
        reorder,
        memory_order,
        rule,
        given: (request.input_extents.clone(), request.size.clone()),
        params: request.params.clone(),
        fixed: Default::default(),
        extents: Extents::default(),
        scheduled: None,
        bounds: None,
        plan: None,
        instead: None,
        kernels: vec![],
        turns: vec![],
        plainer: vec![],
        places: vec![],
        pool: Default::default(),
        selected: vec![],
        program: None,
    })
}
