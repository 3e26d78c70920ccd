//! A SIMT machine as a [`Target`].

use std::fmt::Write;

use nbcc_base::{CodeInfo, Diagnostic, Failed};
use nbcc_isa_simt::{Isa, asm};
use nbcc_pipeline::{
    Artifact, Choice, Context, Emit, Grids, MachineInfo, PassDesc, PassInfo, Program, ProgramKind,
    ReportInfo, Request, Target, run_passes,
};

use crate::backend::select::Messages;
use crate::codes;
use crate::state::{Compilation, KernelState};

/// What a target reports of a program once its passes are done.
#[derive(Debug)]
pub struct Report<X: 'static = ()> {
    /// Its name, and a sentence on it.
    pub info: ReportInfo,
    /// Its text.
    pub text: fn(&Compilation<X>, &Context<'_>) -> String,
}

/// A SIMT target. `X` is what its passes keep beside the shared state.
pub struct Simt<X: 'static = ()> {
    /// Its instruction set, whose name is the target's.
    pub isa: &'static Isa,
    /// One sentence on it.
    pub about: &'static str,
    /// The machines that come with it; the first is the default.
    pub machines: &'static [MachineInfo],
    /// What `-X` takes.
    pub choices: &'static [Choice],
    /// What it reports of programs, see [`Target::reports`].
    pub reports: &'static [Report<X>],
    /// Its passes, in order. The last makes the program.
    pub passes: &'static [PassDesc<Compilation<X>>],
    /// Whether a pass reads [`Compilation::profile`].
    pub uses_profiles: bool,
    /// The diagnostic codes that it reports besides [`codes::ALL`].
    pub codes: &'static [&'static CodeInfo],
}

impl<X: Default> Target for Simt<X> {
    fn name(&self) -> &'static str {
        self.isa.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn machines(&self) -> &'static [MachineInfo] {
        self.machines
    }

    fn choices(&self) -> &'static [Choice] {
        self.choices
    }

    fn accepts(&self) -> ProgramKind {
        ProgramKind::Grids
    }

    fn reports(&self) -> Vec<ReportInfo> {
        self.reports.iter().map(|report| report.info).collect()
    }

    fn uses_profiles(&self) -> bool {
        self.uses_profiles
    }

    fn passes(&self) -> Vec<PassInfo> {
        self.passes.iter().map(PassDesc::info).collect()
    }

    fn codes(&self) -> Vec<&'static CodeInfo> {
        codes::ALL.iter().chain(self.codes).copied().collect()
    }

    fn compile(
        &self,
        program: Program,
        request: &Request,
        cx: &mut Context<'_>,
    ) -> Result<Artifact, Failed> {
        let passes = match request.emit {
            Emit::Stages => {
                let message = "a program of grids has no stages";
                return cx
                    .diagnostics
                    .fail(Diagnostic::error(&codes::NOT_GRIDS, message).help("use --emit ir"));
            }
            emit => emit.passes(self.passes),
        };
        let mut state = self.start(program, request, cx)?;
        run_passes(passes, &mut state, cx)?;
        let program = || state.program.as_ref().expect("the last pass makes the program");
        let written = match request.emit {
            Emit::Ir => Ok(Artifact::Text(text_of(&state))),
            Emit::Report(name) => {
                let report = self.reports.iter().find(|report| report.info.name == name);
                let report = report.expect("a report of this target");
                Ok(Artifact::Text((report.text)(&state, cx)))
            }
            emit => {
                let disassemble = |file: &[u8]| asm::disassemble_elf(self.isa, file);
                emit.artifact(&state, || program().to_elf(), disassemble)
            }
        };
        written.or_else(|why| cx.diagnostics.fail(Diagnostic::error(&codes::TOO_LARGE, why)))
    }

    fn explain(
        &self,
        program: Program,
        request: &Request,
        cx: &mut Context<'_>,
    ) -> Result<String, Failed> {
        let mut state = self.start(program, request, cx)?;
        run_passes(self.passes, &mut state, cx)?;
        let mut out = String::new();
        for kernel in &state.kernels {
            let (Some(selected), Some(done)) = (&kernel.selected, &kernel.registers) else {
                continue;
            };
            let func = &state.module.functions[kernel.func];
            let [divergent, uniform] = selected.branches;
            let table = func.kernel.clone().unwrap_or_default();
            let _ = writeln!(out, "kernel {}", func.name);
            let _ = writeln!(
                out,
                "  parameters    {} in {} bytes",
                table.params.len(),
                table.params_size()
            );
            let _ = writeln!(out, "  instructions  {}", selected.func.len());
            let _ = writeln!(
                out,
                "  registers     {} of {}, predicates {}",
                done.words(),
                state.machine.limits.registers,
                done.predicates()
            );
            let _ = writeln!(
                out,
                "  kept          {} values in local memory, {} predicates in registers, {} rematerialised",
                done.allocation.spilled, done.allocation.moved, done.allocation.rematerialised
            );
            let _ = writeln!(
                out,
                "  memory        {} bytes shared a block, {} local a thread",
                kernel.frame.shared_bytes, done.local_bytes
            );
            let _ = writeln!(
                out,
                "  branches      {divergent} where the threads of a warp may part, {uniform} uniform"
            );
            for (title, text) in &kernel.findings {
                let _ = writeln!(out, "  {title:<13} {text}");
            }
        }
        Ok(out)
    }
}

impl<X: Default> Simt<X> {
    fn start(
        &self,
        program: Program,
        request: &Request,
        cx: &mut Context<'_>,
    ) -> Result<Compilation<X>, Failed> {
        let Program::Grids(Grids { module, listings }) = program else {
            panic!("this target takes kernels")
        };
        let machine = request.read_machine(self.isa.read, &codes::BAD_MACHINE, cx.diagnostics)?;
        let kernels: Vec<KernelState> = module
            .functions
            .iter()
            .filter(|(_, func)| func.kernel.is_some())
            .map(|(func, _)| KernelState::new(func))
            .collect();
        if kernels.is_empty() {
            return cx.diagnostics.fail(
                Diagnostic::error(&codes::NOT_GRIDS, "there is no kernel")
                    .help("a kernel is a function that hosts launch: `.entry` in PTX"),
            );
        }
        let (messages, own) = (Messages::default(), X::default());
        let choices = request.choices.clone();
        Ok(Compilation {
            module,
            listings,
            machine,
            choices,
            profile: request.profile.clone(),
            kernels,
            messages,
            program: None,
            own,
        })
    }
}

/// The kernels that are compiled, with the objects they use, as a module that can be read again.
fn text_of<X>(state: &Compilation<X>) -> String {
    let mut module =
        nbcc_ir::Module { objects: state.module.objects.clone(), ..Default::default() };
    for kernel in &state.kernels {
        module.functions.push(state.module.functions[kernel.func].clone());
    }
    // Functions whose address data holds are named by it.
    let address = |target: &nbcc_ir::RelocationTarget| {
        matches!(target, nbcc_ir::RelocationTarget::Function(_))
    };
    for object in module.objects.values_mut() {
        object.relocations.retain(|relocation| !address(&relocation.target));
    }
    module.to_string()
}
