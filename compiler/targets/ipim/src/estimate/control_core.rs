//! The control core and what it issues to, as far as they decide when instructions issue
//! (docs/machine-ipim.md): registers, scratchpads, the queue of issued instructions, TSVs, the vault's
//! port to the network. In order, one instruction at a time.

use cranelift_entity::SecondaryMap;
use nbcc_isa::{Instruction, RegisterClass};
use nbcc_isa_ipim::{Inst, Machine, Memory, RegClass, Route};
use nbcc_mach::rename::Timing;
use nbcc_mach::{InstData, VReg};

use super::banks::Banks;
use crate::backend::reorder::{retires, scratchpad_waits, touches};
use crate::backend::times::Times;

/// When an instruction retires.
#[derive(Clone, Copy, Debug)]
enum Until {
    /// In that cycle.
    Cycle(u64),
    /// When that access to the banks is done.
    Access(usize),
}

/// The instructions of a kind that access scratchpads: one of them, and when the last ones retire.
type Accesses = (Inst<VReg>, Vec<Until>);

/// A control core while it issues.
pub struct Core<'a> {
    machine: &'a Machine,
    /// The first cycle in which the next instruction can issue.
    clock: u64,
    /// When the registers of each file are written, and read, by number.
    written: Vec<Vec<Until>>,
    read: Vec<Vec<Until>>,
    /// When the instructions in the queue retire.
    queue: Vec<Until>,
    scratchpads: Vec<Accesses>,
    banks: Banks<'a>,
    /// When the TSVs have no more transfer to make.
    transfers: u64,
    /// When the next request can go.
    network: u64,
}

