//! The load-store unit (section IV-B2, Fig. 4): range check, divergence check and coalescing say
//! whether an access is offloaded whole, or each of its bank words is asked for by itself, of banks of
//! this core over its TSVs, of others over the network.

use nbcc_isa_mpu::layout::Place;
use nbcc_isa_mpu::location::Side;
use nbcc_isa_simt::operands::Space;
use nbcc_sim_dram::{Kind as Direction, Request};
use nbcc_sim_engine::{Cycle, NEVER};
use nbcc_sim_simt::machine::access::resolve_all;
use nbcc_sim_simt::memory::FIRST_ADDRESS;
use nbcc_sim_simt::timing::coalesce::{Piece, is_contiguous, pieces};
use nbcc_sim_simt::timing::conflicts;
use nbcc_sim_simt::{LANES, Mask, lanes_of};

use crate::answers::{Flight, MAX_WORDS, Message, Owner, Phase, Word, WordRequest};
use crate::core::{Core, Env, Outgoing, Shared};
use crate::issue::Issue;
use crate::measures::Cause;
use crate::plan::Plan;
use crate::remote_cache::Found;

/// What an instruction reaches beside registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Nothing that takes time of its own.
    None,
    /// Shared memory, so many times.
    Shared(u32),
    /// Banks, with the words in the core's `pieces`.
    Memory(Spread),
}

/// Where the words of an access are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// All in the warp's own near-bank unit, by all lanes and in their order.
    pub whole: bool,
    /// Words of this core.
    pub local: u32,
    /// Words of others.
    pub remote: u32,
    /// Local memory of the threads.
    pub private: bool,
}

/// An access of global or local memory whose addresses are known.
#[derive(Clone, Copy)]
struct Asked<'a> {
    go: &'a Issue,
    plan: &'a Plan,
    /// The words that it touches.
    words: &'a [Piece],
    /// Whether they are local memory of the threads.
    private: bool,
    /// What waits for them.
    flight: u32,
    /// When it was found which words they are.
    looked: Cycle,
}

impl Core {
    /// Where a word of an access lies.
    fn place(&self, env: &Env<'_, '_>, go: &Issue, private: bool, word: u64) -> Place {
        match private {
            true => env.layout.local(self.number, go.subcore as u32, word),
            false => env.layout.place(word),
        }
    }

    /// Finds out what an access reaches; its words are in `pieces` then.
    pub fn reach(
        &mut self,
        go: &Issue,
        plan: &Plan,
        space: Space,
        addresses: [u64; LANES],
        env: &Env<'_, '_>,
    ) -> Reach {
        let (seen, addresses) = resolve_all(space, go.lanes, addresses);
        let machine = env.machine;
        let banks = machine.memory.shared_banks;
        match seen {
            Space::Param => Reach::None,
            Space::Shared => Reach::Shared(conflicts::passes(
                &addresses,
                go.lanes,
                plan.bytes,
                banks,
                plan.atomic,
            )),
            Space::Local => {
                self.local_words(go, plan, &addresses, env);
                Reach::Memory(self.spread(go, plan, &addresses, true, env))
            }
            Space::Generic | Space::Global | Space::Const => {
                let addresses = addresses.map(|address| address.wrapping_sub(FIRST_ADDRESS));
                self.pieces.clear();
                let size = machine.memory.bank_io_bytes;
                pieces(&addresses, go.lanes, plan.bytes, size, &mut self.pieces);
                Reach::Memory(self.spread(go, plan, &addresses, false, env))
            }
        }
    }

    /// The words of an access of local memory: equal addresses of all lanes are neighbours, so that
    /// they fill whole words of a near-bank unit's banks.
    fn local_words(
        &mut self,
        go: &Issue,
        plan: &Plan,
        addresses: &[u64; LANES],
        env: &Env<'_, '_>,
    ) {
        self.pieces.clear();
        let together = u64::from(env.machine.memory.bank_io_bytes / 4).max(1);
        let line = LANES as u64 / together;
        let base = go.slot as u64 * u64::from(env.context.kernel.local_bytes / 4);
        for lane in lanes_of(go.lanes) {
            let first = addresses[lane] / 4;
            let last = addresses[lane].saturating_add(u64::from(plan.bytes).max(1) - 1) / 4;
            for part in first..=last.min(first + 7) {
                let number = (base.wrapping_add(part)).wrapping_mul(line) + lane as u64 / together;
                let lanes: Mask = 1 << lane;
                match self.pieces.iter_mut().rev().find(|piece| piece.number == number) {
                    Some(piece) => piece.lanes |= lanes,
                    None => self.pieces.push(Piece { number, lanes }),
                }
            }
        }
    }

