//! SDPNM as a [`Target`].

use std::fmt::Write;

use nbcc_base::{CodeInfo, Diagnostic, Failed, Span};
use nbcc_isa_sdpnm::Machine;
use nbcc_isa_sdpnm::core::asm;
use nbcc_isa_sdpnm::machine::BUILT_IN;
use nbcc_pipeline::{
    Artifact, Choice, Context, Emit, MachineInfo, PassDesc, PassInfo, Program, ProgramKind,
    ReportInfo, Request, Target, before, run_attempts,
};

use crate::arrays::reports::fates::{self, Fate};
use crate::arrays::reports::{ddg, decision};
use crate::codes;
use crate::map::mappers::{self, MAPPERS};
use crate::pipeline::PASSES;
use crate::state::{Compilation, Configuration};

/// The SDPNM target.
pub static SDPNM: Sdpnm = Sdpnm;

/// The SDPNM target.
#[derive(Debug)]
pub struct Sdpnm;

const MACHINES: [MachineInfo; BUILT_IN.len()] =
    MachineInfo::all(BUILT_IN, ["SDPNM at 200 MHz: a core, and arrays of 8 x 8"]);

const DDG: ReportInfo = ReportInfo {
    name: "ddg",
    about: "Data-flow graphs of loops and the dependences between loops",
};

const CHOICES: &[Choice] = &[
    Choice {
        key: "division",
        values: &["auto", "core"],
        about: "what runs on arrays: loops that gain by it, or nothing",
    },
    Choice {
        key: "merge",
        values: &["on", "off"],
        about: "whether loops that stand one behind the other become one",
    },
    Choice {
        key: "hyperblocks",
        values: &["on", "off"],
        about: "whether loops with control flow inside run on arrays, under predicates",
    },
    Choice { key: "split", values: &["on", "off"], about: "whether several arrays share a loop" },
    Choice { key: "mapper", values: &["search", "sat", "ilp"], about: "who maps loops on arrays" },
];

impl Target for Sdpnm {
    fn name(&self) -> &'static str {
        asm::NAME
    }

    fn about(&self) -> &'static str {
        "SDPNM: C functions on a core beside 64 DRAM banks, RV32IM; graphs on its arrays (`nbcc map`)"
    }

    fn machines(&self) -> &'static [MachineInfo] {
        &MACHINES
    }

    fn choices(&self) -> &'static [Choice] {
        CHOICES
    }

    fn reports(&self) -> Vec<ReportInfo> {
        vec![DDG]
    }

    fn accepts(&self) -> ProgramKind {
        ProgramKind::Function
    }

    fn passes(&self) -> Vec<PassInfo> {
        PASSES.iter().map(PassDesc::info).collect()
    }

    fn codes(&self) -> Vec<&'static CodeInfo> {
        codes::ALL.to_vec()
    }

    fn compile(
        &self,
        program: Program,
        request: &Request,
        cx: &mut Context<'_>,
    ) -> Result<Artifact, Failed> {
        let passes = match request.emit {
            Emit::Stages => {
                let message = "a sequential program has no stages";
                let error = Diagnostic::error(&codes::NO_STAGES, message);
                return cx.diagnostics.fail(error.help("use --emit ir"));
            }
            Emit::Report(_) => before(PASSES, "merge"),
            emit => emit.passes(PASSES),
        };
        let mut state = start(program, request, cx)?;
        run_attempts(passes, &mut state, cx)?;
        let program = || state.program.as_ref().expect("the last pass makes the program");
        let written = match request.emit {
            Emit::Ir => Ok(Artifact::Text(state.module.to_string())),
            Emit::Report(name) if name == DDG.name => {
                Ok(Artifact::Text(ddg::listing(&mut state.module.functions[state.func])))
            }
            emit => emit.artifact(&state, || program().to_elf(), asm::disassemble_elf),
        };
        written.or_else(|why| {
            let func = &state.module.functions[state.func];
            let error = Diagnostic::error(&codes::CORE_TOO_LARGE, why)
                .at_some(func.first_span(), "in this function")
                .help("put less code into the function");
            cx.diagnostics.fail(error)
        })
    }

    fn explain(
        &self,
        program: Program,
        request: &Request,
        cx: &mut Context<'_>,
    ) -> Result<String, Failed> {
        let mut state = start(program, request, cx)?;
        run_attempts(PASSES, &mut state, cx)?;
        let func = &state.module.functions[state.func];
        let (Some(program), Some(done)) = (&state.program, &state.allocation) else {
            panic!("the last pass makes the program");
        };
        let mut out = String::new();
        let _ = writeln!(out, "function {}", func.name);
        // Loops of their own, and what is part of them, by lines.
        let mut loops: Vec<(u32, bool, String)> = Vec::new();
        let line = |span: Option<Span>| span.map_or(0, |span| decision::line(cx.sources, span));
        for decision in &state.decisions {
            let text = match &decision.place {
                Err(why) => format!("on the core: {why}"),
                Ok(on) => format!(
                    "on {}, {} every {} cycles ({})",
                    on.names(&state.machine).trim_end_matches(','),
                    on.iterations(),
                    on.ii,
                    on.why(cx.sources)
                ),
            };
            loops.push((line(decision.span), decision.place.is_ok(), text));
        }
        for (n, fate) in fates::all(&state).into_iter().filter(|_| state.is_decided) {
            if let Some(text) = fates::text(&state, fate, cx.sources) {
                let is_on_array = matches!(fate, Fate::Part(of, _) if of.place.is_ok());
                loops.push((line(Some(state.sources.loops[n].span)), is_on_array, text));
            }
        }
        loops.sort_by_key(|&(line, ..)| line);
        let on_array = loops.iter().filter(|(_, is_on_array, _)| *is_on_array).count();
        let _ = writeln!(
            out,
            "  where         {on_array} of {} loops run on arrays, the rest on the core",
            loops.len()
        );
        for (line, _, text) in loops {
            let line = if line > 0 { format!("line {line}: ") } else { String::new() };
            let _ = writeln!(out, "  loop          {line}{text}");
        }
        let _ = writeln!(out, "  instructions  {}", program.code.text.len());
        let _ = writeln!(
            out,
            "  kept          {} values in the frame, {} rematerialised",
            done.spilled, done.rematerialised
        );
        let data: usize = program.data.iter().map(|data| data.bytes.len()).sum();
        let _ = writeln!(
            out,
            "  memory        {data} bytes of data, {} of variables",
            program.frame.zeroed.bytes
        );
        let _ =
            writeln!(out, "  traps         {} places that may end the run", program.traps.len());
        Ok(out)
    }
}

fn start(program: Program, request: &Request, cx: &mut Context<'_>) -> Result<Compilation, Failed> {
    let Program::Function(module, func) = program else { panic!("SDPNM takes functions") };
    let machine = request.read_machine(Machine::from_toml, &codes::BAD_MACHINE, cx.diagnostics)?;
    let choice = |key: &str| request.choices.get(key).map(String::as_str);
    let mapper = mappers::find(choice("mapper").unwrap_or(MAPPERS[0].name));
    let divides = choice("division") != Some("core");
    let merges = choice("merge") != Some("off");
    let state = Compilation::new(module, func, machine, mapper.filter(|_| divides));
    let configuration = Configuration { merges, ..state.configuration.clone() };
    let splits = choice("split") != Some("off");
    let hyperblocks = choice("hyperblocks") != Some("off");
    Ok(Compilation { configuration, splits, hyperblocks, ..state })
}