impl<'a> Core<'a> {
    /// A core that has issued nothing.
    pub fn new(machine: &'a Machine) -> Core<'a> {
        let files = vec![vec![]; RegClass::ALL.len()];
        Core {
            machine,
            clock: 0,
            written: files.clone(),
            read: files,
            queue: vec![],
            scratchpads: vec![],
            banks: Banks::new(machine),
            transfers: 0,
            network: 0,
        }
    }

    /// The first cycle in which the next instruction can issue.
    pub fn clock(&self) -> u64 {
        self.clock
    }

    /// A jump was taken.
    pub fn jump(&mut self) {
        self.clock += u64::from(self.machine.control.branch_penalty);
    }

    /// The cycle in which all that was issued has retired.
    pub fn end(&mut self) -> u64 {
        let all = std::mem::take(&mut self.queue);
        let last = all.into_iter().map(|until| self.cycle(until)).max();
        last.unwrap_or(0).max(self.clock)
    }

    fn cycle(&mut self, until: Until) -> u64 {
        match until {
            Until::Cycle(cycle) => cycle,
            Until::Access(number) => self.banks.done(number),
        }
    }

    /// Issues an instruction whose registers have those entries.
    pub fn issue(&mut self, data: &InstData<Inst<VReg>>, entries: &SecondaryMap<VReg, u16>) {
        let inst = &data.inst;
        let mut registers = Vec::with_capacity(6);
        inst.for_each_operand(|operand| {
            let entry = usize::from(entries[*operand.reg]);
            registers.push((file(operand.class), entry, operand.role));
        });
        let mut waits: Vec<Until> = Vec::with_capacity(8);
        for &(file, entry, role) in &registers {
            waits.extend(self.written[file].get(entry));
            if role.writes() {
                waits.extend(self.read[file].get(entry));
            }
        }
        let memories = [Memory::Pgsm, Memory::Vsm];
        let accesses = memories.map(|memory| touches(inst, memory));
        for (earlier, until) in &self.scratchpads {
            let behind = memories.into_iter().zip(accesses).any(|(memory, now)| {
                now && touches(earlier, memory)
                    && scratchpad_waits(earlier, inst, memory, self.machine)
            });
            if behind {
                waits.extend(until);
            }
        }
        if matches!(inst, Inst::Sync { .. }) {
            waits.extend(&self.queue);
        }
        let mut at = self.clock;
        for until in waits {
            at = at.max(self.cycle(until));
        }
        at = self.place(at);
        // Instructions and transfers take turns on the TSVs.
        if inst.simb_mask().is_some() && self.transfers > at {
            at += 1;
            self.transfers += 1;
        }
        let until = self.retires(data, at);
        self.queue.push(until);
        for &(file, entry, role) in &registers {
            if role.writes() {
                set(&mut self.written[file], entry, until);
            }
            if role.reads() {
                set(&mut self.read[file], entry, until);
            }
        }
        if accesses != [false; 2] {
            self.remember(inst, until, at);
        }
        self.clock = at + 1;
    }

    /// The first cycle from `at` on in which the queue has a place.
    fn place(&mut self, mut at: u64) -> u64 {
        if self.queue.len() < self.machine.control.instruction_queue as usize {
            return at;
        }
        let banks = &mut self.banks;
        self.queue.retain(|until| match *until {
            Until::Cycle(cycle) => cycle > at,
            Until::Access(number) => banks.done_by(number, at).is_none_or(|cycle| cycle > at),
        });
        if self.queue.len() >= self.machine.control.instruction_queue as usize {
            let first = self.queue.iter().map(|until| match *until {
                Until::Cycle(cycle) => cycle,
                Until::Access(number) => banks.done(number),
            });
            at = at.max(first.min().unwrap_or(at));
        }
        at
    }

    /// Keeps when an instruction retires that accesses scratchpads.
    fn remember(&mut self, inst: &Inst<VReg>, until: Until, at: u64) {
        let known = |(kind, _): &Accesses| kind.opcode() == inst.opcode();
        let place = self.scratchpads.iter().position(known).unwrap_or_else(|| {
            self.scratchpads.push((*inst, vec![]));
            self.scratchpads.len() - 1
        });
        let banks = &mut self.banks;
        let last = &mut self.scratchpads[place].1;
        last.retain(|until| match *until {
            Until::Cycle(cycle) => cycle > at,
            Until::Access(number) => banks.done_by(number, at).is_none_or(|cycle| cycle > at),
        });
        last.push(until);
    }

    /// When an instruction that issues at `at` retires.
    fn retires(&mut self, data: &InstData<Inst<VReg>>, at: u64) -> Until {
        let machine = self.machine;
        let inst = &data.inst;
        let times = Times(machine);
        let served = times.served(inst).map_or(0, |(_, cycles)| u64::from(cycles));
        Until::Cycle(match Route::of(inst, machine) {
            Route::Fixed { latency } => at + u64::from(latency),
            Route::Bank { write, before, after } => {
                let arrives = at + u64::from(before);
                return Until::Access(self.banks.request(data, arrives, served, write, after));
            }
            Route::Vsm { slots, before, after } => {
                let ready = at + u64::from(before);
                self.transfers = self.transfers.max(ready) + u64::from(slots);
                self.transfers + u64::from(after)
            }
            Route::Fetch => {
                // Packets of a header and an atom hold the port, that to the other vault and that
                // for what the other vault asks.
                let network = &machine.network;
                let bytes = network.packet_header + machine.memory.atom_bytes;
                let start = self.network.max(at);
                self.network = start + 2 * u64::from(bytes.div_ceil(network.noc_bytes));
                self.transfers = self.transfers.max(start) + 1;
                start + u64::from(retires(inst, machine) + times.way())
            }
            Route::Sync => at + u64::from(retires(inst, machine)),
        })
    }
}

fn file(class: RegClass) -> usize {
    RegClass::ALL.iter().position(|&other| other == class).unwrap_or(0)
}

fn set(times: &mut Vec<Until>, entry: usize, until: Until) {
    if times.len() <= entry {
        times.resize(entry + 1, Until::Cycle(0));
    }
    times[entry] = until;
}
