//! A SIMT target of its own, whole: machine, limits, number and name, an optional instruction and a
//! section, a pass that decides something and a list of passes. It takes the rooms as they are, runs
//! kernels as the interpreter does, and neither its programs nor those of another are taken for the
//! other's.

use std::sync::Arc;

use nbcc_base::{Diagnostics, Failed, SourceFile, SourceId, SourceMap};
use nbcc_interp::grid;
use nbcc_ir::{Func, Module, parse_module, verify_module};
use nbcc_isa::{LoadError, machine};
use nbcc_isa_simt::{Inst, Isa, Limits, Machine, Op, PhysReg, Program, asm};
use nbcc_mach::InstData;
use nbcc_pipeline::{
    Artifact, Context, Emit, MachineInfo, NoObserver, OptLevel, PassDesc, PassOptions,
    Program as Source, Request, Target, pass,
};
use nbcc_sim_simt::{self as sim, Device, Launch, RunOptions};
use nbcc_simt::passes::{self, MACHINE};
use nbcc_simt::{Compilation, Simt};
use serde::{Deserialize, Serialize};

/// The machine file: what this machine alone has, and what any has.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    name: String,
    stacks: u32,
    stack_cores: u32,
    core_warps: u32,
    registers: u32,
}

const TOML: &str =
    "name = \"stacked\"\nstacks = 4\nstack_cores = 2\ncore_warps = 16\nregisters = 40\n";

impl Description {
    fn as_simt(&self) -> Machine {
        Machine {
            isa: &STACKED,
            name: self.name.clone(),
            toml: machine::to_toml(self),
            limits: Limits {
                cores: self.stacks * self.stack_cores,
                core_warps: self.core_warps,
                core_blocks: 4,
                block_threads: 32 * self.core_warps,
                registers: self.registers,
                shared_bytes: 4096,
                local_bytes: 1024,
                param_bytes: 256,
                memory_bytes: 1 << 20,
            },
        }
    }
}

/// The opcode of `region`.
const REGION: u8 = 0xe0;
/// Where regions begin, four bytes each: the numbers of instructions.
const SECTION: &str = ".nbcc.regions";

static STACKED: Isa = Isa {
    name: "stacked",
    title: "Stacked",
    number: 0x7f01,
    version: 1,
    optional: &[REGION],
    hints: &[],
    sections: &[SECTION],
    check: regions_begin_at_markers,
    machines: &[("stacked", TOML)],
    read: |text, overrides| {
        let check = |m: &Description| machine::check_range("registers", m.registers, 16, 256);
        Ok(machine::load(text, overrides, check)?.as_simt())
    },
};

fn regions_begin_at_markers(program: &Program) -> Result<(), LoadError> {
    for (name, bytes) in &program.sections {
        for (number, place) in bytes.as_chunks::<4>().0.iter().enumerate() {
            let inst = program.code.text.get(u32::from_le_bytes(*place) as usize);
            if !inst.is_some_and(|inst| matches!(inst.op, Op::Region { .. })) {
                return Err(LoadError::new(name, 4 * number as u64, "no region begins there"));
            }
        }
    }
    Ok(())
}

const MACHINES: [MachineInfo; 1] = MachineInfo::all(STACKED.machines, ["the one that there is"]);

/// What the passes of this target keep: how many regions they marked.
#[derive(Default)]
struct Regions {
    marked: u32,
}

const PASSES: &[PassDesc<Compilation<Regions>>] = &[
    passes::inline(),
    passes::unreachable(),
    passes::objects(),
    passes::fold(),
    passes::clean(),
    passes::select(),
    pass("mark", "mark the beginning of loops", mark, &[MACHINE], &[]),
    passes::allocate(),
    passes::layout(),
    passes::emit(),
    pass("regions", "list where marked regions begin", list, &[], &[]),
];

static TARGET: Simt<Regions> = Simt {
    isa: &STACKED,
    about: "a target for this test",
    machines: &MACHINES,
    choices: &[],
    reports: &[],
    passes: PASSES,
    uses_profiles: false,
    codes: &[],
};

