//! Everything behind the multiprocessors: interconnect, shared cache, links, stacks. Requests go from
//! event to event, each of which happens where they have to wait for others, in the order of time.
//!
//! Of the GPU: cluster port, part of the shared cache, link to the stack, vault, link back, shared cache,
//! port of the cluster. Of a multiprocessor in a stack: its switch and a vault of the stack, or a link
//! between stacks before and behind.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use foldhash::fast::FixedState;
use nbcc_isa_tom::Machine;
use nbcc_isa_tom::layout::Place;
use nbcc_sim_dram::{Completion, Kind, Model};
use nbcc_sim_engine::slab::Slab;
use nbcc_sim_engine::{Cycle, NEVER};
use nbcc_sim_simt::timing::cache::Cache;

use crate::ahead::Ahead;
use crate::clock::{Channel, Clock, Time, nanoseconds};
use crate::map::Map;
use crate::measures::MemoryCounts;
use crate::message::{Answer, Ask, Request};
use crate::queue::Queue;
use crate::sm::Sm;
use crate::timeline::Timeline;
use crate::vault::{Vault, VaultTiming};

/// A request on its way.
#[derive(Clone, Copy, Debug)]
struct Travel {
    request: Request,
    place: Place,
    /// The next one that waits for the same line of the shared cache.
    next: Option<u32>,
    /// The second half of an atomic operation, which nobody waits for.
    silent: bool,
    /// It goes to the host's memory.
    to_host: bool,
    /// Accesses of the banks that are still to be served.
    bursts: u32,
}

/// The way to the host's memory, and back.
#[derive(Debug)]
struct Host {
    up: Channel,
    down: Channel,
}

/// What happens to a request next, or to a vault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// It comes to the port of its cluster.
    Cluster,
    /// It comes to its part of the shared cache.
    Slice,
    /// The shared cache has looked it up, and holds the line.
    Found,
    /// The shared cache has looked it up, and sends it on.
    Send,
    /// It comes to a stack.
    Stack,
    /// Its data crosses to the logic layer, or its write is done.
    Served,
    /// Its answer comes to the GPU.
    Back,
    /// It comes to the multiprocessor that a block is of, at no cost.
    Home,
    /// The banks of a vault do something.
    Banks,
}

/// A part of the shared cache.
#[derive(Debug)]
struct Slice {
    cache: Cache,
    free: Time,
    /// Lines that were asked for, each with the last request that waits for it.
    misses: HashMap<u64, u32, FixedState>,
    /// Requests that wait for a place among them.
    waiting: VecDeque<u32>,
    /// The way to the clusters.
    out: Channel,
}

/// A memory stack with its links.
#[derive(Debug)]
struct Stack {
    tx: Channel,
    rx: Channel,
    /// To the other stacks, by their numbers.
    cross: Vec<Channel>,
    vaults: Vec<Vault>,
}

/// Both ways of a cluster.
#[derive(Debug)]
struct Port {
    up: Channel,
    down: Channel,
}

/// Everything behind the multiprocessors.
#[derive(Debug)]
pub struct Memory {
    /// Which stack holds which line.
    pub map: Map,
    /// The way to the host's memory, while data is there.
    host: Option<Host>,
    /// Whether requests and acknowledgments of blocks are free, and their accesses all served at home.
    is_ideal: bool,
    sm_clock: Clock,
    l2_clock: Clock,
    l2_latency: Time,
    /// Loads of the GPU that its shared cache answered, alone or with others, and those that a stack did.
    pub loads: [u64; 2],
    l2_misses: usize,
    line_bytes: u32,
    packet: Packets,
    timing: VaultTiming,
    gpu_sms: u32,
    cluster_sms: u32,
    stack_sms: u32,
    switch: Time,
    controller: Time,
    /// Answers that the interconnect takes leave it no sooner than this.
    lookahead: Time,
    ports: Vec<Port>,
    slices: Vec<Slice>,
    stacks: Vec<Stack>,
    travels: Slab<Travel>,
    /// What happens next to which request, or to which vault.
    events: Queue<(Step, u32)>,
    /// Requests at ports, and what is done before them, where windows have two parts.
    ahead: Option<Ahead>,
    /// Answers on their way to the ports of clusters.
    answers: Queue<u32>,
    done: Vec<Completion>,
    /// What is counted.
    pub counts: MemoryCounts,
}

