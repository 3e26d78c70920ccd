//! The network: a 2-D mesh of routers in each cube, and a 2-D mesh of cubes over
//! serial links. Routers are input queued, with X-Y routing and credits (sections
//! IV.A and IV.E of the iPIM paper).
//!
//! A packet occupies a link for its flits and may leave a router as soon as its head
//! is there (cut-through) if the queue at the other end has room for all of it, or is
//! empty. The head of a queue blocks what is behind it. Outputs serve the queue whose
//! head has waited longest, and the lowest port first among equals. Queues at network
//! interfaces and at serial links are unbounded, so X-Y routing inside a cube is
//! enough to exclude deadlock.
//!
//! Cubes route X-Y as well. The link in direction d of a cube leaves from the router
//! in the middle of that side of its mesh, and arrives at the middle of the opposite
//! side of the neighbour.
//!
//! Time advances from event to event; all happens in an order that depends on packets
//! and cycles alone.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use nbcc_sim_engine::slab::Slab;
use nbcc_sim_engine::{Cycle, NEVER};

use crate::wheel::Wheel;

/// Shape and speed of a network. Nodes are numbered cube by cube, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeshConfig {
    /// Columns and rows of cubes.
    pub cubes: [u32; 2],
    /// Columns and rows of nodes in a cube.
    pub nodes: [u32; 2],
    /// Cycles of a hop between neighbours in a cube, also into and out of the
    /// network; one at least.
    pub hop: Cycle,
    /// Cycles of a hop between cubes, one at least.
    pub serial_hop: Cycle,
    /// Bytes of a flit; a link passes one a cycle.
    pub flit_bytes: u32,
    /// Bytes a cycle of a serial link.
    pub serial_bytes: u32,
    /// Flits that the queue of a router's input holds.
    pub queue_flits: u32,
}

/// Column and row of a cube, column and row of a node in it.
type Place = [u32; 4];

impl MeshConfig {
    fn place(&self, node: u32) -> Place {
        let [columns, rows] = self.nodes;
        let (cube, node) = (node / (columns * rows), node % (columns * rows));
        let cube_columns = self.cubes[0];
        [cube % cube_columns, cube / cube_columns, node % columns, node / columns]
    }

    fn node(&self, [cube_x, cube_y, x, y]: Place) -> u32 {
        let [columns, rows] = self.nodes;
        (cube_y * self.cubes[0] + cube_x) * columns * rows + y * columns + x
    }

    /// The router in the middle of a side of a cube.
    fn gateway(&self, direction: usize) -> [u32; 2] {
        let [columns, rows] = self.nodes;
        match direction {
            WEST => [0, rows / 2],
            EAST => [columns - 1, rows / 2],
            NORTH => [columns / 2, 0],
            _ => [columns / 2, rows - 1],
        }
    }

    /// The output that a packet takes at a router.
    #[inline]
    fn output(&self, router: Place, destination: Place) -> usize {
        let [cube_x, cube_y, x, y] = router;
        let [to_cube_x, to_cube_y, to_x, to_y] = destination;
        let toward =
            |from: u32, to: u32, less: usize| (from != to).then_some(less + usize::from(to > from));
        let cube_direction =
            toward(cube_x, to_cube_x, WEST).or_else(|| toward(cube_y, to_cube_y, NORTH));
        let [to_x, to_y] = cube_direction.map_or([to_x, to_y], |d| self.gateway(d));
        toward(x, to_x, WEST)
            .or_else(|| toward(y, to_y, NORTH))
            .unwrap_or_else(|| cube_direction.map_or(LOCAL, |d| SERIAL + d))
    }

