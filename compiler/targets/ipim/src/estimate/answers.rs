//! When requests of all vaults for a copy are answered: those that hold what all ask for have one port
//! each, and what comes from other cubes goes over few links.

use nbcc_isa_ipim::Machine;

use crate::plan::{BufferPlan, Relay, holders, relay};

/// Requests and answers meet at routers, so that ports and links are not always busy.
const BUSY: (u64, u64) = (8, 9);

/// Atoms of a part that vaults hand on.
const REQUESTED: u64 = 64;

/// The cycle in which the last answer is there, where each vault that takes part makes so many requests
/// for a copy of one buffer in another; `again` in the second of two kernels that make it.
pub fn last(requests: u64, [from, to]: [&BufferPlan; 2], again: bool, machine: &Machine) -> u64 {
    let [cubes, vaults] = [machine.hierarchy.cubes, machine.hierarchy.vaults];
    let (asking, holding) = match (relay(machine, from, to), again) {
        (Relay::ByCubes, false) => (cubes, holders(machine, from)),
        (Relay::ByCubes, true) => (vaults, 1),
        (Relay::ByParts, true) => (vaults, (requests / REQUESTED).clamp(1, vaults.into()) as u32),
        (Relay::ByParts | Relay::Direct, _) => (holders(machine, to), holders(machine, from)),
    };
    if asking.max(holding) == 1 {
        return 0;
    }
    let all = requests.saturating_mul(asking.into());
    let network = &machine.network;
    let [ask, answer] = [0, machine.memory.atom_bytes].map(|bytes| u64::from(network.flits(bytes)));
    let ports = all.saturating_mul(answer) / u64::from(holding);
    // Half of what is held lies in either half of the mesh of cubes, and half of those who ask.
    let inside = again || holding <= vaults;
    let links = match machine.cube_mesh().into_iter().min() {
        Some(across) if cubes > 1 && !inside => {
            all.saturating_mul(ask + answer) / (4 * u64::from(across))
        }
        _ => 0,
    };
    ports.max(links).saturating_mul(BUSY.1) / BUSY.0
}
