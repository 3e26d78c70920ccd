//! What the instructions prove of a table: that a warp which runs a range elsewhere, with the
//! registers that the entry names and no others, does what the kernel does (section 3.1.4), and that the
//! entry says what follows from the range, no more and no less. It is found from the binary alone, by no
//! code of the compiler. What an entry costs is counted in [`super::sums`] with the [`Checker`] of its
//! kernel, so that both name each other.

use nbcc_isa::{Instruction, LoadError};
use nbcc_isa_simt::operands::{Order, Space};
use nbcc_isa_simt::{Category, Inst, Op, PhysReg, Program, RegClass};

use super::code::KernelCode;
use super::constants::{Held, constant, predecessors};
use super::live::{Registers, needed};
use super::record::{self, SECTION};
use super::webs::Webs;
use super::{Condition, Entry, OffloadTable, RegisterSet, condition, sums};
use crate::Machine;
use crate::machine::Cost;

/// Checks the table of a program, whatever wrote it: places, markers, registers, control flow, what
/// ranges hold, conditions, and the sums that tags and trips follow from.
///
/// # Errors
/// The first entry that its instructions do not prove, with the reason.
pub fn check(program: &Program) -> Result<(), LoadError> {
    let table = OffloadTable::of(program)?;
    let entries = &table.entries;
    let bytes = program.sections.iter().find(|(name, _)| name == SECTION);
    let fail = |number: usize, reason: String| {
        let offset = bytes.map_or(0, |(_, bytes)| record::line(bytes, number));
        let kernel = &program.kernels[entries[number].kernel as usize].name;
        let message = format!("entry {number}, of kernel `{}`: {reason}", kernel.escape_debug());
        Err(LoadError::new(SECTION, offset, message))
    };
    markers(program, entries)?;
    let machine = Machine::from_toml(&program.machine.toml, &[])?;
    let most = machine.offload.entries;
    let mut checker: Option<(u32, Checker<'_>)> = None;
    let (mut count, mut passed) = (0, 0);
    for (number, entry) in entries.iter().enumerate() {
        if number > 0 && (entry.begin <= passed || entry.kernel < entries[number - 1].kernel) {
            let before = number - 1;
            return fail(
                number,
                format!("it overlaps entry {before}, or stands behind it in the text"),
            );
        }
        passed = entry.end;
        if checker.as_ref().is_none_or(|(kernel, _)| *kernel != entry.kernel) {
            checker = Some((entry.kernel, Checker::new(program, entry.kernel)));
            count = 0;
        }
        count += 1;
        if count > most {
            return fail(number, format!("the machine's table holds {most} entries of a kernel"));
        }
        let (_, checker) = checker.as_ref().expect("it was made above");
        if let Some(reason) = checker.fault(entry, number as u32, &machine.cost) {
            return fail(number, reason);
        }
    }
    Ok(())
}

/// Checks that the markers of the text are those of the entries.
fn markers(program: &Program, entries: &[Entry]) -> Result<(), LoadError> {
    let text = program.code.text.iter().enumerate();
    for (at, inst) in text {
        let Op::Region { number } = inst.op else { continue };
        let entry = entries.get(number as usize);
        if entry.is_none_or(|entry| entry.begin as usize != at + 1) {
            let message = format!("`{inst}`: no entry of the table begins behind it");
            let offset = at as u64 * u64::from(nbcc_isa_simt::INSTRUCTION_BYTES);
            return Err(LoadError::new(&program.code.section, offset, message));
        }
    }
    Ok(())
}

/// A kernel with what entries are checked against.
pub struct Checker<'a> {
    program: &'a Program,
    kernel: u32,
    /// Its instructions.
    pub code: KernelCode<'a>,
    registers: Registers<'a>,
    /// Its registers as values.
    pub webs: Webs,
    before: Vec<Vec<u32>>,
    generic_may_be_shared: bool,
}

