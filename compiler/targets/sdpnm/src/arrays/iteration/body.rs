//! One iteration of a loop as operations of PEs: what is mapped on an array.

use nbcc_analysis::Affine;
use nbcc_base::Span;
use nbcc_ir::{Mem, Value};
use nbcc_isa_sdpnm::config::{Memory, Opcode, Options};

/// Where a word comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operand {
    /// Zero.
    #[default]
    None,
    /// What an operation computed `distance` iterations before.
    Node {
        /// The operation.
        node: usize,
        /// In iterations.
        distance: u32,
    },
    /// What the loop carries, by its place in a list that is gone once the body is complete.
    Carried(usize),
    /// A global register, by its place in [`Body::globals`].
    Global(usize),
    /// A constant.
    Immediate(i32),
}

impl Operand {
    /// What an operation computes in the same iteration.
    pub fn node(node: usize) -> Operand {
        Operand::Node { node, distance: 0 }
    }
}

/// An operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// What it does.
    pub op: Opcode,
    /// Its options.
    pub options: Options,
    /// The first word.
    pub in1: Operand,
    /// The second.
    pub in2: Operand,
    /// Whose bit of the same iteration it takes.
    pub in3: Option<usize>,
    /// The operation whose bit of the same iteration says whether it runs.
    pub condition: Option<usize>,
    /// The element of a load or store.
    pub memory: Memory,
    /// The global register that it puts out before the first iteration.
    pub initial: Option<usize>,
    /// Iterations before the first in which it runs.
    pub ahead: u16,
    /// The global register that takes its last result.
    pub export: Option<usize>,
    /// What the source calls it, or what it does.
    pub name: String,
    /// Where it comes from.
    pub span: Option<Span>,
}

impl Node {
    /// An operation of nothing, which nobody named.
    pub fn new(op: Opcode) -> Node {
        Node {
            op,
            options: Options::default(),
            in1: Operand::None,
            in2: Operand::None,
            in3: None,
            condition: None,
            memory: Memory::default(),
            initial: None,
            ahead: 0,
            export: None,
            name: String::new(),
            span: None,
        }
    }
}

/// Which word of an element is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The low one, the sign above it.
    Signed,
    /// The low one, zeros above it.
    Unsigned,
    /// The high one of 64 bits.
    High,
}

/// What a global register holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Global {
    /// A value from before the loop, its sign above it.
    Value(Value),
    /// A form over such values times a factor.
    Form(Affine, i32),
    /// The low halves of two values, the first one in the low half.
    Pair(Value, Value),
    /// The address of the element of that number; bytes of an element.
    Address(Mem, Affine, u32),
    /// A word of that element before the loop.
    Element(Mem, Affine, Part),
    /// A constant.
    Constant(i32),
    /// The high word of a value of 64 bits from before the loop.
    High(Value),
    /// The number of the last element of an object.
    Last(Mem),
    /// Where the words are that the core leaves for the array ([`super::build::Built::spilled`]).
    Spilled,
    /// What the array exports.
    Export,
}

/// `to` runs after `from` of as many iterations before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Order {
    /// The first.
    pub from: usize,
    /// The second.
    pub to: usize,
    /// In iterations.
    pub distance: u32,
    /// In so many more, where accesses are as far apart as [`super::build::Built::apart`] asks.
    pub more: u32,
}

/// One iteration.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// The operations.
    pub nodes: Vec<Node>,
    /// What is in order for the sake of memory alone.
    pub orders: Vec<Order>,
    /// What global registers hold.
    pub globals: Vec<Global>,
}

/// What an edge of a body is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port {
    /// The first word.
    In1,
    /// The second word.
    In2,
    /// The bit.
    In3,
    /// The bit that says whether it runs.
    Condition,
    /// The order of accesses to memory.
    Order,
}

/// An edge of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The producer.
    pub from: usize,
    /// The consumer.
    pub to: usize,
    /// In iterations.
    pub distance: u32,
    /// What it is for.
    pub port: Port,
}

impl Body {
    /// All edges, node by node, those of order last.
    pub fn edges(&self) -> Vec<Edge> {
        let mut edges = Vec::new();
        for (to, node) in self.nodes.iter().enumerate() {
            for (operand, port) in [(node.in1, Port::In1), (node.in2, Port::In2)] {
                if let Operand::Node { node: from, distance } = operand {
                    edges.push(Edge { from, to, distance, port });
                }
            }
            for (bit, port) in [(node.in3, Port::In3), (node.condition, Port::Condition)] {
                if let Some(from) = bit {
                    edges.push(Edge { from, to, distance: 0, port });
                }
            }
        }
        let order =
            |o: &Order| Edge { from: o.from, to: o.to, distance: o.distance, port: Port::Order };
        edges.extend(self.orders.iter().map(order));
        edges
    }