    /// The router at the other end of an output; itself where there is none.
    fn neighbour(&self, router: u32, output: usize) -> u32 {
        let [cube_x, cube_y, x, y] = self.place(router);
        let step = |x: u32, y: u32, [columns, rows]: [u32; 2], direction: usize| {
            let [x, y] = match direction {
                WEST => [x.wrapping_sub(1), y],
                EAST => [x + 1, y],
                NORTH => [x, y.wrapping_sub(1)],
                _ => [x, y + 1],
            };
            (x < columns && y < rows).then_some([x, y])
        };
        let there = match output {
            LOCAL => None,
            0..LOCAL => {
                step(x, y, self.nodes, output).map(|[x, y]| self.node([cube_x, cube_y, x, y]))
            }
            _ => {
                let direction = output - SERIAL;
                let [x, y] = self.gateway(opposite(direction));
                let cube = step(cube_x, cube_y, self.cubes, direction);
                cube.map(|[cube_x, cube_y]| self.node([cube_x, cube_y, x, y]))
            }
        };
        there.unwrap_or(router)
    }
}

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Sending node.
    pub source: u32,
    /// Receiving node; may be the sender.
    pub destination: u32,
    /// Its size with its header.
    pub bytes: u32,
    /// Of packets that a node sends in the same cycle, the lowest rank enters first.
    /// Two with the same rank would enter in an order that is not specified.
    pub rank: u64,
    /// What the sender makes of it.
    pub tag: u64,
}

/// A packet has arrived whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// When its last flit left the network.
    pub time: Cycle,
    /// When its head left the last router.
    pub left: Cycle,
    /// The packet.
    pub packet: Packet,
}

/// What a network counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NetworkStats {
    /// Packets delivered.
    pub packets: u64,
    /// Bytes of delivered packets.
    pub bytes: u64,
    /// Bytes times hops between routers of a cube.
    pub mesh_byte_hops: u64,
    /// Bytes times hops between cubes.
    pub serial_byte_hops: u64,
    /// Cycles in which links between routers were busy, over all links.
    pub mesh_busy: u64,
    /// Cycles in which serial links were busy, over all links.
    pub serial_busy: u64,
    /// Sum over packets of the cycles from injection to delivery.
    pub latency: u64,
}

/// Ports of a router: where a packet comes from, or where it goes.
const WEST: usize = 0;
const EAST: usize = 1;
const NORTH: usize = 2;
// South is 3, and a direction's opposite differs in the lowest bit.
/// The network interface.
const LOCAL: usize = 4;
/// Serial links, in the same directions.
const SERIAL: usize = 5;
const PORTS: usize = 9;

fn opposite(direction: usize) -> usize {
    direction ^ 1
}

/// A packet in the network, since when.
#[derive(Clone, Copy, Debug)]
struct Travelling {
    packet: Packet,
    injected: Cycle,
}

/// A packet in a queue: what routers ask for on its way.
#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    /// The cycle at which its head can leave.
    ready: Cycle,
    /// Its number among the packets in the network.
    number: u32,
    destination: u32,
    bytes: u32,
    flits: u32,
    /// Where it leaves the router; a word as the others, so that all of it is copied at once.
    output: u32,
}

#[derive(Clone, Debug)]
struct Router {
    /// Cycles for which the router is to be looked at.
    wake: Cycle,
    /// Inputs whose queue is not empty, a bit each.
    waiting: u16,
    /// Whether a head waits for room in a queue of a neighbour, as far as was seen when the router was
    /// looked at last.
    starved: bool,
    /// Where the head of each of these queues leaves.
    outputs: [u8; PORTS],
    /// When it can.
    ready: [Cycle; PORTS],
    /// The cycle from which each output is free.
    free: [Cycle; PORTS],
    /// Flits in the queue at the other end of each output to a neighbour in the cube, counting packets on
    /// their way to it: who sends knows from what comes back as credit.
    taken: [u32; LOCAL],
    /// The router at the other end of each output; itself where there is none.
    neighbours: [u32; PORTS],
    /// The heads of queues that are not empty.
    heads: [Waiting; PORTS],
    /// What waits behind them.
    behind: [VecDeque<Waiting>; PORTS],
}

impl Router {
    /// Adds a packet to a queue; tells whether it is the first there.
    #[inline]
    fn push(&mut self, input: usize, waiting: Waiting) -> bool {
        let first = self.waiting >> input & 1 == 0;
        if first {
            self.waiting |= 1 << input;
            self.lead(input, waiting);
        } else {
            self.behind[input].push_back(waiting);
        }
        first
    }

    /// A packet is the first one of its queue.
    #[inline]
    fn lead(&mut self, input: usize, head: Waiting) {
        (self.ready[input], self.outputs[input]) = (head.ready, head.output as u8);
        self.heads[input] = head;
    }