/// Sizes of packets in bytes.
#[derive(Clone, Copy, Debug)]
struct Packets {
    link_header: u32,
    address: u32,
    acknowledgment: u32,
    interconnect_header: u32,
}

impl Memory {
    /// Idle, with empty caches and closed rows.
    pub fn new(machine: &Machine, model: &Arc<Model>) -> Memory {
        let flit = Clock::gigahertz(machine.gpu.interconnect_clock).period;
        let hop = Time::from(machine.interconnect.latency) * flit;
        let port = || Channel::of_units(flit, machine.interconnect.flit_bytes, hop);
        let last = || Channel::of_units(flit, machine.interconnect.flit_bytes, 0);
        let l2_clock = Clock::gigahertz(machine.gpu.l2_clock);
        let slices = machine.l2.slices;
        let lines = machine.l2.bytes / machine.cache.line_bytes / slices;
        let link_latency = nanoseconds(machine.link.latency_ns);
        let link = |share: f64| Channel::of_bandwidth(machine.link.bandwidth * share, link_latency);
        let stacks = machine.stack.count;
        Memory {
            map: Map::new(machine),
            host: None,
            is_ideal: false,
            sm_clock: Clock::gigahertz(machine.gpu.clock),
            l2_clock,
            l2_latency: Time::from(machine.l2.latency) * l2_clock.period,
            loads: [0; 2],
            l2_misses: machine.l2.misses as usize,
            line_bytes: machine.cache.line_bytes,
            packet: Packets {
                link_header: machine.link.header_bytes,
                address: machine.link.address_bytes,
                acknowledgment: machine.link.acknowledgment_bytes,
                interconnect_header: machine.interconnect.header_bytes,
            },
            timing: VaultTiming::new(machine),
            gpu_sms: machine.gpu.sms,
            cluster_sms: machine.gpu.cluster_sms,
            stack_sms: machine.stack.sms.max(1),
            switch: nanoseconds(machine.stack.switch_ns).max(1),
            controller: nanoseconds(machine.stack.controller_ns),
            lookahead: hop,
            ports: (0..machine.gpu.sms / machine.gpu.cluster_sms)
                .map(|_| Port { up: port(), down: last() })
                .collect(),
            slices: (0..slices)
                .map(|_| Slice {
                    cache: Cache::with_ways(lines, machine.l2.ways),
                    free: 0,
                    misses: HashMap::default(),
                    waiting: VecDeque::new(),
                    out: port(),
                })
                .collect(),
            stacks: (0..stacks)
                .map(|_| Stack {
                    tx: link(1.0),
                    rx: link(1.0),
                    cross: (0..stacks).map(|_| link(machine.link.cross_ratio)).collect(),
                    vaults: (0..machine.stack.vaults).map(|_| Vault::new(model)).collect(),
                })
                .collect(),
            travels: Slab::new(),
            events: Queue::default(),
            ahead: None,
            answers: Queue::default(),
            done: Vec::new(),
            counts: MemoryCounts::default(),
        }
    }

    /// How long nothing that happens from now on is noticed by a multiprocessor.
    pub fn window(&self) -> Time {
        self.lookahead.min(self.switch).max(1)
    }

    /// When something happens next.
    pub fn next_event(&self) -> Time {
        let port = self.ahead.as_ref().map_or(NEVER, |ahead| ahead.requests.next_time());
        self.next_behind_ports().min(port)
    }

    /// When something happens next that was there before the last window. An answer may come as soon as it
    /// is at its port, so that the window before that has to end there.
    pub fn next_behind_ports(&self) -> Time {
        let answer = self.answers.next_time();
        let before = if answer == NEVER { NEVER } else { answer.saturating_sub(self.window()) };
        self.events.next_time().min(before)
    }

