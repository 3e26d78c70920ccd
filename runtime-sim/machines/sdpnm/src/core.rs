//! The core: what each instruction does (the RISC-V manual, chapters 2 and 7), and how long it takes.

use nbcc_isa::{Imm, Instruction};
use nbcc_isa_sdpnm::core::arrays::{CONTROL_BYTES, HOST};
use nbcc_isa_sdpnm::core::memory::{BIAS, argument_offsets};
use nbcc_isa_sdpnm::core::program::{FRAME_POINTER, REGISTERS, RETURN};
use nbcc_isa_sdpnm::core::traps::TrapExtent;
use nbcc_isa_sdpnm::core::{CoreProgram, Inst, Latency, PhysReg, TrapKind};
use nbcc_sim_engine::{Lane, Progress, Trace};

use crate::arrays::{self, Arrays, NotStored, Started};
use crate::host::Host;
use crate::measures::{Measures, cycles};
use crate::memory::Memory;
use crate::{Fault, Stopped};

/// Bytes of an instruction.
const BYTES: u32 = 4;

/// Instructions between two signs of life.
const SIGN: u64 = 1 << 22;

/// How a program is run.
pub struct Options<'a> {
    /// The run ends after so many cycles.
    pub max_cycles: u64,
    /// Keep a timeline of so many events.
    pub trace_events: Option<usize>,
    /// Called now and then.
    pub progress: &'a mut dyn FnMut(Progress),
}

/// The core with its memory.
pub struct Core<'a> {
    pub(crate) program: &'a CoreProgram,
    pub(crate) memory: Memory,
    registers: [u32; REGISTERS as usize],
    /// The arrays that it starts.
    pub arrays: Arrays,
    /// What moves bytes for it.
    pub host: Host,
    /// The cycle in which the next instruction begins.
    pub(crate) now: u64,
    max_cycles: u64,
    /// The lane of each array in the timeline, and behind them that of the host controller.
    pub(crate) lanes: Vec<Lane>,
    /// What was measured so far.
    pub measures: Measures,
    /// The timeline, if one is kept.
    pub trace: Option<Trace>,
}