impl<'a> Checker<'a> {
    /// Of the kernel of that number.
    pub fn new(program: &'a Program, kernel: u32) -> Checker<'a> {
        let code = KernelCode::new(program, &program.kernels[kernel as usize]);
        let registers = Registers::new(code);
        Checker {
            program,
            kernel,
            code,
            webs: Webs::new(&code, &registers),
            registers,
            before: predecessors(&code),
            generic_may_be_shared: code.makes_generic_shared(),
        }
    }

    /// What is wrong with an entry of the kernel; `number` is what its marker says.
    pub fn fault(&self, entry: &Entry, number: u32, cost: &Cost) -> Option<String> {
        self.place_fault(entry, number)
            .or_else(|| self.flow_fault(entry.begin, entry.end, entry.begin))
            .or_else(|| self.meeting_fault(entry.begin, entry.end))
            .or_else(|| self.instruction_fault(entry.begin, entry.end))
            .or_else(|| self.register_fault(entry))
            .or_else(|| self.condition_fault(entry))
            .or_else(|| sums::fault(self, entry, cost))
    }

    fn place_fault(&self, entry: &Entry, number: u32) -> Option<String> {
        let KernelCode { entry: first, end, .. } = self.code;
        if entry.begin <= first || entry.begin >= entry.end || entry.end > end {
            return Some("its instructions are not those of the kernel".into());
        }
        let marker = self.code.at(entry.begin - 1);
        let is_marker = matches!(marker.op, Op::Region { number: said } if said == number);
        if !is_marker || marker.guard.is_some() {
            return Some(format!("no `region {number}` stands before its begin"));
        }
        let words = self.program.kernels[self.kernel as usize].registers;
        let all = entry.constants.iter().fold(entry.live_in.or(&entry.live_out), |mut all, one| {
            all.insert(one.reg);
            all
        });
        all.beyond(words).map(|reg| format!("the kernel has no register {reg}"))
    }

    /// What is wrong with the control flow of a range: it is to be left to its end, and no branch is to
    /// lead into it from outside, to the instructions from `closed` on.
    pub fn flow_fault(&self, begin: u32, end: u32, closed: u32) -> Option<String> {
        let range = begin..end;
        let place = |at: u32| format!("{:#06x}", at * nbcc_isa_simt::INSTRUCTION_BYTES);
        for at in self.code.entry..self.code.end {
            let is_inside = range.contains(&at);
            let lands = |to: u32| match is_inside {
                true => (begin..=end).contains(&to),
                false => !(closed..end).contains(&to),
            };
            if let Some(to) = self.code.target(at)
                && !lands(to)
            {
                let how = if is_inside { "leaves" } else { "enters" };
                return Some(format!("the branch at {} {how} it elsewhere", place(at)));
            }
        }
        None
    }

    /// A branch whose paths meet in another part than it stands in: a warp that ran the range elsewhere
    /// would wait there, or be waited for.
    pub fn meeting_fault(&self, begin: u32, end: u32) -> Option<String> {
        let range = begin..end;
        let strays = |at: &u32| {
            self.code.reconvergence(*at).is_some_and(|to| match range.contains(at) {
                true => !(begin..=end).contains(&to),
                false => range.contains(&to),
            })
        };
        let at = (self.code.entry..self.code.end).find(strays)?;
        let place = at * nbcc_isa_simt::INSTRUCTION_BYTES;
        let way = if range.contains(&at) { "outside of" } else { "inside of" };
        Some(format!("the paths of the branch at {place:#06x} meet {way} it"))
    }

    /// The first instruction of a range that must not run beside memory.
    pub fn instruction_fault(&self, begin: u32, end: u32) -> Option<String> {
        (begin..end).find_map(|at| {
            let inst = self.code.at(at);
            let place = at * nbcc_isa_simt::INSTRUCTION_BYTES;
            self.forbidden(inst).map(|why| format!("it holds `{inst}` at {place:#06x}: {why}"))
        })
    }

    fn forbidden(&self, inst: &Inst<PhysReg>) -> Option<&'static str> {
        let op = &inst.op;
        match op.category() {
            Category::Atomic => Some("an atomic operation"),
            Category::Lanes => Some("an exchange between threads"),
            Category::Synchronization => Some("synchronisation"),
            Category::Memory => match (op.space()?, op.order()?) {
                (Space::Shared, _) => Some("an access of shared memory"),
                (Space::Generic, _) if self.generic_may_be_shared => {
                    Some("an access that may reach shared memory")
                }
                (Space::Param | Space::Const, _) | (_, Order::Weak) => None,
                _ => Some("an access with an order of its own"),
            },
            Category::ControlFlow => match op {
                Op::Bra { .. } | Op::Nanosleep { .. } => None,
                Op::Region { .. } => Some("the begin of a candidate"),
                _ => Some("what ends a thread or calls the host"),
            },
            _ => op.reads_processor_state().then_some("a register of the multiprocessor"),
        }
    }

