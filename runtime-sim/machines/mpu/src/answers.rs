//! What banks and other cores answer: words are gathered to registers, accesses come to their end, and
//! requests of other cores are served (LSU-Remote and LSU-Extension, section IV-B2).

use nbcc_isa_mpu::layout::Place;
use nbcc_isa_mpu::location::Side;
use nbcc_sim_engine::Cycle;
use nbcc_sim_simt::LANES;
use smallvec::SmallVec;

use crate::core::{Core, Env, Event, Outgoing};
use crate::issue::Issue;
use crate::measures::Cause;
use crate::stall::Stall;

/// An access of a warp that is not over.
#[derive(Clone, Copy, Debug)]
pub struct Flight {
    /// The instruction.
    pub go: Issue,
    /// Words that have not been answered.
    pub left: u32,
    /// The last cycle of those that have.
    pub latest: Cycle,
    /// The near-bank unit does all of it.
    pub whole: bool,
    /// It holds a place among pending requests to banks of the core.
    pub local: bool,
    /// It holds a place among pending requests to other cores.
    pub remote: bool,
    /// Where its register is written.
    pub side: Side,
}

/// What happens to a word of a bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It is read.
    Read,
    /// It is written.
    Write,
    /// It is read, changed and written.
    Change,
}

/// Whom a word is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// An access of a warp of this core.
    Flight(u32),
    /// Another core.
    Service(u32),
}

/// A word that is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WordRequest {
    /// Where it lies.
    pub place: Place,
    /// Lanes that it is for.
    pub lanes: u32,
    /// Its number among all words.
    pub line: u64,
}

/// A request to a bank of the core.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// Who is told of its end.
    pub owner: Option<Owner>,
    /// What is done.
    pub phase: Phase,
    /// The word.
    pub request: WordRequest,
    /// Bytes that a lane gets of an atomic operation.
    pub answers: u32,
}

/// A word that another core asked for.
#[derive(Clone, Copy, Debug)]
pub struct Service {
    /// The core.
    pub from: u32,
    /// Its access.
    pub flight: u32,
    /// The number of the word, where it may keep it.
    pub line: Option<u64>,
}

/// Words of a packet at most.
pub const MAX_WORDS: usize = 8;

/// What a packet says.
#[derive(Clone, Debug)]
pub struct Message {
    /// The core whose access it is about.
    pub from: u32,
    /// The access.
    pub flight: u32,
    /// What is asked; none for an answer.
    pub phase: Option<Phase>,
    /// Bytes that a lane gets of an atomic operation.
    pub answers: u32,
    /// Bytes that each word brings along.
    pub data: u32,
    /// The words. Answers, and requests that bring data along, have one.
    pub words: SmallVec<[WordRequest; 1]>,
}

impl Message {
    /// A request without words.
    pub fn request(from: u32, flight: u32, phase: Phase, answers: u32, data: u32) -> Message {
        Message { from, flight, phase: Some(phase), answers, data, words: SmallVec::new() }
    }
}

impl Core {
    /// A bank has served a request.
    pub fn completed(&mut self, number: u32, finish: Cycle, env: &Env<'_, '_>) {
        let word = self.words.remove(number);
        let machine = env.machine;
        let mut at = finish;
        if word.phase == Phase::Change {
            // Lanes are served one after another.
            at += Cycle::from(word.request.lanes) * Cycle::from(machine.latency.alu.max(1));
            self.counts.words_atomic += 1;
            self.counts.atomic_lanes += u64::from(word.request.lanes);
            let answered = word.answers > 0;
            let owner = if answered { None } else { word.owner };
            self.ask_bank(at, word.request, Phase::Write, owner, 0);
            if !answered {
                return;
            }
        }
        let bytes = match (word.phase, word.answers) {
            (Phase::Read, _) => machine.memory.bank_io_bytes,
            (Phase::Change, each) => (each * word.request.lanes).min(machine.memory.bank_io_bytes),
            (Phase::Write, _) => machine.network.request_bytes,
        };
        match word.owner {
            None => {}
            Some(Owner::Flight(flight)) => {
                if !self.flights.get(flight).is_some_and(|flight| flight.whole) {
                    at = self.tsv(true, Cause::Answer, at, bytes, machine);
                }
                self.answered(flight, at, env);
            }
            Some(Owner::Service(service)) => {
                let service = self.services.remove(service);
                let at = self.tsv(true, Cause::Remote, at, bytes, machine);
                let mut message =
                    Message::request(service.from, service.flight, Phase::Read, 0, bytes);
                message.phase = None;
                if let Some(line) = service.line {
                    message.words.push(WordRequest { line, ..WordRequest::default() });
                }
                let data = if word.phase == Phase::Write { 0 } else { bytes };
                let bytes = machine.network.flit_bytes + data;
                let time = at + Cycle::from(machine.latency.interface);
                self.out.push(Outgoing { time, to: service.from, bytes, message });
            }
        }
    }

