//! What a choice of sides costs: bytes over the TSVs, each counted as often as its instruction is
//! expected to execute. Instructions are nodes that are near or far; of a register, those that write
//! it and those that read it are a net.
//!
//! A near instruction is sent up and its return down. What an access sends depends on whether a near-bank
//! unit is expected to do it whole (`reach.rs`); else what it stores is read far. A register that is read on another side than
//! where it was written is moved, once for all that read it there until it is written again (the
//! register track table): so often at most as it is written on the one side, and so often at most as
//! it is read on the other.

use cranelift_entity::SecondaryMap;
use nbcc_base::Span;
use nbcc_isa::Instruction;
use nbcc_isa_mpu::Machine;
use nbcc_isa_mpu::location::{Near, Rule, Side, for_each_operand, rule};
use nbcc_isa_simt::{Inst, LANES, RegClass};
use nbcc_mach::{Block, InstData, VReg};
use nbcc_simt::backend::select::MachFunction;

use super::reach::Reach;
use super::weights::Weights;

/// Where an operand is read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// On this side, whatever is chosen.
    At(Side),
    /// On the side of a node.
    Of(usize),
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Node {
    /// Where it stands.
    pub at: (Block, usize),
    /// What the hardware says of it.
    pub rule: Rule,
    /// It is a store whose words are sent one by one, of a value that is read far.
    pub apart: bool,
    /// How often it executes.
    pub weight: u64,
    /// Bytes over the TSVs on each side, moves of registers aside.
    pub sent: [u64; 2],
    /// The registers that it reads or writes, each once.
    pub nets: Vec<Own>,
    /// The source it comes from.
    pub span: Option<Span>,
}

impl Node {
    /// Whether a side is to be chosen for it.
    pub fn is_free(&self) -> bool {
        matches!(self.rule, Rule::Free | Rule::SplitByHint)
    }
}

/// What an instruction has of a net.
#[derive(Clone, Copy, Debug)]
pub struct Own {
    /// The register.
    pub vreg: VReg,
    /// It writes the register on its own side.
    pub writes: bool,
    /// It reads the register on its own side.
    pub reads: bool,
}

/// How often a register is written and read on each side.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sums {
    /// Writes, by side.
    pub writes: [u64; 2],
    /// Reads, by side.
    pub reads: [u64; 2],
}

impl Sums {
    /// What the moves cost, of so many bytes each.
    pub fn cost(&self, bytes: u64) -> u64 {
        let Sums { writes, reads } = self;
        // What is never written has no value to move.
        writes[0].min(reads[1]).saturating_add(writes[1].min(reads[0])).saturating_mul(bytes)
    }

    /// All on one side.
    fn all_at(&self, side: Side) -> Sums {
        let at = |sums: [u64; 2]| {
            let mut all = [0; 2];
            all[side as usize] = sums[0].saturating_add(sums[1]);
            all
        };
        Sums { writes: at(self.writes), reads: at(self.reads) }
    }
}

/// What writes and reads a register, with how often.
#[derive(Clone, Debug, Default)]
pub struct Net {
    /// Bytes of a move.
    pub bytes: u64,
    /// Where it is written.
    pub writes: Vec<(End, u64)>,
    /// Where it is read.
    pub reads: Vec<(End, u64)>,
}

impl Net {
    /// How often it is written and read on each side, with each end where `side` says.
    pub fn sums(&self, side: impl Fn(End) -> Side) -> Sums {
        let sum = |ends: &[(End, u64)]| {
            let mut sums = [0u64; 2];
            for &(end, weight) in ends {
                let sum = &mut sums[side(end) as usize];
                *sum = sum.saturating_add(weight);
            }
            sums
        };
        Sums { writes: sum(&self.writes), reads: sum(&self.reads) }
    }
}

/// A function as nodes and nets.
#[derive(Clone, Debug)]
pub struct Model {
    /// Instructions in the order of the function.
    pub nodes: Vec<Node>,
    /// By register.
    pub nets: SecondaryMap<VReg, Net>,
}

