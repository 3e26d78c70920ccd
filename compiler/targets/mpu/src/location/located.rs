//! What is decided of a kernel: where its registers live, and what that costs.

use nbcc_isa_mpu::location::Side;
use nbcc_mach::VReg;
use nbcc_placement::Placement;

use super::annotate::{Label, Labels};
use super::model::Model;

/// Where the registers of a kernel live, and what that costs.
#[derive(Clone, Debug)]
pub struct Location {
    /// The places of registers.
    pub places: Placement<VReg, Side>,
    /// The labels of Algorithm 1, whatever the policy.
    pub labels: Labels,
    /// Whether the policy gave up, so that hints are those of Algorithm 1.
    pub gave_up: bool,
    /// The side of each instruction; of those without a hint, near where it can be.
    pub sides: Vec<Side>,
    /// What choices cost.
    pub model: Model,
}

/// What share of the registers of a kernel has each label: near, far, both, in parts of a hundred.
pub fn shares(located: &Location) -> [f64; 3] {
    let mut counts = [0u32; 3];
    for vreg in located.model.registers() {
        match located.labels[vreg] {
            Label::Near => counts[0] += 1,
            // Nothing known: the hardware falls back to the subcore.
            Label::Far | Label::Unknown => counts[1] += 1,
            Label::Both => counts[2] += 1,
        }
    }
    let all = counts.iter().sum::<u32>().max(1);
    counts.map(|count| 100.0 * f64::from(count) / f64::from(all))
}