    /// The same where accesses are as far apart as [`super::build::Built::apart`] asks.
    pub fn apart(&self) -> Body {
        let mut body = self.clone();
        for order in &mut body.orders {
            order.distance += std::mem::take(&mut order.more);
        }
        body
    }

    /// Removes operations and global registers that nothing needs.
    pub fn sweep(&mut self) -> Numbers {
        let is_root = |node: &Node| node.op == Opcode::Store || node.export.is_some();
        let mut is_live: Vec<bool> = self.nodes.iter().map(is_root).collect();
        let mut work: Vec<usize> = (0..is_live.len()).filter(|&node| is_live[node]).collect();
        while let Some(number) = work.pop() {
            let node = &self.nodes[number];
            let words = [node.in1, node.in2].into_iter().filter_map(|word| match word {
                Operand::Node { node, .. } => Some(node),
                _ => None,
            });
            for from in words.chain(node.in3).chain(node.condition) {
                if !std::mem::replace(&mut is_live[from], true) {
                    work.push(from);
                }
            }
        }
        let numbers = numbered(is_live);
        let mut nodes = std::mem::take(&mut self.nodes);
        let mut number = 0..;
        nodes.retain(|_| number.next().is_some_and(|number: usize| numbers[number].is_some()));
        let mut is_read = vec![false; self.globals.len()];
        for node in &nodes {
            for word in [node.in1, node.in2] {
                if let Operand::Global(number) = word {
                    is_read[number] = true;
                }
            }
            node.initial.iter().chain(&node.export).for_each(|&number| is_read[number] = true);
        }
        let registers = numbered(is_read);
        for node in &mut nodes {
            for word in [&mut node.in1, &mut node.in2] {
                match word {
                    Operand::Node { node, .. } => *node = numbers[*node].expect("it is read"),
                    Operand::Global(number) => *number = registers[*number].expect("it is read"),
                    _ => {}
                }
            }
            for bit in node.in3.iter_mut().chain(&mut node.condition) {
                *bit = numbers[*bit].expect("it is read");
            }
            for register in node.initial.iter_mut().chain(&mut node.export) {
                *register = registers[*register].expect("it is used");
            }
        }
        self.nodes = nodes;
        let mut number = 0..;
        self.globals
            .retain(|_| number.next().is_some_and(|number: usize| registers[number].is_some()));
        self.orders.retain_mut(|order| {
            let ends = numbers[order.from].zip(numbers[order.to]);
            ends.inspect(|&(from, to)| (order.from, order.to) = (from, to)).is_some()
        });
        Numbers { nodes: numbers, globals: registers }
    }

    /// The numbers that all there is has.
    pub fn numbers(&self) -> Numbers {
        let of = |count: usize| (0..count).map(Some).collect();
        Numbers { nodes: of(self.nodes.len()), globals: of(self.globals.len()) }
    }

    /// Loads and stores.
    pub fn accesses(&self) -> usize {
        let is_access = |node: &&Node| matches!(node.op, Opcode::Load | Opcode::Store);
        self.nodes.iter().filter(is_access).count()
    }
}

/// The new numbers of what stays of a body.
#[derive(Clone, Debug)]
pub struct Numbers {
    /// By the old numbers of operations.
    pub nodes: Vec<Option<usize>>,
    /// By the old numbers of global registers.
    pub globals: Vec<Option<usize>>,
}

impl Numbers {
    /// The numbers after another change.
    pub fn then(self, later: &Numbers) -> Numbers {
        let follow = |numbers: Vec<Option<usize>>, later: &[Option<usize>]| {
            numbers.into_iter().map(|number| number.and_then(|number| later[number])).collect()
        };
        Numbers {
            nodes: follow(self.nodes, &later.nodes),
            globals: follow(self.globals, &later.globals),
        }
    }
}

/// The numbers of what is kept of a list.
fn numbered(is_kept: Vec<bool>) -> Vec<Option<usize>> {
    let mut next = 0..;
    is_kept.into_iter().map(|is_kept| is_kept.then(|| next.next()).flatten()).collect()
}