    /// Windows have two parts from now on: [`Memory::go_ahead`], which what is asked for in them does not
    /// change, then [`Memory::run`]; whether they can. Requests for blocks that are free cannot wait.
    pub fn part(&mut self) -> bool {
        self.ahead = (!self.is_ideal).then(Ahead::default);
        self.ahead.is_some()
    }

    /// Requests on their way.
    pub fn in_flight(&self) -> usize {
        self.travels.len()
    }

    #[inline]
    fn schedule(&mut self, time: Time, step: Step, number: u32) {
        self.events.push(time, (step, number));
    }

    /// Takes a request.
    pub fn ask(&mut self, request: Request) {
        let own = self.stack_of(request.sm);
        let place = match (request.ask, own) {
            (Ask::Offload | Ask::Return, _) => {
                Place { stack: request.line as u32, ..Place::default() }
            }
            (_, Some(own)) if self.is_ideal => {
                Place { stack: own as u32, ..self.map.place(request.line) }
            }
            _ => self.map.place(request.line),
        };
        let is_data = !matches!(request.ask, Ask::Offload | Ask::Return);
        let to_host = self.host.is_some() && is_data && !Sm::is_local(request.line);
        let bursts = request.bursts.count_ones();
        let travel = Travel { request, place, next: None, silent: false, to_host, bursts };
        let number = self.travels.insert(travel);
        match request.ask {
            Ask::Offload if self.is_ideal => self.schedule(request.time, Step::Stack, number),
            Ask::Return if self.is_ideal => self.schedule(request.time, Step::Home, number),
            // Of a multiprocessor in a stack.
            Ask::Return => self.schedule(request.time + self.switch, Step::Send, number),
            _ if own.is_some() => {
                self.schedule(request.time + self.switch, Step::Send, number);
            }
            _ => match &mut self.ahead {
                Some(ahead) => {
                    self.events.sequence += 1;
                    ahead.requests.push_as(self.events.sequence, request.time, number);
                }
                None => self.schedule(request.time, Step::Cluster, number),
            },
        }
    }

    /// Requests and acknowledgments of blocks are free from now on, and their data is where they are.
    pub fn idealise(&mut self) {
        self.is_ideal = true;
    }

    /// From now on data is read from the host's memory, or no longer.
    pub fn use_host(&mut self, machine: &Machine, is_used: bool) {
        if let Some(host) = self.host.take() {
            self.counts.flow.host_bytes += host.up.bytes + host.down.bytes;
        }
        let half = nanoseconds(machine.pcie.latency_us * 1000.0 / 2.0);
        let way = || Channel::of_bandwidth(machine.pcie.bandwidth, half);
        self.host = is_used.then(|| Host { up: way(), down: way() });
    }

    /// The links to and from a stack up to a time: femtoseconds in which they were in use.
    pub fn link_use(&self, stack: usize, at: Time) -> [Time; 2] {
        let Stack { tx, rx, .. } = &self.stacks[stack];
        [tx.busy_until(at), rx.busy_until(at)]
    }

    /// A line of the shared cache is no longer valid.
    pub fn drop_line(&mut self, line: u64) {
        let index = self.slice_of(line, self.map.place(line));
        self.slices[index].cache.drop_line(line);
    }

    /// The multiprocessor of a stack that takes the next block: they take turns.
    fn host_of(&self, stack: u32, token: u32) -> u32 {
        self.gpu_sms + stack * self.stack_sms + token % self.stack_sms
    }

    /// The stack in which a multiprocessor is, if it is in one.
    fn stack_of(&self, sm: u32) -> Option<usize> {
        sm.checked_sub(self.gpu_sms).map(|number| (number / self.stack_sms) as usize)
    }

    fn slice_of(&self, line: u64, place: Place) -> usize {
        // Parts are divided among stacks, as memory controllers are.
        let each = (self.slices.len() / self.stacks.len()).max(1);
        let number = place.stack as usize * each + place.vault as usize % each;
        if number < self.slices.len() { number } else { line as usize % self.slices.len() }
    }