fn mark(state: &mut Compilation<Regions>, _: &mut Context<'_>) -> Result<(), Failed> {
    for selected in state.kernels.iter_mut().filter_map(|kernel| kernel.selected.as_mut()) {
        let mut last = 0;
        for block in selected.func.blocks.values_mut() {
            if block.loop_depth > std::mem::replace(&mut last, block.loop_depth) {
                let marker = Op::Region { number: state.own.marked };
                block.insts.insert(0, InstData::new(marker.into(), None));
                state.own.marked += 1;
            }
        }
    }
    Ok(())
}

fn list(state: &mut Compilation<Regions>, _: &mut Context<'_>) -> Result<(), Failed> {
    let Some(program) = &mut state.program else { return Ok(()) };
    let marked = |(_, inst): &(usize, &Inst<PhysReg>)| matches!(inst.op, Op::Region { .. });
    let places = program.code.text.iter().enumerate().filter(marked);
    let bytes = places.flat_map(|(at, _)| (at as u32).to_le_bytes()).collect();
    program.sections.push((SECTION.into(), bytes));
    Ok(())
}

const SAXPY: &str = "\
object @tile: shared size 256 align 4
define grid @saxpy() {
  kernel
  param %n: u32 size 4 align 4 at 0
  param %a: f32 size 4 align 4 at 4
  param %x: u64 size 8 align 8 at 8
block0:
  v0: i64 = const 0
  v1: i32 = load param [v0]
  v2: f32 = load param [v0 + 4]
  v3: i64 = load param [v0 + 8]
  v4: i32 = simt \"special.tid_x\"()
  v5: i1 = icmp ult v4, v1
  branch v5, block1(v4), block2
block1(v7: i32): loop i
  v8: i64 = zero_extend v7
  v9: i64 = const 4
  v10: i64 = imul v8, v9
  v11: i64 = iadd v3, v10
  v12: f32 = load global [v11]
  v13: f32 = simt \"fma.rn.f32\"(v12, v2, v12)
  store global [v11], v13
  v15: i32 = const 64
  v16: i32 = iadd v7, v15
  v17: i1 = icmp ult v16, v1
  branch v17, block1(v16), block2
block2:
  return
}
";

const N: u32 = 150;
const BLOCK: [u32; 3] = [64, 1, 1];

fn module() -> Module {
    let mut diagnostics = Diagnostics::default();
    let module = parse_module(SourceId(0), SAXPY, &[], &mut diagnostics);
    let module = module.unwrap_or_else(|_| panic!("{diagnostics:?}"));
    assert_eq!(verify_module(&module), []);
    module
}

fn compile(level: OptLevel, emit: Emit) -> Artifact {
    let mut sources = SourceMap::default();
    sources.add(SourceFile::new("saxpy.nbir", SAXPY));
    let mut diagnostics = Diagnostics::default();
    let passes = PassOptions { level, disabled: vec![], verify_each: true };
    let mut cx = Context {
        sources: &sources,
        diagnostics: &mut diagnostics,
        remarks: &mut vec![],
        passes: &passes,
        observer: &mut NoObserver,
    };
    let request = Request { machine: TOML.into(), emit, ..Request::default() };
    let done = TARGET.compile(Source::Grids(module().into()), &request, &mut cx);
    done.unwrap_or_else(|_| panic!("{diagnostics:?}"))
}

fn binary(level: OptLevel) -> Vec<u8> {
    match compile(level, Emit::Binary) {
        Artifact::Binary(bytes) => bytes,
        Artifact::Text(text) => panic!("{text}"),
    }
}

fn input() -> Vec<u8> {
    (0..N).flat_map(|i| (i as f32 / 3.0).to_le_bytes()).collect()
}

fn params(x: u64) -> Vec<u8> {
    [N.to_le_bytes(), 2.5_f32.to_le_bytes()].concat().into_iter().chain(x.to_le_bytes()).collect()
}

