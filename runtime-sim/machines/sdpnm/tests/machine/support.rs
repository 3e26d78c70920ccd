//! Programs for the machine, by hand.

use nbcc_isa::{Code, PhysReg};
use nbcc_isa_sdpnm::Machine;
use nbcc_isa_sdpnm::config::{
    Bit, Context, Control, Memory, Opcode, Options, Package, Placed, Source, Width,
};
use nbcc_isa_sdpnm::core::arrays::{
    BUSY, CONTROL, CONTROL_BYTES, ITERATIONS, START, WINDOW, WINDOW_BYTES,
};
use nbcc_isa_sdpnm::core::memory::DATA;
use nbcc_isa_sdpnm::core::{Area, Class, CoreProgram, Frame, I12, Inst};
use nbcc_sim_sdpnm::{Core, Fault, Options as RunOptions};

pub type CoreInst = Inst<PhysReg<Class>>;

pub fn x(index: u16) -> PhysReg<Class> {
    PhysReg::new(Class::X, index)
}

/// A register gets a word.
pub fn set(register: u16, word: u32) -> [CoreInst; 2] {
    let low = (word << 20) as i32 >> 20;
    let upper = word.wrapping_sub(low as u32) >> 12;
    [
        Inst::Lui { dst: x(register), upper },
        Inst::Addi { dst: x(register), a: x(register), imm: I12(low) },
    ]
}

/// A word is stored at an address.
pub fn store(address: u32, word: u32) -> Vec<CoreInst> {
    let write = Inst::Sw { src: x(6), offset: I12(0), base: x(5) };
    [set(5, address), set(6, word)].concat().into_iter().chain([write]).collect()
}

/// Register x7 gets the word at an address.
pub fn load(address: u32) -> Vec<CoreInst> {
    let read = Inst::Lw { dst: x(7), offset: I12(0), base: x(5) };
    set(5, address).into_iter().chain([read]).collect()
}

pub fn control(array: u32, offset: u32) -> u32 {
    CONTROL + array * CONTROL_BYTES + offset
}

pub fn window(array: u32, offset: u32) -> u32 {
    WINDOW + array * WINDOW_BYTES + offset
}

/// The core sets global registers, starts a package and does not wait.
pub fn start(array: u32, package: u32, iterations: u32, globals: &[u32]) -> Vec<CoreInst> {
    let mut text = Vec::new();
    for (number, word) in globals.iter().enumerate() {
        text.extend(store(control(array, 4 * number as u32), *word));
    }
    text.extend(store(control(array, ITERATIONS), iterations));
    text.extend(store(control(array, START), package));
    text
}

pub fn wait(array: u32) -> Vec<CoreInst> {
    load(control(array, BUSY))
}

/// The result of the call is register x7.
pub fn give_back() -> Vec<CoreInst> {
    [set(5, DATA).as_slice(), &[Inst::Sw { src: x(7), offset: I12(0), base: x(5) }]].concat()
}

pub fn program(packages: Vec<Package>, text: Vec<CoreInst>) -> CoreProgram {
    CoreProgram {
        machine: Machine::built_in("sdpnm"),
        code: Code { text, ..Code::default() },
        data: Vec::new(),
        signature: None,
        frame: Frame { frame: Area { address: DATA, bytes: 64 }, ..Frame::default() },
        traps: Vec::new(),
        packages,
        homes: Vec::new(),
    }
}

/// Checks a program as a loader does, and runs it.
pub fn run(program: &CoreProgram) -> Result<(u64, Core<'_>), Fault> {
    run_for(program, 1 << 30)
}

pub fn run_for(program: &CoreProgram, max_cycles: u64) -> Result<(u64, Core<'_>), Fault> {
    let file = program.to_elf().expect("a program that can be written");
    assert_eq!(&CoreProgram::from_elf(&file).expect("a program"), program);
    let mut core = Core::new(program)?;
    let options = &mut RunOptions { max_cycles, trace_events: None, progress: &mut |_| {} };
    let result = core.run(options)?;
    Ok((result, core))
}

/// Words of the shared memory of an array.
pub fn words(core: &Core<'_>, array: u32, offset: u32, count: u32) -> Vec<u32> {
    let bytes = core.read(window(array, offset), 4 * count).expect("a window");
    bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// A context that does nothing in particular yet.
pub fn context(op: Opcode, in1: Source, in2: Source) -> Context {
    Context {
        op,
        options: Options::default(),
        in1,
        in2,
        in3: Bit::None,
        memory: Memory::default(),
        control: Control::default(),
    }
}

pub fn words_of(offset: i32, stride: i32) -> Memory {
    Memory { width: Width::W32, offset, stride }
}

pub fn placed(pe: u16, slot: u16, stage: u16, mut context: Context) -> Placed {
    context.control.stage = stage;
    Placed { pe, slot, context, line: None }
}

pub fn package(array: u8, ii: u16, rings: Vec<(u16, Vec<u8>)>, contexts: Vec<Placed>) -> Package {
    Package { name: "f:1".into(), array, ii, mii: 1, rings, contexts }
}
