//! Values that are read many iterations later are handed on by operations of their own, so that no value
//! lives longer than registers of a PE last, and readers of one value gather round several of them: a
//! delay line with taps. Not at an interval of one, at which a PE does one thing, and nobody can stand
//! where a value waits but who made it.

use nbcc_isa_sdpnm::config::Opcode;

use super::body::{Body, Node, Operand};

/// Iterations between two stations of a line.
const STATION: u32 = 4;

/// From so many iterations on values are handed on.
const MIN_DISTANCE: u32 = 8;

/// Adds the stations.
pub fn run(body: &mut Body) {
    let mut farthest = vec![0; body.nodes.len()];
    for node in &body.nodes {
        for operand in [node.in1, node.in2] {
            if let Operand::Node { node, distance } = operand {
                farthest[node] = distance.max(farthest[node]);
            }
        }
    }
    let count = body.nodes.len();
    for (from, &most) in farthest.iter().enumerate().filter(|(_, most)| **most >= MIN_DISTANCE) {
        let mut stations = vec![from];
        for passed in (STATION..=most).step_by(STATION as usize) {
            let origin = &body.nodes[from];
            let node = Node {
                in1: Operand::Node { node: stations[stations.len() - 1], distance: STATION },
                // It runs before the first iteration where its value does.
                ahead: if origin.ahead > 0 { (most - passed) as u16 } else { 0 },
                initial: origin.initial,
                name: format!("{}_{passed}", origin.name),
                span: origin.span,
                ..Node::new(Opcode::Pass)
            };
            stations.push(body.nodes.len());
            body.nodes.push(node);
        }
        for node in &mut body.nodes[..count] {
            for operand in [&mut node.in1, &mut node.in2] {
                if let Operand::Node { node, distance } = operand
                    && *node == from
                {
                    let station = (*distance / STATION) as usize;
                    (*node, *distance) = (stations[station], *distance % STATION);
                }
            }
        }
    }
}