    /// Does everything before a time; answers that come to multiprocessors in the window behind it are
    /// added to `out`.
    pub fn run(&mut self, until: Time, out: &mut Vec<Answer>, timeline: &mut Option<Timeline>) {
        if let Some(mut ahead) = self.ahead.take() {
            // What these bring about is behind the window.
            while let Some((time, order, number)) = ahead.requests.pop_before(until) {
                self.events.sequence = ahead.comes(time, order);
                self.at_cluster(time, number);
            }
            self.events.sequence = ahead.end();
            self.ahead = Some(ahead);
            return;
        }
        while let Some((time, _, event)) = self.events.pop_before(until) {
            self.happen(time, event, out, timeline);
        }
        self.reach_ports(until, out);
    }

    /// Does what there is to do before the end of a window whatever is asked for in it.
    pub fn go_ahead(&mut self, until: Time, out: &mut Vec<Answer>) {
        let Some(mut ahead) = self.ahead.take() else { return };
        let number = self.events.sequence;
        ahead.begin(number);
        while let Some((time, order, event)) = self.events.pop_before(until) {
            self.events.sequence = ahead.happens(time, order);
            self.happen(time, event, out, &mut None);
        }
        self.events.sequence = number;
        self.ahead = Some(ahead);
        self.reach_ports(until, out);
    }

    #[inline]
    fn happen(
        &mut self,
        time: Time,
        (step, number): (Step, u32),
        out: &mut Vec<Answer>,
        timeline: &mut Option<Timeline>,
    ) {
        match step {
            Step::Cluster => self.at_cluster(time, number),
            Step::Slice => self.at_slice(time, number),
            Step::Found => self.send_to_cluster(time, number),
            Step::Send => self.send(time, number, timeline),
            Step::Stack => self.at_stack(time, number, out, timeline),
            Step::Served => self.served(time, number, out, timeline),
            Step::Back => self.back(time, number, out),
            Step::Home => {
                let Travel { request, .. } = self.travels.remove(number);
                self.answer(time + self.lookahead.max(self.switch), &request, out);
            }
            Step::Banks => self.banks(time, number),
        }
    }

    /// What comes to ports of clusters in the window behind a time: it has been sent by then.
    fn reach_ports(&mut self, time: Time, out: &mut Vec<Answer>) {
        let until = time + self.window();
        while let Some((time, _, number)) = self.answers.pop_before(until) {
            let Travel { request, .. } = self.travels.remove(number);
            let bytes = self.packet.interconnect_header + self.answer_bytes(&request);
            let (_, end) =
                self.ports[(request.sm / self.cluster_sms) as usize].down.send(time, bytes);
            self.answer(end, &request, out);
        }
    }

    fn answer(&self, time: Time, request: &Request, out: &mut Vec<Answer>) {
        let cycle = self.sm_clock.cycle(time);
        out.push(Answer { sm: request.sm, cycle, ask: request.ask, token: request.token });
    }

    /// What an answer brings.
    fn answer_bytes(&self, request: &Request) -> u32 {
        match request.ask {
            Ask::Load => self.line_bytes,
            Ask::Store => 0,
            Ask::Atomic | Ask::Return => request.answer,
            Ask::Offload => 0,
        }
    }

    /// Bytes of a request on a link.
    fn request_packet(&self, request: &Request) -> u32 {
        // A request for a block has its addresses among its bytes.
        let address = if request.ask == Ask::Offload { 0 } else { self.packet.address };
        self.packet.link_header + address + request.bytes
    }

    /// Bytes of an answer on a link.
    fn answer_packet(&self, request: &Request) -> u32 {
        let bytes = self.answer_bytes(request);
        self.packet.link_header + if bytes == 0 { self.packet.acknowledgment } else { bytes }
    }

    fn at_cluster(&mut self, time: Time, number: u32) {
        let Travel { request, .. } = *self.travels.get(number).expect("a request");
        let bytes = self.packet.interconnect_header + request.bytes;
        self.counts.flow.interconnect_up += u64::from(bytes);
        let (_, end) = self.ports[(request.sm / self.cluster_sms) as usize].up.send(time, bytes);
        let next = if request.ask == Ask::Offload { Step::Send } else { Step::Slice };
        self.schedule(end, next, number);
    }