    /// Takes the first packet from a queue.
    #[inline]
    fn pop(&mut self, input: usize) {
        match self.behind[input].pop_front() {
            Some(head) => self.lead(input, head),
            None => self.waiting &= !(1 << input),
        }
    }
}

/// The numbers of the bits of a set, in ascending order.
#[inline]
fn bits(mut set: u16) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let next = (set != 0).then(|| set.trailing_zeros() as usize);
        set &= set.wrapping_sub(1);
        next
    })
}

/// A network with the packets in it.
#[derive(Clone, Debug)]
pub struct Network {
    config: MeshConfig,
    routers: Vec<Router>,
    /// Routers to look at.
    events: Wheel,
    /// Those of this cycle.
    due: Vec<u32>,
    /// Packets to enter: (cycle, node, rank, index in `packets`).
    entering: BinaryHeap<Reverse<(Cycle, u32, u64, u32)>>,
    packets: Slab<Travelling>,
    /// Where each node is: routes follow from that, without a division a hop.
    places: Box<[Place]>,
    delivered: VecDeque<Delivery>,
    stats: NetworkStats,
}

impl Network {
    /// An empty network at cycle 0.
    pub fn new(config: MeshConfig) -> Network {
        let count = config.cubes[0] * config.cubes[1] * config.nodes[0] * config.nodes[1];
        let router = |number| Router {
            wake: NEVER,
            waiting: 0,
            starved: false,
            outputs: [0; PORTS],
            ready: [NEVER; PORTS],
            free: [0; PORTS],
            taken: [0; LOCAL],
            neighbours: std::array::from_fn(|output| config.neighbour(number, output)),
            heads: [Waiting::default(); PORTS],
            behind: Default::default(),
        };
        Network {
            routers: (0..count).map(router).collect(),
            places: (0..count).map(|node| config.place(node)).collect(),
            config,
            events: Wheel::new(count as usize),
            due: Vec::new(),
            entering: BinaryHeap::new(),
            packets: Slab::new(),
            delivered: VecDeque::new(),
            stats: NetworkStats::default(),
        }
    }

    /// Counters so far.
    pub fn stats(&self) -> NetworkStats {
        self.stats
    }

    /// Directed links between routers of a cube, over all cubes.
    pub fn mesh_links(&self) -> u64 {
        let [columns, rows] = self.config.nodes.map(u64::from);
        let [cube_columns, cube_rows] = self.config.cubes.map(u64::from);
        2 * ((columns - 1) * rows + columns * (rows - 1)) * cube_columns * cube_rows
    }

    /// Directed serial links.
    pub fn serial_links(&self) -> u64 {
        let [columns, rows] = self.config.cubes.map(u64::from);
        2 * ((columns - 1) * rows + columns * (rows - 1))
    }

    /// Packets that have not been delivered.
    pub fn in_flight(&self) -> usize {
        self.packets.len()
    }

    /// The next cycle at which something happens to a packet.
    pub fn next_event(&self) -> Option<Cycle> {
        let event = self.events.next();
        let entry = self.entering.peek().map(|Reverse((cycle, ..))| *cycle);
        event.into_iter().chain(entry).min()
    }

    /// Hands a packet to the interface of its source at `time`, which must not lie
    /// before what [`Network::step`] was told.
    ///
    /// # Panics
    /// When a node does not exist.
    pub fn inject(&mut self, time: Cycle, packet: Packet) {
        let count = self.routers.len() as u32;
        assert!(
            packet.source < count && packet.destination < count,
            "packet from node {} to node {} of {count}",
            packet.source,
            packet.destination
        );
        let slot = self.packets.insert(Travelling { packet, injected: time });
        self.entering.push(Reverse((time, packet.source, packet.rank, slot)));
    }