fn interpreted() -> Vec<u8> {
    let module = module();
    let mut memory = grid::GridMemory::new(&module).unwrap();
    let x = memory.allocate_with(input());
    let params = params(x);
    let launch = grid::Launch { grid: [1, 1, 1], block: BLOCK, dynamic_shared_bytes: 0, params };
    let limits = grid::Limits::default();
    grid::launch(&module, Func::from_u32(0), &launch, &mut memory, &limits, &mut |_| {}).unwrap();
    memory.bytes(x).to_vec()
}

#[test]
fn it_computes_what_the_interpreter_does() {
    for level in [OptLevel::O0, OptLevel::O1, OptLevel::O2] {
        let program = Program::from_elf(&STACKED, &binary(level)).unwrap();
        let mut device = Device::new(program.machine.clone(), 1 << 20);
        let loaded = device.load(Arc::new(program)).unwrap();
        let x = device.memory().allocate(4 * u64::from(N), false).unwrap();
        device.write(x, &input()).unwrap();
        let params = params(x);
        let launch = Launch {
            kernel: "saxpy",
            grid: [1, 1, 1],
            block: BLOCK,
            dynamic_shared: 0,
            params: &params,
        };
        let options = RunOptions::default();
        let counters = device.launch(&loaded, &launch, &options, &mut Vec::new()).unwrap();
        let mut found = vec![0; 4 * N as usize];
        device.read(x, &mut found).unwrap();
        assert_eq!(found, interpreted(), "{level:?}");
        let statistics = counters.statistics(loaded.program()).to_json();
        assert!(statistics.contains("\"target\": \"stacked\""), "{statistics}");
    }
}

#[test]
fn its_instruction_and_section_are_in_binary_and_assembly() {
    let file = binary(OptLevel::O2);
    let program = Program::from_elf(&STACKED, &file).unwrap();
    let (name, bytes) = &program.sections[0];
    let [at] = bytes.as_chunks::<4>().0 else { panic!("{name} has {bytes:?}") };
    let region = &program.code.text[u32::from_le_bytes(*at) as usize];
    assert_eq!(region.to_string(), "region 0");
    let text = asm::disassemble_elf(&STACKED, &file).unwrap();
    assert!(text.starts_with(".isa stacked 1\n.machine stacked\n"), "{text}");
    assert!(matches!(compile(OptLevel::O2, Emit::Asm), Artifact::Text(found) if found == text));
    assert_eq!(asm::assemble(&STACKED, &text).unwrap(), program);

    let mut damaged = program.clone();
    damaged.sections[0].1 = vec![0; 4];
    assert_eq!(damaged.validate().unwrap_err().message, "no region begins there");
    damaged.sections[0].0 = ".nbcc.other".into();
    assert!(damaged.validate().unwrap_err().message.contains("no such section"));
}

#[test]
fn its_programs_are_not_those_of_another() {
    let file = binary(OptLevel::O2);
    let error = Program::from_elf(&nbcc_isa_mpu::ISA, &file).unwrap_err().to_string();
    assert!(error.contains("instruction set"), "{error}");
    let text = asm::disassemble_elf(&STACKED, &file).unwrap();
    assert!(asm::assemble(&nbcc_isa_mpu::ISA, &text).is_err());

    let program = Program::from_elf(&STACKED, &file).unwrap();
    let mut other = Device::new(nbcc_isa_mpu::ISA.built_in("mpu"), 1 << 20);
    let refused = other.load(Arc::new(program)).unwrap_err();
    assert_eq!(refused, sim::LoadError::Target { compiled: "Stacked", found: "MPU" });

    // Nor is what this one has in a program of the other.
    let error = asm::assemble(&nbcc_isa_mpu::ISA, ".isa mpu 1\n.machine mpu\nregion 0\n");
    assert!(error.unwrap_err()[0].message.contains("MPU has no such instruction"));
    let error = asm::assemble(&STACKED, ".isa stacked 1\n.machine stacked\nnear exit\n");
    assert!(error.unwrap_err()[0].message.contains("Stacked has no such hint"));
}