    /// A part of the shared cache takes a request a cycle.
    fn at_slice(&mut self, time: Time, number: u32) {
        let Travel { request, place, .. } = *self.travels.get(number).expect("a request");
        let index = self.slice_of(request.line, place);
        let slice = &mut self.slices[index];
        if !slice.waiting.is_empty() {
            slice.waiting.push_back(number);
            return;
        }
        self.look_up(time, index, number);
    }

    /// Looks a request up; tells whether there was a place for it.
    fn look_up(&mut self, time: Time, index: usize, number: u32) -> bool {
        let Travel { request, .. } = *self.travels.get(number).expect("a request");
        let slice = &mut self.slices[index];
        let start = self.l2_clock.edge(time).max(slice.free);
        let ready = start + self.l2_latency;
        let step = match request.ask {
            Ask::Load if slice.cache.holds(request.line) => {
                self.counts.flow.l2_hits += 1;
                self.loads[0] += 1;
                Step::Found
            }
            Ask::Load => {
                let pending = slice.misses.contains_key(&request.line);
                if !pending && slice.misses.len() >= self.l2_misses {
                    slice.waiting.push_back(number);
                    return false;
                }
                self.counts.flow.l2_misses += 1;
                slice.free = start + self.l2_clock.period;
                if let Some(before) = slice.misses.insert(request.line, number) {
                    // It waits with those that ask for the same line.
                    self.travels.get_mut(number).expect("a request").next = Some(before);
                    self.loads[0] += 1;
                    return true;
                }
                self.loads[1] += 1;
                Step::Send
            }
            Ask::Store => {
                // Written through: the line stays, with what is written.
                match slice.cache.holds(request.line) {
                    true => self.counts.flow.l2_hits += 1,
                    false => self.counts.flow.l2_misses += 1,
                }
                Step::Send
            }
            Ask::Atomic => {
                slice.cache.drop_line(request.line);
                Step::Send
            }
            Ask::Offload | Ask::Return => unreachable!("blocks pass the shared cache by"),
        };
        slice.free = start + self.l2_clock.period;
        self.schedule(ready, step, number);
        true
    }

    /// The answer goes to the port of the cluster.
    fn send_to_cluster(&mut self, time: Time, number: u32) {
        let Travel { request, place, .. } = *self.travels.get(number).expect("a request");
        let bytes = self.packet.interconnect_header + self.answer_bytes(&request);
        self.counts.flow.interconnect_down += u64::from(bytes);
        let index = self.slice_of(request.line, place);
        let (_, end) = self.slices[index].out.send(time, bytes);
        self.answers.push(end, number);
    }

    /// A request goes over a link, if one lies between.
    fn send(&mut self, time: Time, number: u32, timeline: &mut Option<Timeline>) {
        let Travel { request, place, to_host, .. } = *self.travels.get(number).expect("a request");
        let bytes = self.request_packet(&request);
        let to = place.stack as usize;
        let from = self.stack_of(request.sm);
        if request.ask == Ask::Return {
            let bytes = self.answer_packet(&request);
            let (start, end) = self.stacks[to].rx.send(time, bytes);
            if let Some(timeline) = timeline {
                timeline.link(to, 1, "return", start, end);
            }
            return self.schedule(end, Step::Back, number);
        }
        if to_host {
            if let Some(host) = &mut self.host {
                let (_, end) = host.up.send(time, bytes);
                return self.schedule(end, Step::Served, number);
            }
            // The data has been copied meanwhile.
            self.travels.get_mut(number).expect("a request").to_host = false;
        }
        if from == Some(to) {
            return self.schedule(time, Step::Stack, number);
        }
        let link = match from {
            None => &mut self.stacks[to].tx,
            Some(from) => &mut self.stacks[from].cross[to],
        };
        let (start, end) = link.send(time, bytes);
        if let Some(timeline) = timeline
            && from.is_none()
        {
            let name = if request.ask == Ask::Offload { "offload" } else { "request" };
            timeline.link(to, 0, name, start, end);
        }
        self.schedule(end, Step::Stack, number);
    }

