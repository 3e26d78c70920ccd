//! Runs a program by the interpreter and by compiler and machine, at several levels, on the core and
//! divided, and compares what each leaves behind, also where a run ends early.

use std::path::Path;

use nbcc::kinds::functions::{FunctionRequest, Trap};
use nbcc::kinds::{Place, RunError, RunOptions};
use nbcc::registry::{self, Runner};
use nbcc_base::{SourceFile, SourceMap};
use nbcc_host::function::{Bound, BoundArray};
use nbcc_interp::function::{self as interp, Called, Given, TrapKind};
use nbcc_ir::{Func, Module, specialise, verify_module};
use nbcc_isa::Override;
use nbcc_pipeline::{OptLevel, Program};

use super::common::{self, runs};
use crate::builds::Build;
use crate::guard::{Failure, failure, guarded};

/// Instructions that the interpreter takes at most.
const STEPS: u64 = 4_000_000;

/// Cycles that the machine takes at most.
const MAX_CYCLES: u64 = 400_000_000;

/// A run and what it leaves behind.
#[derive(Clone, Debug)]
pub struct Ran {
    /// What it is called on.
    pub arguments: Bound,
    /// What is left; `None` where the run ends early.
    pub left: Option<Called>,
    /// Whether an array did something of it.
    pub on_array: bool,
}

/// How a program is built.
struct Variant {
    name: &'static str,
    level: OptLevel,
    choices: &'static [(&'static str, &'static str)],
    /// The number of the run whose scalars are promised.
    fixed: Option<usize>,
    /// Whether shared memories are so small that loops go through them in strips.
    is_small: bool,
}

/// How many numbers choose different ways of building.
pub const WAYS: u64 = 16;

/// The ways in which a program is built, which the number chooses: divided, with scalars known or not, without a part
/// of the division or with small shared memories, and all on the core. What is mapped takes most of the time.
fn variants(number: u64, runs: usize) -> [Variant; 2] {
    const CORE: &[(&str, &str)] = &[("division", "core")];
    let runs = runs as u64;
    let variant = |name, level, choices, is_fixed: bool| {
        let fixed = is_fixed.then_some((number / WAYS % runs) as usize);
        Variant { name, level, choices, fixed, is_small: false }
    };
    let (least, most) = (OptLevel::O0, OptLevel::O2);
    let divided = match number % 8 {
        0 | 2 | 4 => variant("divided", most, &[], false),
        1 | 5 => variant("divided, fixed", most, &[], true),
        3 => Variant { is_small: true, ..variant("in strips, fixed", most, &[], true) },
        6 if number % WAYS == 6 => variant("divided, O0", least, &[], false),
        6 => variant("divided, O1", OptLevel::O1, &[], true),
        _ if number % WAYS == 7 => variant("not merged", most, &[("merge", "off")], false),
        _ => variant("not split", most, &[("split", "off")], true),
    };
    let core = match number / 2 % 4 {
        0 | 1 => variant("core", most, CORE, false),
        2 => variant("core, fixed", most, CORE, true),
        _ => variant("core, O0", least, CORE, false),
    };
    [core, divided]
}

/// The code of constant subscripts outside of arrays.
const OUTSIDE: &str = "E3063";

/// Runs a program in a thread of its own: what its runs leave on the interpreter, with which all others
/// agree. The number chooses among the ways of building it.
pub fn run(text: &str, number: u64) -> Result<Vec<Ran>, Failure> {
    let text = text.to_string();
    guarded(move || run_here(&text, number))
}

