//! How many blocks a core holds, and what keeps it from holding more.

/// Something of which blocks take a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resource {
    /// What users call it.
    pub name: &'static str,
    /// What a core has.
    pub has: u64,
    /// What a block takes.
    pub takes: u64,
}

/// What a core holds of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Blocks, one at least.
    pub blocks: u32,
    /// What is used up first; of several the first one.
    pub limit: &'static str,
}

/// Blocks that a core with these resources holds. One is always held: that it fits is for the launch
/// to check.
pub fn occupancy(resources: &[Resource]) -> Occupancy {
    let fits = |resource: &Resource| resource.has.checked_div(resource.takes).unwrap_or(u64::MAX);
    let limit = resources.iter().min_by_key(|resource| fits(resource));
    let blocks = limit.map_or(u64::MAX, fits).clamp(1, u32::MAX.into()) as u32;
    Occupancy { blocks, limit: limit.map_or("nothing", |resource| resource.name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scarcest_decides() {
        let of = |name, has, takes| Resource { name, has, takes };
        let held = occupancy(&[of("warps", 32, 8), of("shared memory", 65536, 40000)]);
        assert_eq!(held, Occupancy { blocks: 1, limit: "shared memory" });
        let held = occupancy(&[of("warps", 32, 8), of("shared memory", 65536, 0)]);
        assert_eq!(held, Occupancy { blocks: 4, limit: "warps" });
        assert_eq!(occupancy(&[of("warps", 4, 8)]).blocks, 1);
    }
}