    /// A request comes to its vault: what it brings crosses the vias first.
    fn at_stack(
        &mut self,
        time: Time,
        number: u32,
        out: &mut Vec<Answer>,
        timeline: &mut Option<Timeline>,
    ) {
        let Travel { request, place, .. } = *self.travels.get(number).expect("a request");
        if request.ask == Ask::Offload {
            self.travels.remove(number);
            let sm = self.host_of(place.stack, request.token);
            let wait = if self.is_ideal { self.lookahead.max(self.switch) } else { self.switch };
            return self.answer(time + wait, &Request { sm, ..request }, out);
        }
        let timing = self.timing;
        let vault = &mut self.stacks[place.stack as usize].vaults[place.vault as usize];
        let at = time + self.controller;
        let (kind, at) = match request.ask {
            Ask::Store => (Kind::Write, vault.cross(&timing, at, request.bytes)),
            _ => (Kind::Read, at),
        };
        if let Some(timeline) = timeline {
            timeline.vault(place, if kind == Kind::Write { "write" } else { "read" }, at, timing);
        }
        let next = vault.ask(&timing, at, number, kind, place, request.bursts);
        self.look_at(place, next);
    }

    fn look_at(&mut self, place: Place, next: Option<Cycle>) {
        let Some(cycle) = next else { return };
        let vaults = self.stacks[0].vaults.len() as u32;
        let number = place.stack * vaults + place.vault;
        self.schedule(self.timing.dram.time(cycle), Step::Banks, number);
    }

    /// The banks of a vault go on.
    fn banks(&mut self, time: Time, number: u32) {
        let cycle = self.timing.dram.cycle(time);
        let vaults = self.stacks[0].vaults.len() as u32;
        let (stack, index) = (number / vaults, number % vaults);
        let timing = self.timing;
        let vault = &mut self.stacks[stack as usize].vaults[index as usize];
        let mut done = std::mem::take(&mut self.done);
        let next = vault.advance(&timing, cycle, &mut done);
        self.look_at(Place { stack, vault: index, ..Place::default() }, next);
        for completion in done.drain(..) {
            self.completed(completion);
        }
        self.done = done;
    }

    fn completed(&mut self, completion: Completion) {
        let number = completion.id as u32;
        let finish = self.timing.dram.time(completion.finish);
        let travel = self.travels.get_mut(number).expect("a request of the banks");
        travel.bursts -= 1;
        if travel.bursts > 0 {
            return;
        }
        let Travel { request, place, silent, .. } = *travel;
        let vault = &mut self.stacks[place.stack as usize].vaults[place.vault as usize];
        match request.ask {
            _ if silent => {
                self.travels.remove(number);
            }
            Ask::Load => {
                let end = vault.cross(&self.timing, finish, self.line_bytes);
                self.schedule(end, Step::Served, number);
            }
            Ask::Store => self.schedule(finish, Step::Served, number),
            Ask::Atomic => {
                let bytes = self.line_bytes.min(request.bytes.max(request.answer)).max(1);
                let there = vault.cross(&self.timing, finish, bytes);
                // Lanes are served one after another, and the line is written again.
                let changed = there + Time::from(request.lanes) * self.sm_clock.period;
                self.counts.flow.atomic_lanes += u64::from(request.lanes);
                let written = vault.cross(&self.timing, changed, bytes);
                let bursts = request.bursts.count_ones();
                let write =
                    Travel { request, place, next: None, silent: true, to_host: false, bursts };
                let id = self.travels.insert(write);
                let timing = self.timing;
                let vault = &mut self.stacks[place.stack as usize].vaults[place.vault as usize];
                let next = vault.ask(&timing, written, id, Kind::Write, place, request.bursts);
                self.look_at(place, next);
                self.schedule(changed, Step::Served, number);
            }
            Ask::Offload | Ask::Return => unreachable!("blocks do not go to banks"),
        }
    }