fn run_here(text: &str, number: u64) -> Result<Vec<Ran>, Failure> {
    let (module, func) = match common::compile(Path::new("f.c"), text, Some("f")) {
        // A constant subscript outside of its array is refused, where another one ends the run.
        Err(what) if what.starts_with(OUTSIDE) => return Ok(Vec::new()),
        made => made.map_err(|what| failure("refused", what))?,
    };
    if let Some(error) = verify_module(&module).first() {
        return Err(failure("the IR", error.to_string()));
    }
    let interface = module.functions[func].interface.as_ref().expect("what a host calls");
    let mut all = Vec::new();
    let mut ends = Vec::new();
    for (number, _, given) in runs::runs(text) {
        let (scalars, arrays) = runs::given(interface, number, given);
        let array = |array: runs::Array| BoundArray {
            shape: array.extents.iter().map(|&extent| extent.into()).collect(),
            bytes: array.bytes,
        };
        let arguments = Bound { scalars, arrays: arrays.into_iter().map(array).collect() };
        let ended = interpret(&module, func, &arguments);
        // One that never ends says nothing.
        let is_endless = |trap: &interp::Trap| matches!(*trap.kind, TrapKind::StepLimit(_));
        if ended.as_ref().is_err_and(is_endless) {
            continue;
        }
        all.push(Ran { arguments, left: ended.as_ref().ok().cloned(), on_array: false });
        ends.push(ended);
    }
    if all.is_empty() {
        return Ok(all);
    }
    let mut sources = SourceMap::default();
    sources.add(SourceFile::new("f.c", text));
    for variant in variants(number, all.len()) {
        let mut module = module.clone();
        if let Some(run) = variant.fixed {
            let scalars = all[run].arguments.scalars.iter().copied().map(Some);
            specialise(&mut module.functions[func], &scalars.collect::<Vec<_>>());
        }
        let fail = |what: &str, text| failure(format!("{what} {}", variant.name), text);
        let small = Override { key: "shared.kib".into(), value: "1".into() };
        let overrides = if variant.is_small { vec![small] } else { vec![] };
        let choices = variant.choices;
        let build = Build { choices, overrides, ..Build::new("sdpnm", variant.level) };
        let program = Program::Function(module, func);
        let binary = build.compile(&sources, program, &mut vec![]);
        let binary = binary.map_err(|what| fail("compile", what))?;
        for (number, (ran, end)) in all.iter_mut().zip(&ends).enumerate() {
            if variant.fixed.is_some_and(|run| run != number) {
                continue;
            }
            ran.on_array |= compare(&sources, &binary, &ran.arguments, end)
                .map_err(|what| fail("wrong", format!("run {}: {what}", number + 1)))?;
        }
    }
    Ok(all)
}

fn interpret(module: &Module, func: Func, arguments: &Bound) -> Result<Called, interp::Trap> {
    let arrays = arguments.arrays.iter().map(|array| Given {
        extents: array.shape.iter().rev().map(|&extent| extent as u32).collect(),
        bytes: &array.bytes,
    });
    let arrays: Vec<Given<'_>> = arrays.collect();
    let options = interp::Options { step_limit: STEPS, ..interp::Options::default() };
    interp::call(module, func, &arguments.scalars, &arrays, &options)
}

/// Calls the function of a binary: it ends as the interpreter did. Whether an array did something.
fn compare(
    sources: &SourceMap,
    binary: &[u8],
    arguments: &Bound,
    should: &Result<Called, interp::Trap>,
) -> Result<bool, String> {
    let target = registry::BUILT_IN.target("sdpnm").ok_or("there is no target")?;
    let Runner::Function(runner) = &target.runner else { return Err("no functions".into()) };
    let options = RunOptions {
        fast: false,
        max_cycles: Some(MAX_CYCLES),
        trace: false,
        threads: 1,
        progress: &mut |_| {},
    };
    let request = FunctionRequest { arguments, options };
    match (should, (runner.call)(binary, request)) {
        (Ok(should), Ok(is)) => {
            if is.result != should.result {
                return Err(format!("the result is {:x?}, not {:x?}", is.result, should.result));
            }
            for (number, (is, should)) in is.arrays.iter().zip(&should.arrays).enumerate() {
                if let Some(at) = (0..should.len()).find(|&at| is.get(at) != Some(&should[at])) {
                    return Err(format!("byte {at} of array {number} is another"));
                }
            }
            let counts = is.measured.statistics;
            Ok(counts.is_some_and(|counts| counts.count("arrays.starts") > 0))
        }
        (Err(should), Err(RunError::Trap(is, place))) => {
            same_end(sources, should, &is, place).map(|()| false)
        }
        (Err(should), Ok(_)) => Err(format!("no end by {should}")),
        (should, Err(error)) => {
            let should = should.as_ref().err().map(ToString::to_string);
            Err(format!("{error:?}, where the interpreter has {should:?}"))
        }
    }
}

fn same_end(
    sources: &SourceMap,
    should: &interp::Trap,
    is: &Trap,
    place: Option<Place>,
) -> Result<(), String> {
    let same = match (&*should.kind, is) {
        (
            TrapKind::OutOfBounds { mem, subscripts, extents },
            Trap::Outside { name, subscripts: at, extents: of },
        ) => (mem, subscripts, extents) == (name, at, of),
        (TrapKind::Division, Trap::Division) => true,
        (TrapKind::Explicit(should), Trap::Message(is)) => should == is,
        _ => false,
    };
    let line = should.span.map(|span| sources.start_of(span).line);
    let place = place.map(|place| place.line);
    match same && line == place {
        true => Ok(()),
        false => Err(format!("{is:?} in line {place:?}, not {should} in line {line:?}")),
    }
}
