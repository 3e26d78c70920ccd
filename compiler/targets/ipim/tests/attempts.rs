//! Programs that do not fit the machine at once: what is seen of them is the attempt that is kept.

use std::collections::BTreeMap;

use nbcc_base::{Diagnostics, SourceFile, SourceMap};
use nbcc_isa::Override;
use nbcc_isa_ipim::Machine;
use nbcc_pipeline::{
    Artifact, Context, Emit, Observer, ParseOptions, PassOptions, PassRecord, Program, Request,
    Target,
};
use nbcc_placement::Remark;
use nbcc_target_ipim::IPIM;

/// What is seen of a compilation.
#[derive(Default)]
struct Seen {
    passes: Vec<&'static str>,
    /// The names of the kernels before and after each pass.
    kernels: Vec<[Vec<String>; 2]>,
    attempts: bool,
}

impl Observer for Seen {
    fn wants_dumps(&self) -> bool {
        true
    }

    fn pass(&mut self, record: PassRecord) {
        self.passes.push(record.pass.name);
        let names = [record.before, record.after]
            .map(|dumps| dumps.into_iter().map(|dump| dump.function).collect());
        self.kernels.push(names);
    }

    fn not_kept(&mut self, _: std::time::Duration) {
        self.attempts = true;
    }
}

/// Compiles a pipeline to assembly.
fn compile(source: &str, set: &[(&str, u32)], code: &str) -> (Seen, Vec<Remark>) {
    let mut sources = SourceMap::default();
    let id = sources.add(SourceFile::new("t.halide", source));
    let mut diagnostics = Diagnostics::default();
    let options = ParseOptions { directives: IPIM.directives(), ..ParseOptions::default() };
    let pipeline = nbcc_frontend_halide::parse(id, sources.get(id), &options, &mut diagnostics)
        .expect("parses");
    let over = |&(key, value): &(&str, u32)| Override { key: key.into(), value: value.to_string() };
    let request = Request {
        machine: Machine::built_in_text("ipim-vault").expect("it is built in").to_string(),
        overrides: set.iter().map(over).collect(),
        choices: BTreeMap::from([("code".to_string(), code.to_string())]),
        emit: Emit::Asm,
        size: vec![61, 37],
        ..Request::default()
    };
    let (mut remarks, mut seen) = (vec![], Seen::default());
    let mut cx = Context {
        sources: &sources,
        diagnostics: &mut diagnostics,
        remarks: &mut remarks,
        passes: &PassOptions { verify_each: true, ..PassOptions::default() },
        observer: &mut seen,
    };
    let done = IPIM.compile(Program::Stages(pipeline), &request, &mut cx);
    assert!(matches!(done, Ok(Artifact::Text(text)) if !text.is_empty()));
    (seen, remarks)
}

fn pipeline(name: &str) -> String {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    std::fs::read_to_string(root.join("tests/pipelines").join(name)).expect("the pipeline is there")
}

/// Every pass is seen once, in the order of the list, and finds the kernels that the one before
/// left; each kernel has one remark on its registers.
fn is_one_attempt(seen: &Seen, remarks: &[Remark]) {
    let all: Vec<&str> = IPIM.passes().iter().map(|pass| pass.name).collect();
    assert_eq!(seen.passes, all);
    for pair in seen.kernels.windows(2) {
        assert_eq!(pair[0][1], pair[1][0]);
    }
    let allocated = remarks.iter().filter(|remark| remark.name == "Registers");
    let allocated: Vec<&String> = allocated.map(|remark| &remark.function).collect();
    assert_eq!(allocated, seen.kernels[all.len() - 1][1].iter().collect::<Vec<_>>());
}

#[test]
fn kernels_with_few_registers_are_seen_as_they_are_kept() {
    let source = pipeline("integral_image.halide");
    let (seen, remarks) = compile(&source, &[], "rolled");
    assert!(!seen.attempts);
    is_one_attempt(&seen, &remarks);
    // Loops over few tiles are compiled both ways.
    let (seen, remarks) = compile(&source, &[], "fast");
    assert!(seen.attempts);
    is_one_attempt(&seen, &remarks);
    let few = [("registers.data", 16), ("registers.addr", 16), ("registers.ctrl", 24)];
    let (seen, remarks) = compile(&source, &few, "fast");
    assert!(seen.attempts);
    is_one_attempt(&seen, &remarks);
}

#[test]
fn a_smaller_program_says_why_and_is_seen_alone() {
    let reasons = |remarks: &[Remark]| {
        // What the code takes is no reason.
        let of_emit = |remark: &&Remark| remark.pass == "emit" && remark.name != "Code";
        let reasons = remarks.iter().filter(of_emit);
        reasons.map(|remark| remark.name).collect::<Vec<_>>()
    };
    // Half of it is room for code, of which the first needs more in each configuration, and the second
    // nearly all, so that none is left to unroll what runs most.
    let of = |bytes: u32| [("memory.vsm_bytes", bytes)];
    let large = pipeline("stencil_chain_u16.halide");
    let full = pipeline("median_3x3.halide");
    let both =
        [(&large, 44032, &["Merged", "AllMerged", "Rolled"][..]), (&full, 36864, &["Rolled"])];
    for (source, bytes, expected) in both {
        let (seen, remarks) = compile(source, &of(bytes), "fast");
        assert!(seen.attempts);
        is_one_attempt(&seen, &remarks);
        assert_eq!(reasons(&remarks), expected);
    }
    let (seen, remarks) = compile(&full, &of(36864), "compact");
    is_one_attempt(&seen, &remarks);
    assert_eq!(reasons(&remarks), [""; 0]);
}