    /// Whether an access is offloaded whole, and where its words are if not.
    fn spread(
        &self,
        go: &Issue,
        plan: &Plan,
        addresses: &[u64; LANES],
        private: bool,
        env: &Env<'_, '_>,
    ) -> Spread {
        let machine = env.machine;
        let banks = u64::from(machine.hierarchy.banks);
        let mut out = Spread { whole: false, local: 0, remote: 0, private };
        let (Some(first), Some(last)) = (self.pieces.first(), self.pieces.last()) else {
            return out;
        };
        let in_order = match private {
            true => go.lanes == Mask::MAX && addresses.iter().all(|a| *a == addresses[0]),
            false => is_contiguous(addresses, go.lanes, plan.bytes),
        };
        if in_order && plan.values == Side::Near && first.number / banks == last.number / banks {
            let place = self.place(env, go, private, first.number);
            out.whole = (place.core, place.unit) == (self.number, go.subcore as u32);
        }
        if out.whole {
            out.local = self.pieces.len() as u32;
            return out;
        }
        for piece in &self.pieces {
            match self.place(env, go, private, piece.number).core == self.number {
                true => out.local += 1,
                false => out.remote += 1,
            }
        }
        out
    }

    /// A load, store or atomic operation of global or local memory.
    pub fn memory_access(
        &mut self,
        go: &Issue,
        plan: &Plan,
        spread: Spread,
        masked: Cycle,
        env: &Env<'_, '_>,
        shared: &mut Shared<'_, '_>,
    ) {
        let machine = env.machine;
        let start = masked.max(self.bring(go, plan.registers.addresses(), Side::Far, machine));
        let cycles = plan.collect[0];
        let far = Side::Far as usize;
        let sub = &mut self.subcores[go.subcore];
        let collected =
            sub.lsu_collectors[far].take(start, cycles).max(start + Cycle::from(cycles));
        sub.buffers[far].hold(collected);
        self.registers(go, plan.registers.addresses(), collected);
        let looked = collected + Cycle::from(machine.latency.coalesce);
        let side = plan.values;

        self.counts.accesses += 1;
        self.counts.words += self.pieces.len() as u64;
        let words = std::mem::take(&mut self.pieces);
        let flight = self.flights.insert(Flight {
            go: *go,
            left: 0,
            latest: looked,
            whole: spread.whole,
            local: !spread.whole && spread.local > 0,
            remote: !spread.whole && spread.remote > 0,
            side,
        });
        let resident = self.blocks[go.block].as_mut().expect("its block");
        resident.pending += 1;
        let sub = &mut self.subcores[go.subcore];
        let warp = sub.warps[go.slot].as_mut().expect("the warp");
        warp.pending += 1;
        let asked = Asked { go, plan, words: &words, private: spread.private, flight, looked };
        if spread.whole {
            sub.near.hold(NEVER);
            shared.profile.near[go.pc as usize] += 1;
            self.offload_access(&asked, env);
        } else {
            if spread.local > 0 {
                sub.local.hold(NEVER);
            }
            if spread.remote > 0 {
                self.remote.hold(NEVER);
            }
            self.ask_words(&asked, env);
        }
        self.write(go, plan, side, NEVER);
        if self.flights.get(flight).is_some_and(|flight| flight.left == 0) {
            // The cache held all of it.
            self.over(flight, env);
        }
        self.pieces = words;
    }

    /// The near-bank unit does all of it: it is sent the first address and gathers words and register
    /// by itself (Fig. 4, 3-b).
    fn offload_access(&mut self, asked: &Asked<'_>, env: &Env<'_, '_>) {
        let Asked { go, plan, words, private, flight, looked } = *asked;
        let machine = env.machine;
        let start = looked.max(self.bring(go, plan.registers.values(), Side::Near, machine));
        let mut at = self.offload(go, start, machine);
        if plan.store {
            let cycles = plan.collect[1];
            let sub = &mut self.subcores[go.subcore];
            let collectors = &mut sub.lsu_collectors[Side::Near as usize];
            at = collectors.take(at, cycles).max(at + Cycle::from(cycles));
            self.registers(go, plan.registers.values(), at);
        }
        self.counts.whole += 1;
        let phase = if plan.store { Phase::Write } else { Phase::Read };
        for word in words {
            let place = self.place(env, go, private, word.number);
            if plan.store {
                self.cache.drop_word(word.number);
            }
            let request = WordRequest { place, lanes: word.lanes.count_ones(), line: word.number };
            self.ask_bank(at, request, phase, Some(Owner::Flight(flight)), 0);
        }
    }