/// Bytes of a register of a warp over the TSVs.
pub fn bytes_of(class: RegClass) -> u64 {
    let thread = match class {
        RegClass::Pred => 1,
        RegClass::Word => 4,
        RegClass::Wide => 8,
    };
    thread * LANES as u64
}

impl Model {
    /// The model of a function whose blocks execute so often.
    pub fn new(func: &MachFunction, machine: &Machine, weights: &Weights, reach: &Reach) -> Model {
        let near = Near::of(machine);
        let mut model = Model { nodes: Vec::with_capacity(func.len()), nets: SecondaryMap::new() };
        for (block, data) in &func.blocks {
            for (index, inst) in data.insts.iter().enumerate() {
                let rule = rule(&inst.inst, near);
                let weight = weights[block];
                let number = model.nodes.len();
                let whole = reach.is_whole(block, inst);
                let split = matches!(rule, Rule::Split | Rule::SplitByHint);
                let apart = split && !whole && inst.inst.op.memory_reads().is_empty();
                // Where an operand is with the instruction on either side says whether it follows.
                let mut sides: Vec<Side> = Vec::new();
                let first = side_of(rule, Side::Far);
                for_each_operand(&inst.inst, first, near, |_, side| sides.push(side));
                let mut sides = sides.into_iter();
                let (mut nets, mut read): (Vec<Own>, Vec<(VReg, End)>) = (vec![], vec![]);
                let second = side_of(rule, Side::Near);
                for_each_operand(&inst.inst, second, near, |operand, side| {
                    let end = match sides.next() {
                        _ if apart && side == Side::Near => End::At(Side::Far),
                        Some(other) if other != side => End::Of(number),
                        _ => End::At(side),
                    };
                    let vreg = *operand.reg;
                    let net = &mut model.nets[vreg];
                    net.bytes = bytes_of(operand.class);
                    if operand.role.writes() {
                        net.writes.push((end, weight));
                    }
                    // What an instruction reads twice comes once.
                    if operand.role.reads() && !read.contains(&(vreg, end)) {
                        net.reads.push((end, weight));
                        read.push((vreg, end));
                    }
                    let own = end == End::Of(number);
                    let writes = own && operand.role.writes();
                    let reads = own && operand.role.reads();
                    match nets.iter_mut().find(|known| known.vreg == vreg) {
                        Some(known) => {
                            known.writes |= writes;
                            known.reads |= reads;
                        }
                        None => nets.push(Own { vreg, writes, reads }),
                    }
                });
                let sent =
                    sent(inst, rule, whole, machine).map(|bytes| bytes.saturating_mul(weight));
                let at = (block, index);
                let span = inst.span;
                model.nodes.push(Node { at, rule, apart, weight, sent, nets, span });
            }
        }
        model
    }

    /// The side of an end under a choice.
    pub fn side(&self, sides: &[Side], end: End) -> Side {
        match end {
            End::At(side) => side,
            End::Of(node) => sides[node],
        }
    }

    /// How often a register is written and read on each side under a choice.
    pub fn sums(&self, vreg: VReg, sides: &[Side]) -> Sums {
        self.nets[vreg].sums(|end| self.side(sides, end))
    }

    /// What the moves of a register cost under a choice.
    pub fn net_cost(&self, vreg: VReg, sides: &[Side]) -> u64 {
        self.sums(vreg, sides).cost(self.nets[vreg].bytes)
    }

    /// What a choice costs: a side for each node.
    pub fn cost(&self, sides: &[Side]) -> u64 {
        let sent = self.nodes.iter().zip(sides).map(|(node, &side)| node.sent[side as usize]);
        let nets = self.nets.keys().map(|vreg| self.net_cost(vreg, sides));
        sent.chain(nets).fold(0, u64::saturating_add)
    }

