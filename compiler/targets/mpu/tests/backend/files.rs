//! The files of tests/passes/mpu: a first line `; run: PASS [OPTIONS]`, a module, a line
//! `; expect:`, and the kernels after that pass, with what it remarked. Before it run the passes
//! that cannot be left out, nothing else. After `emit` the program is shown.
//!
//! Options are `-O0` to `-O2` (`-O2` where none is given), `location=POLICY`, and changes of the machine as in
//! `registers.words=16`. With `NBCC_BLESS=1` the expected parts are written anew.

use std::fmt::Write;
use std::path::Path;

use nbcc_base::{Diagnostics, SourceFile, SourceMap};
use nbcc_ir::{parse_module, verify_module};
use nbcc_isa::Override;
use nbcc_isa_mpu::machine::BUILT_IN;
use nbcc_pipeline::{
    Artifact, Context, Dump, Emit, Observer, OptLevel, PassOptions, PassRecord, Program, Request,
    Target,
};
use nbcc_target_mpu::MPU;
use nbcc_testing::check_results;

#[test]
fn files_give_what_they_expect() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/passes/mpu");
    check_results(&folder, "nbir", result);
}

/// Keeps what one pass leaves.
struct After<'a> {
    pass: &'a str,
    dumps: Vec<Dump>,
}

impl Observer for After<'_> {
    fn wants_dumps(&self) -> bool {
        true
    }

    fn pass(&mut self, record: PassRecord) {
        if record.pass.name == self.pass {
            self.dumps = record.after;
        }
    }
}

fn result(input: &str) -> String {
    let command = input.lines().next().and_then(|line| line.strip_prefix("; run: "));
    let mut words = command.expect("a line `; run:`").split(' ');
    let wanted = words.next().expect("a pass");
    let passes = MPU.passes();
    assert!(passes.iter().any(|pass| pass.name == wanted), "there is no pass {wanted}");
    let mut options = PassOptions {
        verify_each: true,
        disabled: passes.iter().map(|pass| pass.name.to_string()).collect(),
        ..PassOptions::default()
    };
    options.disabled.retain(|name| name != wanted);
    let (name, text) = BUILT_IN[0];
    let mut request = Request {
        machine: text.to_string(),
        machine_name: name.to_string(),
        emit: Emit::Asm,
        ..Request::default()
    };
    for word in words {
        match word {
            "-O0" => options.level = OptLevel::O0,
            "-O1" => options.level = OptLevel::O1,
            "-O2" => options.level = OptLevel::O2,
            _ if word.starts_with("location=") => {
                let (key, value) = word.split_once('=').expect("KEY=VALUE");
                request.choices.insert(key.to_string(), value.to_string());
            }
            _ => request.overrides.push(Override::parse(word).expect("KEY=VALUE")),
        }
    }
    let mut sources = SourceMap::default();
    let source = sources.add(SourceFile::new("test.nbir", input));
    let mut diagnostics = Diagnostics::default();
    let module = parse_module(source, input, &[], &mut diagnostics);
    let module = module.unwrap_or_else(|_| panic!("{diagnostics:?}\n{input}"));
    assert_eq!(verify_module(&module), [], "{input}");
    let (mut after, mut remarks) = (After { pass: wanted, dumps: vec![] }, vec![]);
    let mut cx = Context {
        sources: &sources,
        diagnostics: &mut diagnostics,
        remarks: &mut remarks,
        passes: &options,
        observer: &mut after,
    };
    let done = MPU.compile(Program::Grids(module.into()), &request, &mut cx);
    let mut out = String::new();
    match done {
        Ok(Artifact::Text(text)) if wanted == "emit" => out.push_str(&text),
        Ok(_) => out.extend(after.dumps.iter().map(|dump| dump.text.as_str())),
        Err(_) => {
            for diagnostic in diagnostics.iter() {
                let _ = writeln!(out, "{} {}", diagnostic.code.code, diagnostic.message);
            }
        }
    }
    for remark in remarks.iter().filter(|remark| remark.pass == wanted) {
        let _ = writeln!(out, "; @{}: {}", remark.function, remark.message);
    }
    out
}
