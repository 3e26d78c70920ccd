//! The files of tests/passes/ipim: a first line `; run: PASS [OPTIONS]`, functions, a line
//! `; expect:`, and the functions after that pass. Each function is a kernel; before the named pass
//! run those of the backend that it needs, without the transforms between them.
//!
//! | pass | what is shown |
//! | --- | --- |
//! | `addresses` | IR without memory objects; they lie behind each other in their memories |
//! | `legalize` | IR of operations that there are instructions for |
//! | `reuse` | IR in which what is known of memory is not read again |
//! | `sink` | IR that computes behind the fill of windows what it can |
//! | `fuse` | IR of products and sums in one operation |
//! | `increments` | IR whose addresses are made of each other |
//! | `place` | IR with the register files of each value |
//! | `select` | instructions over virtual registers, and registers that can be rematerialised |
//! | `split` | the same once live ranges are split |
//! | `rename` | what `allocate` shows, with registers that have rested |
//! | `allocate` | instructions with their registers, and what that cost |
//! | `emit` | the assembly of the program that runs the kernels one after another |
//!
//! Options are `ctrl=N`, `addr=N` and `data=N` (the entries of the register files), `min` (the lowest
//! register instead of the next one), and `called` (kernels get the addresses of their bank objects
//! as arguments, and are called twice). With `NBCC_BLESS=1` the expected parts are written anew.

use std::fmt::Write;
use std::path::Path;

use cranelift_entity::SecondaryMap;
use nbcc_base::{Diagnostics, SourceFile, SourceMap};
use nbcc_ir::{Function, Mem, PrintOptions, parse_module, print_function, verify_function};
use nbcc_isa_ipim::{Machine, asm};
use nbcc_mach::regalloc::Policy;
use nbcc_target_ipim::backend::code::{LiteralPool, Selected};
use nbcc_target_ipim::backend::{emit, provenance, regalloc, select, split};
use nbcc_target_ipim::intrinsics::{self, BANK};
use nbcc_target_ipim::kernel::{Kernel, KernelCall, calls_in_order};
use nbcc_target_ipim::memory::{self, BANK_RESERVED};
use nbcc_target_ipim::passes::{
    addresses, forward, fuse, increments, legalize, place, preload, reuse, sink,
};
use nbcc_testing::check_results;

/// The engines that run the kernels.
const MASK: u32 = 0xffff_ffff;

/// Numbers of virtual registers begin here where they are shown, above those of fixed ones.
const VIRTUAL: u16 = 100;

#[test]
fn files_give_what_they_expect() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/passes/ipim");
    check_results(&folder, "nbir", result);
}

/// How a file is compiled.
struct Options {
    /// The machine.
    machine: Machine,
    /// How registers are chosen.
    policy: Policy,
    /// Whether kernels are called.
    called: bool,
}

impl Options {
    /// Reads the words behind the pass.
    fn read<'a>(words: impl Iterator<Item = &'a str>) -> Options {
        let machine = Machine::built_in("ipim-vault");
        let mut options = Options { machine, policy: Policy::Spread, called: false };
        for word in words {
            let registers = &mut options.machine.registers;
            match (word, word.split_once('=')) {
                ("min", _) => options.policy = Policy::Min,
                ("called", _) => options.called = true,
                (_, Some(("ctrl", n))) => registers.ctrl = n.parse().expect("a number"),
                (_, Some(("addr", n))) => registers.addr = n.parse().expect("a number"),
                (_, Some(("data", n))) => registers.data = n.parse().expect("a number"),
                _ => panic!("there is no option {word}"),
            }
        }
        options
    }
}