impl<'a> Core<'a> {
    /// A core before a call.
    ///
    /// # Errors
    /// There is no room for what the program keeps.
    pub fn new(program: &'a CoreProgram) -> Result<Core<'a>, Fault> {
        let memory = Memory::new(program)?;
        let mut arrays = Arrays::new(program);
        arrays.place_objects(program, |address, bytes| memory.get(address, bytes));
        Ok(Core {
            program,
            memory,
            registers: [0; REGISTERS as usize],
            arrays,
            host: Host::new(&program.machine)?,
            now: 0,
            max_cycles: 0,
            lanes: Vec::new(),
            measures: Measures::new(program.code.text.len()),
            trace: None,
        })
    }

    /// Brings the bytes of an array parameter to its homes and to the memory; the address of the first.
    ///
    /// # Errors
    /// There is no room.
    pub fn place(&mut self, parameter: u32, bytes: &[u8]) -> Result<u32, Fault> {
        match self.arrays.place_parameter(self.program, parameter, bytes) {
            Some(address) => Ok(address),
            None => self.memory.place(self.program, bytes),
        }
    }

    /// What memory or a window holds from an address on; nothing where there is none.
    pub fn read(&self, address: u32, bytes: u32) -> Option<&[u8]> {
        match self.arrays.window(address, bytes) {
            None => self.memory.get(address, bytes),
            some => some,
        }
    }

    /// Notes that the loader fetches what a parameter held that lies at an address.
    pub fn fetch(&mut self, address: u32, bytes: u32) {
        if self.arrays.window(address, bytes).is_some() {
            self.arrays.count_staged(self.program, bytes);
        }
    }

    /// Writes the words of an argument to the frame.
    ///
    /// # Panics
    /// The program has no such parameter, or it has fewer words.
    pub fn set_argument(&mut self, number: usize, words: &[u32]) {
        let signature = self.program.signature.as_ref().expect("a program with a signature");
        let at = argument_offsets(signature).0[number] + self.program.frame.frame.address;
        for (word, value) in words.iter().enumerate() {
            let done = self.memory.set_word(at + 4 * word as u32, *value);
            done.expect("a frame with room for its arguments");
        }
    }

    /// Runs the program to its end; the bits of its result.
    ///
    /// # Errors
    /// What ended it early.
    pub fn run(&mut self, options: &mut Options<'_>) -> Result<u64, Fault> {
        let text = &self.program.code.text;
        let machine = &self.program.machine;
        let frame = self.program.frame.frame;
        let cost: Vec<u64> = text.iter().map(|inst| cycles(machine, inst.latency())).collect();
        let taken = cycles(machine, Latency::Jump) - 1;
        self.trace = options.trace_events.map(Trace::new);
        let lane = self.trace.as_mut().map(|trace| trace.lane("core", "instructions"));
        if let Some(trace) = &mut self.trace {
            let arrays = 0..machine.arrays.kinds.len();
            let names = arrays.map(|array| machine.array_name(array));
            self.lanes = names.map(|name| trace.lane("arrays", &name)).collect();
            self.lanes.push(trace.lane("memory", "moves"));
        }
        (self.now, self.max_cycles) = (0, options.max_cycles);
        self.registers = [0; REGISTERS as usize];
        self.registers[usize::from(RETURN)] = text.len() as u32 * BYTES;
        self.registers[usize::from(FRAME_POINTER)] = frame.address.wrapping_add(BIAS);
        let (mut at, mut count) = (0_usize, 0_u64);
        let ended = loop {
            // One place behind the last instruction a call leads back.
            let Some(inst) = text.get(at) else { break Ok(()) };
            if self.now > options.max_cycles {
                break Err(Fault::Cycles { limit: options.max_cycles, at: at as u32 });
            }
            count += 1;
            if count.is_multiple_of(SIGN) {
                let progress = Progress { cycles: self.now, instructions: count, blocks: None };
                (options.progress)(progress);
            }
            self.measures.issued[at] += 1;
            let start = self.now;
            self.now += cost[at];
            let next = match self.step(inst, at) {
                Ok(next) => next,
                Err(fault) => break Err(fault),
            };
            if matches!(inst.latency(), Latency::Branch) && next != at + 1 {
                self.measures.taken[at] += 1;
                self.now += taken;
            }
            if let (Some(trace), Some(lane)) = (&mut self.trace, lane) {
                let address = at as u64 * u64::from(BYTES);
                trace.push(lane, inst.mnemonic(), start, self.now - start, address);
            }
            at = next;
        };
        // What arrays still do belongs to the call.
        let idle = self.arrays.idle_at();
        self.measures.drained = idle.saturating_sub(self.now);
        self.measures.cycles = self.now.max(idle);
        ended?;
        if self.measures.cycles > options.max_cycles {
            return Err(Fault::Cycles { limit: options.max_cycles, at: at as u32 });
        }
        let word = |at: u32| self.memory.word(at).unwrap_or(0);
        Ok(u64::from(word(frame.address)) | u64::from(word(frame.address.wrapping_add(4))) << 32)
    }

    /// Does one instruction; the index of the next.
    #[inline(always)]
    fn step(&mut self, inst: &Inst<PhysReg>, at: usize) -> Result<usize, Fault> {
        let next = at + 1;
        let of = |register: PhysReg| self.registers[usize::from(register.index & 31)];
        let signed = |register: PhysReg| of(register) as i32;
        let wide = |register: PhysReg| i64::from(of(register) as i32);
        let address = |base: PhysReg, offset: i32| of(base).wrapping_add(offset as u32);
        let branch = |condition: bool, to: Imm| if condition { leads_to(at, to) } else { next };
        let (dst, value) = match *inst {
            Inst::Lui { dst, upper } => (dst, upper << 12),
            Inst::Auipc { dst, upper } => (dst, (at as u32 * BYTES).wrapping_add(upper << 12)),
            Inst::Addi { dst, a, imm } => (dst, of(a).wrapping_add(imm.0 as u32)),
            Inst::Slti { dst, a, imm } => (dst, u32::from(signed(a) < imm.0)),
            Inst::Sltiu { dst, a, imm } => (dst, u32::from(of(a) < imm.0 as u32)),
            Inst::Xori { dst, a, imm } => (dst, of(a) ^ imm.0 as u32),
            Inst::Ori { dst, a, imm } => (dst, of(a) | imm.0 as u32),
            Inst::Andi { dst, a, imm } => (dst, of(a) & imm.0 as u32),
            Inst::Slli { dst, a, amount } => (dst, of(a).wrapping_shl(amount)),
            Inst::Srli { dst, a, amount } => (dst, of(a).wrapping_shr(amount)),
            Inst::Srai { dst, a, amount } => (dst, signed(a).wrapping_shr(amount) as u32),
            Inst::Add { dst, a, b } => (dst, of(a).wrapping_add(of(b))),
            Inst::Sub { dst, a, b } => (dst, of(a).wrapping_sub(of(b))),
            // Amounts are taken modulo 32, as by these functions.
            Inst::Sll { dst, a, b } => (dst, of(a).wrapping_shl(of(b))),
            Inst::Srl { dst, a, b } => (dst, of(a).wrapping_shr(of(b))),
            Inst::Sra { dst, a, b } => (dst, signed(a).wrapping_shr(of(b)) as u32),
            Inst::Slt { dst, a, b } => (dst, u32::from(signed(a) < signed(b))),
            Inst::Sltu { dst, a, b } => (dst, u32::from(of(a) < of(b))),
            Inst::Xor { dst, a, b } => (dst, of(a) ^ of(b)),
            Inst::Or { dst, a, b } => (dst, of(a) | of(b)),
            Inst::And { dst, a, b } => (dst, of(a) & of(b)),
            Inst::Mul { dst, a, b } => (dst, of(a).wrapping_mul(of(b))),
            Inst::Mulh { dst, a, b } => (dst, ((wide(a) * wide(b)) >> 32) as u32),
            Inst::Mulhsu { dst, a, b } => (dst, ((wide(a) * i64::from(of(b))) >> 32) as u32),
            Inst::Mulhu { dst, a, b } => {
                (dst, ((u64::from(of(a)) * u64::from(of(b))) >> 32) as u32)
            }
            Inst::Div { dst, a, b } => match signed(b) {
                0 => (dst, u32::MAX),
                divisor => (dst, signed(a).wrapping_div(divisor) as u32),
            },
            Inst::Divu { dst, a, b } => (dst, of(a).checked_div(of(b)).unwrap_or(u32::MAX)),
            Inst::Rem { dst, a, b } => match signed(b) {
                0 => (dst, of(a)),
                divisor => (dst, signed(a).wrapping_rem(divisor) as u32),
            },
            Inst::Remu { dst, a, b } => (dst, of(a).checked_rem(of(b)).unwrap_or(of(a))),
            Inst::Lb { dst, offset, base } => {
                let from = address(base, offset.0);
                let [byte] = self.load(at, from)?;
                (dst, byte as i8 as u32)
            }
            Inst::Lbu { dst, offset, base } => {
                let from = address(base, offset.0);
                let [byte] = self.load(at, from)?;
                (dst, byte.into())
            }
            Inst::Lh { dst, offset, base } => {
                let from = address(base, offset.0);
                let bytes = self.load(at, from)?;
                (dst, i16::from_le_bytes(bytes) as u32)
            }
            Inst::Lhu { dst, offset, base } => {
                let from = address(base, offset.0);
                let bytes = self.load(at, from)?;
                (dst, u16::from_le_bytes(bytes).into())
            }
            Inst::Lw { dst, offset, base } => {
                let from = address(base, offset.0);
                let bytes = self.load(at, from)?;
                (dst, u32::from_le_bytes(bytes))
            }
            Inst::Sb { src, offset, base } => {
                let to = address(base, offset.0);
                self.store(at, to, (of(src) as u8).to_le_bytes())?;
                return Ok(next);
            }
            Inst::Sh { src, offset, base } => {
                let to = address(base, offset.0);
                self.store(at, to, (of(src) as u16).to_le_bytes())?;
                return Ok(next);
            }
            Inst::Sw { src, offset, base } => {
                let (to, word) = (address(base, offset.0), of(src));
                self.store(at, to, word.to_le_bytes())?;
                return Ok(next);
            }
            Inst::Beq { a, b, to } => return Ok(branch(of(a) == of(b), to)),
            Inst::Bne { a, b, to } => return Ok(branch(of(a) != of(b), to)),
            Inst::Blt { a, b, to } => return Ok(branch(signed(a) < signed(b), to)),
            Inst::Bge { a, b, to } => return Ok(branch(signed(a) >= signed(b), to)),
            Inst::Bltu { a, b, to } => return Ok(branch(of(a) < of(b), to)),
            Inst::Bgeu { a, b, to } => return Ok(branch(of(a) >= of(b), to)),
            Inst::Jal { dst, to } => {
                self.set(dst, next as u32 * BYTES);
                return Ok(leads_to(at, to));
            }
            Inst::Jalr { dst, offset, base } => {
                let target = address(base, offset.0) & !1;
                self.set(dst, next as u32 * BYTES);
                let inside = target as usize <= self.program.code.text.len() * BYTES as usize;
                if !inside || !target.is_multiple_of(BYTES) {
                    return Err(Fault::Jump { at: at as u32, address: target });
                }
                return Ok((target / BYTES) as usize);
            }
            Inst::Fence {} => return Ok(next),
            Inst::Ecall {} => return Err(self.trap(at as u32)),
            Inst::Ebreak {} => return Err(Fault::Environment { at: at as u32 }),
        };
        self.set(dst, value);
        Ok(next)
    }

    #[inline(always)]
    fn load<const N: usize>(&mut self, at: usize, from: u32) -> Result<[u8; N], Fault> {
        match self.memory.load(from) {
            Some(bytes) => Ok(bytes),
            None => self.load_of_array(at, from),
        }
    }

    #[inline(always)]
    fn store<const N: usize>(&mut self, at: usize, to: u32, bytes: [u8; N]) -> Result<(), Fault> {
        match self.memory.store(to, bytes) {
            Some(()) => Ok(()),
            None => self.store_to_array(at, to, bytes),
        }
    }

    #[cold]
    fn load_of_array<const N: usize>(&mut self, at: usize, from: u32) -> Result<[u8; N], Fault> {
        let before = self.now;
        let bytes = self.arrays.load(from, &mut self.now);
        self.measures.waited[at] += self.now - before;
        bytes.ok_or(Fault::Access { at: at as u32, address: from, bytes: N as u32 })
    }

    #[cold]
    fn store_to_array<const N: usize>(
        &mut self,
        at: usize,
        to: u32,
        bytes: [u8; N],
    ) -> Result<(), Fault> {
        let (before, limit) = (self.now, self.max_cycles);
        if let Some(offset) = to.checked_sub(HOST).filter(|&offset| offset < CONTROL_BYTES) {
            let done = self.ask_host(offset, &bytes);
            self.measures.waited[at] += self.now - before;
            return done.ok_or(Fault::Access { at: at as u32, address: to, bytes: N as u32 });
        }
        let started = self.arrays.store(self.program, to, bytes, &mut self.now, limit);
        self.measures.waited[at] += self.now - before;
        match started {
            Ok(None) => {}
            Ok(Some(started)) => self.trace_loop(started),
            Err(NotStored::Nowhere) => {
                return Err(Fault::Access { at: at as u32, address: to, bytes: N as u32 });
            }
            Err(NotStored::GivenUp(early)) => {
                let mut word = [0; 4];
                word[..N.min(4)].copy_from_slice(&bytes[..N.min(4)]);
                let number = u32::from_le_bytes(word);
                return Err(arrays::fault(self.program, early, at as u32, number, limit));
            }
        }
        Ok(())
    }

    /// Puts a loop into the timeline.
    fn trace_loop(&mut self, started: Started) {
        let Started { array, package, at, configuration, cycles } = started;
        if let (Some(trace), Some(&lane)) = (&mut self.trace, self.lanes.get(array)) {
            trace.push(lane, "configure", at, configuration, package.into());
            trace.push(lane, "loop", at + configuration, cycles, package.into());
        }
    }

    #[inline(always)]
    fn set(&mut self, register: PhysReg, value: u32) {
        self.registers[usize::from(register.index & 31)] = value;
        self.registers[0] = 0;
    }

    /// What a call of the environment says.
    fn trap(&self, at: u32) -> Fault {
        let Some(trap) = self.program.trap_at(at) else { return Fault::Environment { at } };
        let frame = self.program.frame.frame.address;
        let word = |offset: u32| self.memory.word(frame.wrapping_add(offset)).unwrap_or(0);
        let what = match &trap.kind {
            TrapKind::Message(message) => Stopped::Message(message.clone()),
            TrapKind::Division => Stopped::Division,
            TrapKind::Outside { name, subscripts, extents } => Stopped::Outside {
                name: name.clone(),
                subscripts: subscripts.iter().map(|&at| i64::from(word(at) as i32)).collect(),
                extents: extents
                    .iter()
                    .map(|extent| match *extent {
                        TrapExtent::Known(count) => count,
                        TrapExtent::At(at) => word(at),
                    })
                    .collect(),
            },
        };
        Fault::Trap { at, what }
    }
}

/// The index of the instruction that a branch leads to; the program is checked.
#[inline(always)]
fn leads_to(at: usize, to: Imm) -> usize {
    match to {
        Imm::Value(distance) => at.wrapping_add_signed(distance as isize / BYTES as isize),
        Imm::Label(_) => usize::MAX,
    }
}