    /// A packet has come.
    pub fn received(&mut self, now: Cycle, message: &Message, env: &Env<'_, '_>) {
        let machine = env.machine;
        let words = &message.words[..];
        let Some(phase) = message.phase else {
            for word in words.iter() {
                for flight in self.cache.came(word.line, message.flight) {
                    self.answered(flight, now, env);
                }
            }
            return self.answered(message.flight, now, env);
        };
        for word in words {
            let (from, flight) = (message.from, message.flight);
            let line = (phase == Phase::Read).then_some(word.line);
            let service = self.services.insert(Service { from, flight, line });
            let size = machine.network.request_bytes + message.data;
            let at = self.tsv(false, Cause::Remote, now, size, machine);
            let owner = Some(Owner::Service(service));
            self.ask_bank(at, *word, phase, owner, message.answers);
        }
    }

    /// A word of an access has come.
    fn answered(&mut self, number: u32, at: Cycle, env: &Env<'_, '_>) {
        let flight = self.flights.get_mut(number).expect("an access that waits for words");
        flight.latest = flight.latest.max(at);
        flight.left -= 1;
        if flight.left == 0 {
            self.over(number, env);
        }
    }

    /// All words of an access have come: the register is composed and written.
    pub fn over(&mut self, number: u32, env: &Env<'_, '_>) {
        let flight = *self.flights.get(number).expect("an access");
        let machine = env.machine;
        let plan = env.plan(flight.go.pc);
        let line = Cycle::from(machine.latency.register);
        let [_, lines] = plan.registers.lines();
        let mut at = flight.latest;
        if lines > 0 {
            if flight.side == Side::Near && !flight.whole {
                let bytes = 4 * LANES as u32 * lines as u32;
                at = self.tsv(false, Cause::WriteBack, at, bytes, machine);
            }
            at += line;
            match flight.side {
                Side::Near => self.counts.written_near += lines,
                Side::Far => self.counts.written_far += lines,
            }
        }
        // What ends near the banks is committed on the base die.
        if flight.whole || (lines > 0 && flight.side == Side::Near) {
            at = self.tsv(true, Cause::Commit, at, machine.network.request_bytes, machine);
        }
        self.schedule(at, Event::Commit(number));
    }

    /// An access is over.
    pub fn commit(&mut self, now: Cycle, number: u32, env: &Env<'_, '_>) {
        let flight = self.flights.remove(number);
        let Issue { subcore, slot, block, pc, .. } = flight.go;
        let sub = &mut self.subcores[subcore];
        if flight.whole {
            sub.near.release(now);
        }
        if flight.local {
            sub.local.release(now);
        }
        if flight.remote {
            self.remote.release(now);
        }
        let warp = sub.warps[slot].as_mut().expect("a warp whose access ends");
        warp.pending -= 1;
        for &register in &env.plan(pc).registers.destinations {
            warp.board.write(register, now);
        }
        let waited = warp.why == Stall::Memory;
        if !warp.parked {
            self.prepare(subcore, slot, env);
            let ready = self.subcores[subcore].ready[slot];
            self.set_ready(subcore, slot, ready.max(now));
            let warp = self.subcores[subcore].warps[slot].as_mut().expect("the warp");
            if waited && warp.fetched <= now {
                warp.why = Stall::Memory;
            }
        }
        self.unpark(now);
        if let Some(resident) = &mut self.blocks[block] {
            resident.pending -= 1;
            resident.until = resident.until.max(now);
        }
        self.settle(now, block);
    }
}
