//! Data-flow graphs and their mappings on an array, as data: the contract between whoever makes a
//! mapping and whoever checks or runs it. `docs/mapping.md` states it in words.

/// The operations of one iteration and what they hand to each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// What the graph is called.
    pub name: String,
    /// The operations. An edge names them by their place in this list.
    pub nodes: Vec<Node>,
    /// Who reads whose value. Two edges may join the same nodes.
    pub edges: Vec<Edge>,
}

/// An operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its name, of which there is only one.
    pub id: String,
    /// What it does, in free words; some of them say where it may go.
    pub op: String,
}

/// `to` reads what `from` computed `distance` iterations before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The producer, by its place in the list of nodes.
    pub from: usize,
    /// The consumer, by its place in the list of nodes.
    pub to: usize,
    /// In iterations.
    pub distance: u32,
}

impl Node {
    /// Whether it takes a PE: immediates and global registers do not, and edges of theirs ask for
    /// nothing.
    pub fn is_placed(&self) -> bool {
        !matches!(self.op.as_str(), "const" | "input")
    }

    /// Whether it takes a port of the shared memory.
    pub fn is_memory(&self) -> bool {
        matches!(self.op.as_str(), "load" | "store")
    }
}

impl Graph {
    /// Whether both ends of an edge are placed.
    pub fn is_routed(&self, edge: &Edge) -> bool {
        self.nodes[edge.from].is_placed() && self.nodes[edge.to].is_placed()
    }
}

/// Where and when something is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The PE.
    pub pe: usize,
    /// The cycle, in iteration 0 of the operation or of the value that is carried.
    pub cycle: u64,
}

/// What holds a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Holder {
    /// The node that computed it.
    Producer,
    /// A route that carries it, by its place in the list of routes.
    Route(usize),
}

/// An operation that hands a value on and takes a PE for a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The node whose value it carries, by its place in the list of nodes.
    pub value: usize,
    /// Where it reads the value.
    pub from: Holder,
    /// Where and when.
    pub spot: Spot,
}

/// A graph on an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// The initiation interval in cycles, at least 1.
    pub ii: u32,
    /// The spot of each node, in the order of the graph; `None` for those that are not placed.
    pub spots: Vec<Option<Spot>>,
    /// All routes.
    pub routes: Vec<Route>,
    /// Where the consumer of each edge reads, in the order of the graph; `None` for edges that ask
    /// for nothing.
    pub via: Vec<Option<Holder>>,
}