    /// Moves packets until one is delivered, or until nothing is left to happen
    /// before cycle `until`. Deliveries come in the order in which packets leave
    /// their last router; their times may lie at or after `until`.
    pub fn step(&mut self, until: Cycle) -> Option<Delivery> {
        loop {
            if let Some(delivery) = self.delivered.pop_front() {
                return Some(delivery);
            }
            let now = self.next_event()?;
            if now >= until {
                return None;
            }
            while let Some(Reverse((cycle, node, _, slot))) = self.entering.peek().copied()
                && cycle == now
            {
                self.entering.pop();
                self.enter(now, node, slot);
            }
            // What happens now wakes nothing before the next cycle.
            let mut due = std::mem::take(&mut self.due);
            self.events.take(now, &mut due);
            for router in due.drain(..) {
                let state = &mut self.routers[router as usize];
                if state.wake == now {
                    state.wake = NEVER;
                    self.route(router, now);
                }
            }
            self.due = due;
        }
    }

    fn enter(&mut self, now: Cycle, node: u32, number: u32) {
        let Packet { bytes, destination, .. } =
            self.packets.get(number).expect("an injected packet").packet;
        let (flits, ready) = (self.flits(bytes), now + self.config.hop);
        let output = self.output(node, destination);
        let waiting = Waiting { ready, number, destination, bytes, flits, output };
        if self.routers[node as usize].push(LOCAL, waiting) {
            self.wake(node, ready);
        }
    }

    fn flits(&self, bytes: u32) -> u32 {
        bytes.div_ceil(self.config.flit_bytes).max(1)
    }

    /// Looks at a router again at `cycle` at the latest.
    fn wake(&mut self, router: u32, cycle: Cycle) {
        let state = &mut self.routers[router as usize];
        if cycle < state.wake {
            state.wake = cycle;
            self.events.push(cycle, router);
        }
    }

    /// The output that a packet takes at a router.
    #[inline]
    fn output(&self, router: u32, destination: u32) -> u32 {
        let [router, destination] = [router, destination].map(|node| self.places[node as usize]);
        self.config.output(router, destination) as u32
    }

    /// The input of the neighbour at which an output ends.
    fn entrance(output: usize) -> usize {
        if output < LOCAL { opposite(output) } else { SERIAL + opposite(output - SERIAL) }
    }

    /// Sends what can leave a router at `now`.
    ///
    /// It is looked at again when a head is ready whose output is free. While one waits for room it is
    /// looked at whenever anything changes, since of two that become ready meanwhile the order counts.
    fn route(&mut self, router: u32, now: Cycle) {
        if self.routers[router as usize].waiting.is_power_of_two() {
            return self.route_alone(router, now);
        }
        // The input of the best head an output, where one is wanted.
        let mut chosen = [0_u8; PORTS];
        let (mut wanted, mut contended, mut again) = (0_u16, 0_u16, NEVER);
        let state = &self.routers[router as usize];
        for input in bits(state.waiting) {
            let (ready, output) = (state.ready[input], state.outputs[input]);
            if ready > now {
                again = again.min(ready);
                continue;
            }
            let (bit, chosen) = (1 << output, &mut chosen[usize::from(output)]);
            if wanted & bit == 0 {
                (wanted, *chosen) = (wanted | bit, input as u8);
            } else {
                contended |= bit;
                // Of equals the first.
                if ready < state.ready[usize::from(*chosen)] {
                    *chosen = input as u8;
                }
            }
        }
        let (mut starved, mut sent) = (false, false);
        for output in bits(wanted) {
            let input = usize::from(chosen[output]);
            let free = self.routers[router as usize].free[output];
            if free > now {
                again = again.min(free);
            } else if self.forward(router, input, output, now) {
                sent = true;
                let state = &self.routers[router as usize];
                if state.waiting >> input & 1 != 0 {
                    again = again.min(state.ready[input].max(now + 1));
                }
                if contended >> output & 1 != 0 {
                    again = again.min(state.free[output]);
                }
            } else {
                // The neighbour wakes this router when it has room.
                starved = true;
            }
        }
        if starved && (sent || contended != 0) {
            again = again.min(now + 1);
        }
        self.routers[router as usize].starved = starved;
        if again != NEVER {
            self.wake(router, again);
        }
    }

    /// The same where heads of no other queues wait.
    fn route_alone(&mut self, router: u32, now: Cycle) {
        let state = &self.routers[router as usize];
        let input = state.waiting.trailing_zeros() as usize % PORTS;
        let (ready, output) = (state.ready[input], usize::from(state.outputs[input]));
        let first = ready.max(state.free[output]);
        let (mut starved, mut again) = (false, first);
        if first <= now {
            starved = !self.forward(router, input, output, now);
            let state = &self.routers[router as usize];
            let another = !starved && state.waiting >> input & 1 != 0;
            again = if another { state.ready[input].max(now + 1) } else { NEVER };
        }
        self.routers[router as usize].starved = starved;
        if again != NEVER {
            self.wake(router, again);
        }
    }

