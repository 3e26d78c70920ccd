//! The sides of least cost: near and far as the two parts of a minimum s-t cut. Every node that may
//! be on either side is a vertex; what the hardware fixes is the source (near) or the sink (far).
//!
//! A near node cuts its edge to the sink, of what it sends near, a far one that from the source, of what
//! it sends far. For the moves of a register from near to far a vertex stands between what writes it and
//! what reads it: an edge from each write, of what a move at each write costs, and one to each read. On
//! whichever part that vertex is, either all writes near are cut or all reads far are, so the cut takes
//! the lesser of the two as `model.rs` has it (the gadget of a directed hyperedge, Lawler, "Cutsets and partitions of
//! hypergraphs", 1973). Moves from far to near have a vertex with edges the other way round.
//!
//! The flow is Dinic's ([`super::flow`]); of several minimum cuts the one with the fewest nodes near is taken.

use nbcc_isa_mpu::location::Side;

use super::flow::{Network, Vertex};
use super::model::{End, Model};

/// Arcs that are looked at, at most: seconds.
pub const STEPS: u64 = 1 << 28;

/// The sides of least cost, and that cost in bytes; `None` where that takes more than so many steps.
pub fn decide(model: &Model, fixed: &[Side], steps: u64) -> Option<(Vec<Side>, u64)> {
    let mut graph = Network::default();
    let (near, far) = (graph.vertex(), graph.vertex());
    let vertices: Vec<Option<Vertex>> =
        model.nodes.iter().map(|node| node.is_free().then(|| graph.vertex())).collect();
    for (node, vertex) in model.nodes.iter().zip(&vertices) {
        if let Some(vertex) = *vertex {
            graph.arc(vertex, far, node.sent[Side::Near as usize]);
            graph.arc(near, vertex, node.sent[Side::Far as usize]);
        }
    }
    let terminal = |side: Side| if side == Side::Near { near } else { far };
    let place = |end: End| match end {
        End::At(side) => terminal(side),
        End::Of(node) => vertices[node].unwrap_or_else(|| terminal(fixed[node])),
    };
    for vreg in model.registers() {
        let net = &model.nets[vreg];
        let writes: Vec<_> = net.writes.iter().map(|&(end, w)| (place(end), w)).collect();
        let reads: Vec<_> = net.reads.iter().map(|&(end, w)| (place(end), w)).collect();
        // Nothing is cut between vertices that are one.
        let first = writes.first().map(|&(at, _)| at);
        if writes.iter().chain(&reads).all(|&(at, _)| Some(at) == first) || writes.is_empty() {
            continue;
        }
        let (down, up) = (graph.vertex(), graph.vertex());
        for (at, weight) in writes {
            let capacity = weight.saturating_mul(net.bytes);
            if at != far {
                graph.arc(at, down, capacity);
            }
            if at != near {
                graph.arc(up, at, capacity);
            }
        }
        for (at, weight) in reads {
            let capacity = weight.saturating_mul(net.bytes);
            if at != near {
                graph.arc(down, at, capacity);
            }
            if at != far {
                graph.arc(at, up, capacity);
            }
        }
    }
    let flow = graph.send(near, far, steps)?;
    let reached = graph.reached(near);
    let side = |(vertex, &fixed): (&Option<Vertex>, &Side)| match vertex {
        Some(vertex) if reached[*vertex as usize] => Side::Near,
        Some(_) => Side::Far,
        None => fixed,
    };
    Some((vertices.iter().zip(fixed).map(side).collect(), flow))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::location::model::{Net, Node};
    use cranelift_entity::SecondaryMap;
    use nbcc_isa_mpu::location::Rule;
    use nbcc_mach::{Block, VReg};
    use nbcc_testing::Rng;

    fn random(rng: &mut Rng, free: usize) -> Model {
        let node = |rng: &mut Rng| {
            let weight = *rng.pick(&[1, 10, 100]);
            let at = (Block::from_u32(0), 0);
            let sent = [*rng.pick(&[0, 160]) * weight, 16 * weight];
            Node { at, rule: Rule::Free, apart: false, weight, sent, nets: vec![], span: None }
        };
        let nodes: Vec<Node> = (0..free).map(|_| node(rng)).collect();
        let mut nets: SecondaryMap<VReg, Net> = SecondaryMap::new();
        for vreg in (0..2 * free as u32).map(VReg::from_u32) {
            let net = &mut nets[vreg];
            net.bytes = *rng.pick(&[32, 128, 256]);
            let end = |rng: &mut Rng| match rng.below(4) {
                0 => (End::At(*rng.pick(&Side::ALL)), *rng.pick(&[1, 10, 100])),
                _ => {
                    let node = rng.below(free as u64) as usize;
                    (End::Of(node), nodes[node].weight)
                }
            };
            net.writes = (0..1 + rng.below(3)).map(|_| end(rng)).collect();
            net.reads = (0..rng.below(5)).map(|_| end(rng)).collect();
        }
        Model { nodes, nets }
    }

    /// No choice of sides costs less, and the value of the cut is its cost.
    #[test]
    fn the_cut_is_the_best_of_all_choices() {
        let mut rng = Rng::new(7);
        for _ in 0..400 {
            let free = 1 + rng.below(9) as usize;
            let model = random(&mut rng, free);
            let fixed = vec![Side::Far; free];
            let (sides, flow) = decide(&model, &fixed, STEPS).expect("a small model");
            assert_eq!(model.cost(&sides), flow, "{model:?}");
            let choice = |bits: usize| -> Vec<Side> {
                (0..free).map(|n| Side::ALL[bits >> n & 1]).collect()
            };
            let best = (0..1 << free).map(|bits| model.cost(&choice(bits))).min();
            assert_eq!(Some(flow), best, "{model:?}");
        }
    }
    /// Values that are all tangled: it ends, and says so where it does not come to its end in time.
    #[test]
    fn work_is_bounded() {
        let mut rng = Rng::new(11);
        let model = random(&mut rng, 52_000);
        let fixed = vec![Side::Far; model.nodes.len()];
        assert!(decide(&model, &fixed, 1 << 20).is_none());
        if let Some((sides, flow)) = decide(&model, &fixed, 1 << 24) {
            assert_eq!(model.cost(&sides), flow);
        }
    }
}
