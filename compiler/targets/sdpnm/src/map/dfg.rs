//! The part of a graph that takes PEs, numbered densely: what every step of mapping works on.

use nbcc_isa_sdpnm::{Array, Graph};

use super::banks::Banks;

/// The placed nodes of a graph and the edges between them.
#[derive(Clone, Debug)]
pub struct Dfg {
    /// For each operation, its node in the graph.
    pub node: Vec<usize>,
    /// Whether an operation takes a memory port.
    pub is_memory: Vec<bool>,
    /// The edges between operations.
    pub edges: Vec<Dep>,
    /// For each operation, the edges that leave it.
    pub out: Vec<Vec<usize>>,
    /// For each operation, the edges that reach it.
    pub into: Vec<Vec<usize>>,
    /// What must come after what, though no value goes from one to the other: a constraint on times,
    /// which takes no route.
    pub orders: Vec<Dep>,
    /// For each operation, the orders that leave it.
    pub orders_out: Vec<Vec<usize>>,
    /// For each operation, the orders that reach it.
    pub orders_into: Vec<Vec<usize>>,
    /// What is known of the addresses of accesses, by their nodes in the graph.
    pub banks: Option<Banks>,
}

/// A dependence between operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dep {
    /// The producer.
    pub from: usize,
    /// The consumer.
    pub to: usize,
    /// In iterations.
    pub distance: i64,
    /// The edge in the graph; for an order, its place among those that were given.
    pub edge: usize,
}

impl Dfg {
    /// The part of `graph` that takes PEs.
    pub fn new(graph: &Graph) -> Dfg {
        let node: Vec<usize> =
            (0..graph.nodes.len()).filter(|&n| graph.nodes[n].is_placed()).collect();
        let mut number = vec![usize::MAX; graph.nodes.len()];
        for (op, &n) in node.iter().enumerate() {
            number[n] = op;
        }
        let is_memory = node.iter().map(|&n| graph.nodes[n].is_memory()).collect();
        let routed = graph.edges.iter().enumerate().filter(|(_, e)| graph.is_routed(e));
        let edges: Vec<Dep> = routed
            .map(|(edge, e)| Dep {
                from: number[e.from],
                to: number[e.to],
                distance: i64::from(e.distance),
                edge,
            })
            .collect();
        let (out, into) = ends(node.len(), &edges);
        let none = vec![Vec::new(); node.len()];
        Dfg {
            node,
            is_memory,
            edges,
            out,
            into,
            orders: Vec::new(),
            orders_out: none.clone(),
            orders_into: none,
            banks: None,
        }
    }

    /// The same where operations also come in order.
    pub fn ordered(self, orders: Vec<Dep>) -> Dfg {
        let (orders_out, orders_into) = ends(self.len(), &orders);
        Dfg { orders, orders_out, orders_into, ..self }
    }

    /// Whether times keep all orders.
    pub fn keeps_orders(&self, time: &[i64], ii: i64) -> bool {
        self.orders.iter().all(|o| time[o.to] + o.distance * ii > time[o.from])
    }

    /// How many operations there are.
    pub fn len(&self) -> usize {
        self.node.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.node.is_empty()
    }

    /// Cycles from the producer's to the consumer's, given when each runs.
    pub fn slack(&self, edge: usize, time: &[i64], ii: i64) -> i64 {
        let e = &self.edges[edge];
        time[e.to] + e.distance * ii - time[e.from]
    }
}

/// For each operation, the dependences that leave it, and those that reach it.
fn ends(operations: usize, deps: &[Dep]) -> (Vec<Vec<usize>>, Vec<Vec<usize>>) {
    let mut out = vec![Vec::new(); operations];
    let mut into = vec![Vec::new(); operations];
    for (number, dep) in deps.iter().enumerate() {
        out[dep.from].push(number);
        into[dep.to].push(number);
    }
    (out, into)
}

/// An array with what is looked up all the time.
#[derive(Clone, Debug)]
pub struct Grid {
    /// The array.
    pub array: Array,
    /// How many PEs there are.
    pub pes: usize,
    /// The Manhattan distance within which outputs are read: both kinds of links are such balls.
    pub radius: i32,
    /// Manhattan distance of each pair of PEs, row by row.
    distance: Vec<u8>,
    /// For each PE, those that it reads and that read it, itself included.
    pub near: Vec<Vec<usize>>,
}

impl Grid {
    /// The tables of `array`.
    pub fn new(array: &Array) -> Grid {
        let pes = array.pes();
        let mut distance = Vec::with_capacity(pes * pes);
        for (a, b) in (0..pes).flat_map(|a| (0..pes).map(move |b| (a, b))) {
            let (p, q) = (array.position(a), array.position(b));
            distance.push((p.0.abs_diff(q.0) + p.1.abs_diff(q.1)) as u8);
        }
        let reach = array.links.offsets().iter().map(|(r, c)| r.abs() + c.abs()).max();
        let near = (0..pes).map(|pe| array.sources(pe).collect()).collect();
        Grid { array: array.clone(), pes, radius: reach.unwrap_or(0), distance, near }
    }

    /// The Manhattan distance of two PEs.
    #[inline]
    pub fn distance(&self, a: usize, b: usize) -> i32 {
        i32::from(self.distance[a * self.pes + b])
    }
}