    /// Sends the head of an input queue over an output; false when there is no room
    /// at the other end.
    fn forward(&mut self, router: u32, input: usize, output: usize, now: Cycle) -> bool {
        let state = &mut self.routers[router as usize];
        let head = state.heads[input];
        let (bytes, flits) = (head.bytes, head.flits);
        if let Some(taken) = state.taken.get_mut(output) {
            if *taken > 0 && *taken + flits > self.config.queue_flits {
                return false;
            }
            *taken += flits;
        }
        let occupied = if output >= SERIAL {
            Cycle::from(bytes.div_ceil(self.config.serial_bytes).max(1))
        } else {
            Cycle::from(flits)
        };
        if output == LOCAL {
            let time = now + self.config.hop + occupied - 1;
            self.stats.packets += 1;
            self.stats.bytes += u64::from(bytes);
            let Travelling { packet, injected } = self.packets.remove(head.number);
            self.stats.latency += time - injected;
            self.delivered.push_back(Delivery { time, left: now, packet });
        } else {
            let next = self.routers[router as usize].neighbours[output];
            let entrance = Network::entrance(output);
            let serial = output >= SERIAL;
            let hop = if serial { self.config.serial_hop } else { self.config.hop };
            let (byte_hops, busy) = if serial {
                (&mut self.stats.serial_byte_hops, &mut self.stats.serial_busy)
            } else {
                (&mut self.stats.mesh_byte_hops, &mut self.stats.mesh_busy)
            };
            *byte_hops += u64::from(bytes);
            *busy += occupied;
            let ready = now + hop;
            let output = self.output(next, head.destination);
            let waiting = Waiting { ready, output, ..head };
            if self.routers[next as usize].push(entrance, waiting) {
                self.wake(next, ready);
            }
        }
        let state = &mut self.routers[router as usize];
        state.pop(input);
        state.free[output] = now + occupied;
        if input < LOCAL {
            // The credit goes back to the router at the other end of this input.
            let from = state.neighbours[input];
            let sender = &mut self.routers[from as usize];
            sender.taken[opposite(input)] -= flits;
            if sender.starved {
                self.wake(from, now + 1);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> MeshConfig {
        MeshConfig {
            cubes: [2, 2],
            nodes: [4, 4],
            hop: 1,
            serial_hop: 1,
            flit_bytes: 16,
            serial_bytes: 16,
            queue_flits: 8,
        }
    }

    fn packet(source: u32, destination: u32, bytes: u32, tag: u64) -> Packet {
        Packet { source, destination, bytes, rank: tag, tag }
    }

    fn drain(network: &mut Network) -> Vec<(u64, Cycle)> {
        let mut out = Vec::new();
        while let Some(delivery) = network.step(NEVER) {
            out.push((delivery.packet.tag, delivery.time));
        }
        assert_eq!(network.in_flight(), 0);
        out
    }

    #[test]
    fn a_lone_packet_takes_a_hop_in_one_a_link_and_one_out() {
        let mut network = Network::new(config());
        // From (0, 0) to (3, 2): five links; the second flit comes a cycle later.
        network.inject(10, packet(0, 11, 32, 1));
        assert_eq!(drain(&mut network), [(1, 10 + 1 + 5 + 1 + 1)]);
        assert_eq!(network.stats().mesh_byte_hops, 5 * 32);
        assert_eq!(network.stats().mesh_busy, 5 * 2);
        network.inject(30, packet(5, 5, 16, 2));
        assert_eq!(drain(&mut network), [(2, 30 + 1 + 1)]);
    }

    #[test]
    fn cubes_are_crossed_from_the_middle_of_a_side() {
        let mut network = Network::new(config());
        // Cube 0 node 0 to cube 1 node 0: to (3, 2), over, from (0, 2) to (0, 0).
        network.inject(0, packet(0, 16, 16, 1));
        assert_eq!(drain(&mut network), [(1, 1 + 5 + 1 + 2 + 1)]);
        assert_eq!(network.stats().serial_byte_hops, 16);
        // Cube 0 to cube 3: first along x through cube 1, then along y.
        network.inject(100, packet(0, 48, 16, 2));
        let to_east = 5 + 1;
        let to_south = 2 + 1 + 1; // from (0, 2) to (2, 3), then over
        let home = 2; // from (2, 0) to (0, 0)
        assert_eq!(drain(&mut network), [(2, 100 + 1 + to_east + to_south + home + 1)]);
    }

    #[test]
    fn links_serve_one_packet_at_a_time_the_longest_waiting_first() {
        let mut network = Network::new(config());
        network.inject(0, packet(0, 2, 64, 1));
        network.inject(1, packet(0, 1, 16, 2));
        network.inject(1, packet(1, 2, 16, 3));
        let times = drain(&mut network);
        // 1: link 0-1 at 1..5, link 1-2 at 2..6, out at 3 + 1 + 3.
        assert!(times.contains(&(1, 7)), "{times:?}");
        // 2 waits for link 0-1 until 5, then goes one hop and out.
        assert!(times.contains(&(2, 7)), "{times:?}");
        // 3 is ready at 2, as is 1 at the same router: port WEST before LOCAL.
        assert!(times.contains(&(3, 8)), "{times:?}");
    }

    #[test]
    fn a_full_queue_holds_its_neighbour_back() {
        let mut shallow = config();
        shallow.queue_flits = 1;
        let mut network = Network::new(shallow);
        // 0 and 1 both go out at node 2's link to 3; whoever loses blocks node 1's input.
        for tag in 0..6 {
            network.inject(0, packet(0, 3, 64, tag));
            network.inject(0, packet(4, 3, 64, 10 + tag));
        }
        let times = drain(&mut network);
        assert_eq!(times.len(), 12);
        // The last link passes 12 packets of 4 flits: nothing is lost, nothing overlaps.
        let mut ends: Vec<Cycle> = times.iter().map(|(_, time)| *time).collect();
        ends.sort_unstable();
        assert!(ends.windows(2).all(|pair| pair[1] - pair[0] >= 4), "{ends:?}");
    }

    /// Random traffic: everything arrives, no earlier than the distance allows, and
    /// the same whether steps are taken at once or cycle by cycle.
    #[test]
    fn all_traffic_arrives_in_any_granularity() {
        let mut seed = 1_u64;
        let mut random = move |below: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % below
        };
        let packets: Vec<(Cycle, Packet)> = (0..3000)
            .map(|tag| {
                let (source, destination) = (random(64) as u32, random(64) as u32);
                (random(400), packet(source, destination, 16 << random(3), tag))
            })
            .collect();
        let mut shallow = config();
        shallow.queue_flits = 2;
        let mut at_once = Network::new(shallow.clone());
        for (time, packet) in &packets {
            at_once.inject(*time, *packet);
        }
        let mut expected = drain(&mut at_once);
        expected.sort_unstable();
        assert_eq!(expected.len(), packets.len());

        let mut by_cycle = Network::new(shallow);
        let mut found = Vec::new();
        for cycle in 0..100_000 {
            for (time, packet) in &packets {
                if *time == cycle {
                    by_cycle.inject(*time, *packet);
                }
            }
            while let Some(delivery) = by_cycle.step(cycle + 1) {
                found.push((delivery.packet.tag, delivery.time));
            }
            if cycle > 400 && by_cycle.in_flight() == 0 {
                break;
            }
        }
        found.sort_unstable();
        assert_eq!(found, expected);
        for ((tag, time), (injected, packet)) in found.iter().zip(&packets) {
            let [ax, ay, x, y] = by_cycle.config.place(packet.source);
            let [bx, by, u, v] = by_cycle.config.place(packet.destination);
            let same_cube = [ax, ay] == [bx, by];
            let hops = if same_cube {
                x.abs_diff(u) + y.abs_diff(v)
            } else {
                ax.abs_diff(bx) + ay.abs_diff(by)
            };
            assert!(*time >= injected + Cycle::from(hops) + 2, "packet {tag}");
        }
    }
}