    /// What is wrong with the registers of an entry: it is to name those that its range needs and
    /// leaves, and no others.
    fn register_fault(&self, entry: &Entry) -> Option<String> {
        let (begin, end) = (entry.begin, entry.end);
        let out = self.registers_out(begin, end);
        if let Some(reg) = out.without(&entry.live_out).iter().next() {
            return Some(format!(
                "{reg} is written in it and read behind it, but does not come back"
            ));
        }
        if let Some(reg) = entry.live_out.without(&out).iter().next() {
            return Some(format!(
                "{reg} comes back, though it is not written in it or not read behind it"
            ));
        }
        let needed = self.registers_in(begin, end, &out);
        let standing = self.standing(begin, end, &needed);
        let mut constants = RegisterSet::default();
        for said in &entry.constants {
            let reg = said.reg;
            if reg.class == RegClass::Wide {
                return Some(format!("{reg} is a pair, which no constant is"));
            }
            if self.held(reg, begin) != Some(said.held) {
                return Some(format!("{reg} may hold something else than the entry says"));
            }
            if let Held::Address { object, .. } = said.held
                && object as usize >= self.program.objects.len()
            {
                return Some(format!("there is no data object {object}"));
            }
            if constants.contains(reg) {
                return Some(format!("what {reg} holds is said twice"));
            }
            constants.insert(reg);
        }
        let sent = entry.live_in;
        let first = |set: RegisterSet| set.iter().next();
        if let Some(reg) = first(needed.without(&sent.or(&constants))) {
            return Some(format!("it needs {reg}, which is not sent"));
        }
        if let Some(reg) = first(constants.without(&needed)) {
            return Some(format!("it does not need {reg}, of which the entry says a constant"));
        }
        if let Some(reg) = first(constants.without(&standing)) {
            return Some(format!("it writes {reg}, which is no constant then"));
        }
        if let Some(reg) = first(sent.without(&needed)) {
            return Some(format!("{reg} is sent, though it is not needed"));
        }
        first(sent.and(&standing)).map(|reg| format!("{reg} is sent, though it holds a constant"))
    }

    /// Of the registers that a range needs, those that stand in it: they hold a constant whenever it
    /// is entered, the whole of one of 64 bits, and it does not write them.
    pub fn standing(&self, begin: u32, end: u32, needed: &RegisterSet) -> RegisterSet {
        let mut standing = RegisterSet::default();
        let webs = self.webs.held_before(needed, begin);
        for (reg, web) in webs {
            let is_wide = reg.class == RegClass::Word && self.webs.is_wide(web);
            let other = is_wide.then(|| PhysReg::new(RegClass::Word, reg.index ^ 1));
            let holds = |reg| self.held(reg, begin).is_some();
            if holds(reg)
                && other.is_none_or(holds)
                && !(begin..end).any(|at| self.webs.writes(at).any(|written| written == web))
            {
                standing.insert(reg);
            }
        }
        standing
    }

    /// The instructions of the kernel that one may follow.
    pub fn before(&self, at: u32) -> &[u32] {
        &self.before[(at - self.code.entry) as usize]
    }

    /// The registers that a range writes and that are read behind it. What is written where no way
    /// leads out of the range, as in a loop without end, is not.
    pub fn registers_out(&self, begin: u32, end: u32) -> RegisterSet {
        let leaving = (begin..end).zip(self.code.leaving(begin, end));
        let writes = leaving.filter(|(_, leaves)| *leaves).map(|(at, _)| self.code.accesses(at).1);
        let writes = writes.fold(RegisterSet::default(), |all, more| all.or(&more));
        writes.and(&self.registers.live_before(end))
    }

    /// The registers that a range needs so that those of `out` are right behind it, of those that hold
    /// something.
    pub fn registers_in(&self, begin: u32, end: u32, out: &RegisterSet) -> RegisterSet {
        needed(&self.code, begin, end, out).and(&self.registers.written_before(begin))
    }

    /// What a register holds whenever an instruction is reached, if that is one constant.
    pub fn held(&self, reg: PhysReg, at: u32) -> Option<Held> {
        constant(&self.code, &self.webs, &self.before, reg, (at, at))
    }

    /// What a register of at most 64 bits holds whenever the instructions from `begin` to the one
    /// before `end` are entered, if that is one number.
    pub fn number_at_entry(&self, reg: PhysReg, begin: u32, end: u32) -> Option<u64> {
        let bits = |reg| match constant(&self.code, &self.webs, &self.before, reg, (begin, end)) {
            Some(Held::Bits(bits)) => Some(u64::from(bits)),
            _ => None,
        };
        match reg.class {
            RegClass::Wide => {
                let part = |number| PhysReg::new(RegClass::Word, reg.index + number);
                Some(bits(part(0))? | bits(part(1))? << 32)
            }
            _ => bits(reg),
        }
    }

    /// The condition of the loop that a range is, with a threshold of 1.
    pub fn condition(&self, begin: u32, end: u32) -> Option<Condition> {
        condition(&self.code, &self.webs, begin, end)
    }

    fn condition_fault(&self, entry: &Entry) -> Option<String> {
        let said = entry.condition?;
        if said.threshold < 2 {
            return Some(format!("a threshold of {} is no condition", said.threshold));
        }
        match self.condition(entry.begin, entry.end) {
            None => Some("it has a condition, but is no loop that counts".into()),
            Some(found) if (Condition { threshold: said.threshold, ..found }) == said => None,
            Some(_) => Some("the condition is not that of its loop".into()),
        }
    }
}