fn result(input: &str) -> String {
    let command = input.lines().next().and_then(|line| line.strip_prefix("; run: "));
    let mut words = command.expect("a line `; run:`").split(' ');
    let pass = words.next().expect("a pass");
    let options = Options::read(words);
    let mut sources = SourceMap::default();
    let source = sources.add(SourceFile::new("test.nbir", input));
    let mut diagnostics = Diagnostics::default();
    let module = parse_module(source, input, intrinsics::ALL, &mut diagnostics);
    let module = module.unwrap_or_else(|_| panic!("{diagnostics:?}\n{input}"));
    let mut kernels: Vec<Kernel> =
        module.functions.into_iter().map(|(_, func)| kernel(func, &options)).collect();
    let printed = |func: &Function| print_function(func, &PrintOptions::default());
    let verified = |kernel: &Kernel| assert_eq!(verify_function(&kernel.func, None), [], "{pass}");
    kernels.iter().for_each(verified);
    for kernel in &mut kernels {
        addresses::run(kernel, &[], &options.machine, &[], true);
        verified(kernel);
    }
    if pass == "addresses" {
        return kernels.iter().map(|kernel| printed(&kernel.func)).collect();
    }
    for kernel in &mut kernels {
        legalize::run(&mut kernel.func, &legalize::Features::default());
        verified(kernel);
    }
    if pass == "legalize" {
        return kernels.iter().map(|kernel| printed(&kernel.func)).collect();
    }
    if ["reuse", "forward", "sink", "preload", "fuse", "increments"].contains(&pass) {
        for kernel in &mut kernels {
            (kernel.objects, kernel.neighbours) = provenance::objects(kernel, &[]);
            nbcc_opt::cse::run(&mut kernel.func);
            match pass {
                "reuse" => reuse::run(kernel),
                "forward" => forward::run(kernel),
                "sink" => _ = sink::run(kernel, options.machine.registers.data as usize),
                "preload" => _ = preload::run(kernel, &[], &options.machine),
                "fuse" => fuse::run(&mut kernel.func),
                _ => increments::run(&mut kernel.func),
            }
            nbcc_opt::dce::run(&mut kernel.func);
            verified(kernel);
        }
        return kernels.iter().map(|kernel| printed(&kernel.func)).collect();
    }
    let places: Vec<place::Places> = kernels.iter().map(|k| place::place(&k.func)).collect();
    for (kernel, places) in kernels.iter().zip(&places) {
        assert_eq!(place::verify(&kernel.func, places), Ok(()));
    }
    if pass == "place" {
        let text = |(kernel, places): (&Kernel, &place::Places)| {
            let place = places.annotation();
            let annotations: [nbcc_ir::Annotation<'_>; 1] = [&place];
            let options = PrintOptions { annotations: &annotations, ..Default::default() };
            print_function(&kernel.func, &options)
        };
        return kernels.iter().zip(&places).map(text).collect();
    }
    let mut pool = LiteralPool::default();
    let mut selected: Vec<Selected> = kernels
        .iter()
        .zip(places)
        .map(|(kernel, places)| select::select(kernel, places, &mut pool))
        .collect();
    if pass == "select" {
        return selected.iter().map(shown).collect();
    }
    if pass == "split" {
        for kernel in &mut selected {
            let before = kernel.func.clone();
            let done = split::run(kernel, &options.machine);
            assert_eq!(split::check(&before, kernel, &done), Ok(()), "{input}");
        }
        return selected.iter().map(shown).collect();
    }
    let mut out = String::new();
    let mut ready = Vec::new();
    for kernel in &mut selected {
        let before = kernel.func.clone();
        let done = regalloc::allocate(kernel, &options.machine, options.policy, memory::slots(0));
        match done {
            Ok(mut done) => {
                if pass == "rename" {
                    regalloc::rename(kernel, &options.machine, &mut done);
                }
                let checked =
                    regalloc::check(&before, kernel, &done, &options.machine, memory::slots(0));
                assert_eq!(checked, Ok(()), "{input}");
                out.push_str(&kernel.func.text(|v| done.entries[v]));
                let _ = writeln!(
                    out,
                    "; @{}: {} in the bank, {} rematerialised, {} copies gone",
                    kernel.func.name, done.spilled, done.rematerialised, done.coalesced
                );
                ready.push((&*kernel, done));
            }
            Err(none) => {
                let _ = writeln!(out, "; @{}: {none:?}", kernel.func.name);
            }
        }
    }
    if ["allocate", "rename"].contains(&pass) {
        return out;
    }
    assert_eq!(pass, "emit", "there is no such pass");
    let data = emit::Data { buffers: vec![], params: vec![] };
    let calls = calls(&kernels, &options);
    let ready: Vec<_> = ready.iter().map(|(kernel, done)| (*kernel, &done.entries)).collect();
    let program = emit::emit(&ready, &calls, &mut pool, data, &options.machine, &sources);
    asm::disassemble(&program).expect("a valid program")
}

/// A kernel of a function whose memory objects lie one behind the other.
fn kernel(func: Function, options: &Options) -> Kernel {
    let mut mem_base: SecondaryMap<Mem, u32> = SecondaryMap::new();
    let mut ends = [(BANK, BANK_RESERVED), (intrinsics::PGSM, 0), (intrinsics::VSM, 0)];
    let mut args = Vec::new();
    for (mem, data) in &func.mems {
        let end = ends.iter_mut().find(|(space, _)| *space == data.space);
        let (space, end) = end.unwrap_or_else(|| panic!("{} is in no memory", data.name));
        mem_base[mem] = *end;
        *end += 4 * data
            .fixed_extents()
            .expect("fixed extents")
            .iter()
            .product::<u32>()
            .next_multiple_of(4);
        if *space == BANK {
            args.push(mem);
        }
    }
    Kernel {
        func,
        mem_base,
        mask: MASK,
        sync: None,
        args: options.called.then_some(args),
        step: 0,
        place: None,
        scratch: vec![],
        beside: SecondaryMap::new(),
        objects: SecondaryMap::new(),
        neighbours: SecondaryMap::new(),
    }
}

/// The kernels in order; where they are called, twice, the second time with objects elsewhere.
fn calls(kernels: &[Kernel], options: &Options) -> Vec<KernelCall> {
    let calls = calls_in_order(kernels);
    if !options.called {
        return calls;
    }
    let call = |call: &KernelCall, offset: u32| {
        let kernel = &kernels[call.kernel];
        let bases = kernel.args.iter().flatten().map(|&mem| kernel.mem_base[mem] + offset);
        let name = format!("{}_at_{offset}", call.name);
        KernelCall { name, bases: bases.collect(), ..call.clone() }
    };
    [0, 1 << 12].iter().flat_map(|&offset| calls.iter().map(move |t| call(t, offset))).collect()
}

/// The instructions of a kernel, and what is known of its registers.
fn shown(kernel: &Selected) -> String {
    let mut out = kernel.func.text(|v| VIRTUAL + v.as_u32() as u16);
    for (vreg, recipe) in &kernel.recipes {
        let _ = writeln!(out, "; {} is {recipe:?}", VIRTUAL + vreg.as_u32() as u16);
    }
    out
}
