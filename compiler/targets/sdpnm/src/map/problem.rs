//! What mappers are asked.

use nbcc_isa_sdpnm::Graph;

use super::budget::{Budget, Work};
use super::dfg::{Dfg, Grid};
use super::placement::Placement;

/// What a mapper is asked: a mapping at one interval. Its threads may share it.
pub struct Problem<'a> {
    /// The graph.
    pub graph: &'a Graph,
    /// Its operations and dependences.
    pub dfg: &'a Dfg,
    /// The array.
    pub grid: &'a Grid,
    /// The initiation interval, at least the MII.
    pub ii: i64,
    /// When to give up.
    pub budget: Budget,
    /// How often to try, where not as often as the mapper likes.
    pub rounds: Option<u32>,
    /// What is done for it and was done for others, where rounds are counted.
    pub work: &'a Work,
    /// Whether no clock counts, but the work alone.
    pub is_counted: bool,
}

impl Problem<'_> {
    /// Whether a placement keeps all rules of the array, which the checker says. A mapper that does
    /// not count registers or does not look at orders finds out here.
    pub fn is_right(&self, placement: &Placement) -> bool {
        let mapping = placement.mapping(self.graph, self.dfg);
        self.dfg.keeps_orders(&placement.time, placement.ii)
            && nbcc_isa_sdpnm::check(self.graph, &self.grid.array, &mapping).is_ok()
    }
}