    /// A stack answers.
    fn served(
        &mut self,
        time: Time,
        number: u32,
        out: &mut Vec<Answer>,
        timeline: &mut Option<Timeline>,
    ) {
        let Travel { request, place, to_host, .. } = *self.travels.get(number).expect("a request");
        let bytes = self.answer_packet(&request);
        let from = place.stack as usize;
        if to_host {
            // What is still on its way when the data has been copied comes in time, too.
            let end = self.host.as_mut().map_or(time, |host| host.down.send(time, bytes).1);
            return self.schedule(end, Step::Back, number);
        }
        match self.stack_of(request.sm) {
            Some(to) if to == from => {
                self.travels.remove(number);
                self.answer(time + self.switch, &request, out);
            }
            Some(to) => {
                let (_, end) = self.stacks[from].cross[to].send(time, bytes);
                self.schedule(end, Step::Back, number);
            }
            None => {
                let (start, end) = self.stacks[from].rx.send(time, bytes);
                if let Some(timeline) = timeline {
                    timeline.link(from, 1, "answer", start, end);
                }
                self.schedule(end, Step::Back, number);
            }
        }
    }

    /// An answer comes to where it was asked for: the GPU, or another stack.
    fn back(&mut self, time: Time, number: u32, out: &mut Vec<Answer>) {
        let Travel { request, place, .. } = *self.travels.get(number).expect("a request");
        if request.sm >= self.gpu_sms {
            self.travels.remove(number);
            return self.answer(time + self.switch, &request, out);
        }
        if request.ask == Ask::Return {
            // To the port of the cluster of the warp that waits.
            let bytes = self.packet.interconnect_header + request.answer;
            self.counts.flow.interconnect_down += u64::from(bytes);
            let each = (self.slices.len() / self.stacks.len()).max(1);
            let index = (place.stack as usize * each) % self.slices.len();
            let (_, end) = self.slices[index].out.send(time, bytes);
            self.answers.push(end, number);
            return;
        }
        if request.ask != Ask::Load {
            return self.send_to_cluster(time, number);
        }
        let index = self.slice_of(request.line, place);
        let slice = &mut self.slices[index];
        slice.cache.fill(request.line);
        let last = slice.misses.remove(&request.line).expect("a line that was asked for");
        // The chain begins with the last one.
        let mut chain = vec![last];
        while let Some(next) = self.travels.get(chain[chain.len() - 1]).and_then(|t| t.next) {
            chain.push(next);
        }
        for number in chain.into_iter().rev() {
            self.send_to_cluster(time, number);
        }
        while let Some(number) = self.slices[index].waiting.pop_front() {
            // Put back behind those that wait, where it finds no place again.
            if !self.look_up(time, index, number) {
                self.slices[index].waiting.rotate_right(1);
                break;
            }
        }
    }

    /// Goes on to the end of a launch: counts are complete then.
    pub fn finish(&mut self, end: Time) {
        let cycle = end / self.timing.dram.period;
        let mut done = Vec::new();
        for stack in &mut self.stacks {
            for vault in &mut stack.vaults {
                vault.finish(cycle, &mut done);
            }
        }
        for stack in 0..self.stacks.len() {
            let Stack { tx, rx, cross, vaults } = &self.stacks[stack];
            let (counts, dram) = (&mut self.counts.flow, &mut self.counts.dram);
            counts.tx_bytes += tx.bytes;
            counts.rx_bytes += rx.bytes;
            counts.tx_packets += tx.packets;
            counts.rx_packets += rx.packets;
            counts.tx_busy += tx.busy;
            counts.rx_busy += rx.busy;
            counts.cross_bytes += cross.iter().map(|link| link.bytes).sum::<u64>();
            counts.cross_packets += cross.iter().map(|link| link.packets).sum::<u64>();
            for vault in vaults {
                counts.tsv_bytes += vault.tsv_bytes;
                counts.tsv_cycles += vault.tsv_cycles;
                dram.add(vault.banks());
            }
        }
    }
}