    /// Each word by itself.
    fn ask_words(&mut self, asked: &Asked<'_>, env: &Env<'_, '_>) {
        let Asked { go, plan, words, private, flight, looked } = *asked;
        let machine = env.machine;
        let mut start = looked;
        if !plan.registers.values().is_empty() {
            let there = looked.max(self.bring(go, plan.registers.values(), Side::Far, machine));
            start = there + Cycle::from(plan.collect[1]);
            self.registers(go, plan.registers.values(), start);
        }
        start = start.max(self.bring_destinations(go, plan, plan.values, machine));
        let phase = match (plan.atomic, plan.store) {
            (true, _) => Phase::Change,
            (_, true) => Phase::Write,
            _ => Phase::Read,
        };
        let answers =
            if plan.atomic && !plan.registers.destinations.is_empty() { plan.bytes } else { 0 };
        let interface = Cycle::from(machine.latency.interface);
        // The packet that is being filled for each core.
        let mut open: Vec<(u32, Message)> = Vec::new();
        let mut left = 0;
        for word in words {
            let place = self.place(env, go, private, word.number);
            let lanes = word.lanes.count_ones();
            let request = WordRequest { place, lanes, line: word.number };
            let bytes = sent_bytes(machine, phase, plan.bytes, lanes);
            if phase != Phase::Read {
                self.cache.drop_word(word.number);
            }
            if place.core == self.number {
                let size = machine.network.request_bytes + bytes;
                let at = self.tsv(false, Cause::Request, start, size, machine);
                self.ask_bank(at, request, phase, Some(Owner::Flight(flight)), answers);
                self.counts.words_local += 1;
                left += 1;
                continue;
            }
            self.counts.words_remote += 1;
            let found = match phase == Phase::Read && plan.weak {
                true => self.cache.look(word.number, flight),
                false => Found::Nothing,
            };
            if found == Found::Held {
                self.counts.cache_hits += 1;
                let flight = self.flights.get_mut(flight).expect("a new flight");
                flight.latest = flight.latest.max(start + interface);
                continue;
            }
            left += 1;
            if found == Found::OnItsWay {
                self.counts.words_awaited += 1;
                continue;
            }
            let empty = || Message::request(self.number, flight, phase, answers, bytes);
            let room = per_packet(machine, bytes);
            let index = open.iter().position(|(core, message)| {
                *core == place.core && message.words.len() < room && message.data == bytes
            });
            let index = index.unwrap_or_else(|| {
                open.push((place.core, empty()));
                open.len() - 1
            });
            open[index].1.words.push(request);
        }
        for (to, message) in open {
            let flit = machine.network.flit_bytes;
            let each = if phase == Phase::Read { machine.network.request_bytes } else { 0 };
            let bytes = flit + message.words.len() as u32 * (each + message.data);
            self.out.push(Outgoing { time: start + interface, to, bytes, message });
        }
        self.flights.get_mut(flight).expect("a new flight").left = left;
    }

    /// A request comes to a bank of the core.
    pub fn ask_bank(
        &mut self,
        at: Cycle,
        request: WordRequest,
        phase: Phase,
        owner: Option<Owner>,
        answers: u32,
    ) {
        if let Some(Owner::Flight(flight)) = owner
            && let Some(flight) = self.flights.get_mut(flight)
            && flight.whole
        {
            flight.left += 1;
        }
        self.counts.tables += 1;
        let direction = match phase {
            Phase::Write => Direction::Write,
            Phase::Read | Phase::Change => Direction::Read,
        };
        let place = request.place;
        let word = self.words.insert(Word { owner, phase, request, answers });
        let request = Request {
            id: word.into(),
            kind: direction,
            bank: place.bank,
            row: place.row,
            column: place.column,
        };
        let unit = place.unit as usize;
        let at = at.max(self.banks[unit].now());
        self.banks[unit].push(at, false, request);
        self.look_at(unit);
    }
}

/// What a request for a word brings along: what is stored, or operands of lanes.
fn sent_bytes(machine: &nbcc_isa_mpu::Machine, phase: Phase, bytes: u32, lanes: u32) -> u32 {
    match phase {
        Phase::Read => 0,
        Phase::Write => machine.memory.bank_io_bytes,
        Phase::Change => (bytes * lanes).next_multiple_of(machine.network.tsv_bytes),
    }
}

/// Words of a packet whose requests bring `data` along: its first flit says what is asked, and where
/// the only one lies of those that bring data.
fn per_packet(machine: &nbcc_isa_mpu::Machine, data: u32) -> usize {
    let room = machine.network.packet_bytes - machine.network.flit_bytes;
    match data {
        0 => (room / machine.network.request_bytes).clamp(1, MAX_WORDS as u32) as usize,
        _ => 1,
    }
}