    /// What a node, which is at `now`, and the moves of what it reads and writes cost on each side,
    /// all others staying where `sums` has them; `apart` are all on the other side that it names.
    pub fn sides_cost(
        &self,
        node: usize,
        now: Side,
        sums: &SecondaryMap<VReg, Sums>,
        apart: Option<(VReg, Side)>,
    ) -> [u64; 2] {
        let Node { nets, weight, sent, .. } = &self.nodes[node];
        Side::ALL.map(|side| {
            let cost = nets.iter().map(|own| {
                let mut sums = sums[own.vreg];
                for (sums, is) in [(&mut sums.writes, own.writes), (&mut sums.reads, own.reads)] {
                    sums[now as usize] -= if is { *weight } else { 0 };
                }
                if let Some((vreg, to)) = apart
                    && vreg == own.vreg
                {
                    sums = sums.all_at(to);
                }
                for (sums, is) in [(&mut sums.writes, own.writes), (&mut sums.reads, own.reads)] {
                    sums[side as usize] += if is { *weight } else { 0 };
                }
                sums.cost(self.nets[own.vreg].bytes)
            });
            cost.fold(sent[side as usize], u64::saturating_add)
        })
    }

    /// Registers that something writes or reads.
    pub fn registers(&self) -> impl Iterator<Item = VReg> + '_ {
        let used = |(vreg, net): (VReg, &Net)| {
            (!net.writes.is_empty() || !net.reads.is_empty()).then_some(vreg)
        };
        self.nets.iter().filter_map(used)
    }
}

/// What an instruction sends over the TSVs on each side, in bytes. An access that may be on either has
/// its words sent one by one where it is far or cannot be done whole; a register that is gathered of
/// them goes down where it is to be near.
fn sent(data: &InstData<Inst<VReg>>, rule: Rule, whole: bool, machine: &Machine) -> [u64; 2] {
    let request = u64::from(machine.network.request_bytes);
    let offload = 2 * request;
    let bytes = data.accesses.first().map_or(0, |access| u64::from(access.bytes)) * LANES as u64;
    let stores = data.inst.op.memory_reads().is_empty();
    match (rule, whole) {
        (Rule::Free, _) => [0, offload],
        (Rule::SplitByHint, true) => {
            let words = bytes.div_ceil(machine.memory.bank_io_bytes.into());
            [bytes + words * if stores { offload } else { request }, offload]
        }
        (Rule::SplitByHint, false) if !stores => [0, bytes + request],
        _ => [0, 0],
    }
}

/// The side of an instruction where the one that was chosen has that side.
pub fn side_of(rule: Rule, chosen: Side) -> Side {
    match rule {
        Rule::At(side) => side,
        Rule::Split => Side::Near,
        Rule::Free | Rule::SplitByHint => chosen,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(weight: u64, nets: &[u32]) -> Node {
        let own =
            |&n| Own { vreg: VReg::from_u32(n), writes: n == 0 && weight == 1, reads: weight > 1 };
        let nets = nets.iter().map(own).collect();
        let at = (Block::from_u32(0), 0);
        let (rule, sent) = (Rule::Free, [0, 16 * weight]);
        Node { at, rule, apart: false, weight, sent, nets, span: None }
    }

    #[test]
    fn a_move_counts_once_a_write_and_once_a_read() {
        use Side::{Far, Near};
        let mut model =
            Model { nodes: vec![node(1, &[0]), node(10, &[0])], nets: Default::default() };
        let net = &mut model.nets[VReg::from_u32(0)];
        net.bytes = 128;
        net.writes.push((End::Of(0), 1));
        net.reads.extend([(End::Of(1), 10), (End::At(Far), 10)]);
        assert_eq!(model.cost(&[Far, Far]), 0);
        // Moved once before the loop, and offloaded ten times in it.
        assert_eq!(model.cost(&[Far, Near]), 128 + 160);
        assert_eq!(model.cost(&[Near, Far]), 128 + 16);
        let mut sums = SecondaryMap::new();
        let net = VReg::from_u32(0);
        sums[net] = model.sums(net, &[Far, Far]);
        assert_eq!(model.sides_cost(1, Far, &sums, None), [0, 288]);
        // Were it written near, reading it near would save the move, but not the offload.
        assert_eq!(model.sides_cost(1, Far, &sums, Some((net, Near))), [128, 160]);
    }
}
