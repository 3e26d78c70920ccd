//! The least initiation interval that recurrences and resources allow (Rau, "Iterative modulo
//! scheduling", MICRO 1994, section 2.2; docs/mapping.md): every latency is one cycle.

use nbcc_isa_sdpnm::Array;

use super::dfg::{Dep, Dfg};

/// What bounds the initiation interval from below.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mii {
    /// The larger of both bounds.
    pub mii: u32,
    /// That of recurrences; 0 where there is none.
    pub rec: u32,
    /// That of resources.
    pub res: u32,
    /// The operations of a cycle that gives `rec`, in order; empty without one.
    pub cycle: Vec<usize>,
    /// Iterations that the values of this cycle span.
    pub cycle_distance: u64,
    /// The resource that gives `res`.
    pub limit: Limit,
    /// All resources.
    pub limits: [Limit; 2],
}

/// What must be otherwise before the bounds allow a shorter interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lower {
    /// The longest interval that is shorter.
    pub ii: u32,
    /// The most operations of [`Mii::cycle`] then, and the least distance with as many as there are, where
    /// that cycle holds the interval.
    pub cycle: Option<(u64, u64)>,
    /// The resources that hold it, each with the most operations that may take it then, and the least
    /// capacity for as many as do.
    pub limits: Vec<(Resource, usize, usize)>,
}

impl Mii {
    /// What must be otherwise before the bounds allow a shorter interval; `None` where there is none.
    pub fn lower(&self) -> Option<Lower> {
        let ii = self.mii.checked_sub(1).filter(|&ii| ii > 0)?;
        let most = u64::from(ii);
        let length = self.cycle.len() as u64;
        let cycle = (self.rec > ii).then(|| (self.cycle_distance * most, length.div_ceil(most)));
        let limits = self.limits.iter().filter(|limit| limit.bound() > ii).map(|limit| {
            let (uses, most) = (limit.uses, ii as usize);
            (limit.resource, limit.capacity * most, uses.div_ceil(most))
        });
        Some(Lower { ii, cycle, limits: limits.collect() })
    }
}

/// A resource and how much of it one iteration takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Which.
    pub resource: Resource,
    /// Operations of an iteration that take it.
    pub uses: usize,
    /// How many it serves a cycle.
    pub capacity: usize,
}

/// What operations compete for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Processing elements.
    Pe,
    /// Ports of the shared memory.
    Memory,
}

impl Resource {
    /// The name in a report.
    pub fn name(self) -> &'static str {
        match self {
            Resource::Pe => "pe",
            Resource::Memory => "memory",
        }
    }

    /// What takes it, and what it is, in words.
    pub fn words(self) -> [&'static str; 2] {
        match self {
            Resource::Pe => ["operations", "PEs"],
            Resource::Memory => ["loads and stores", "ports of the shared memory"],
        }
    }
}

impl Limit {
    /// The bound on the interval.
    pub fn bound(&self) -> u32 {
        u32::try_from(self.uses.div_ceil(self.capacity.max(1))).unwrap_or(u32::MAX)
    }
}

/// The resource that bounds most; processing elements where both bound alike.
pub fn resources(dfg: &Dfg, array: &Array) -> Limit {
    most(limits(dfg.len(), dfg.is_memory.iter().filter(|&&memory| memory).count(), array))
}

fn most([pe, memory]: [Limit; 2]) -> Limit {
    if memory.bound() > pe.bound() { memory } else { pe }
}

/// Processing elements and ports.
fn limits(operations: usize, accesses: usize, array: &Array) -> [Limit; 2] {
    let pe = Limit { resource: Resource::Pe, uses: operations, capacity: array.pes() };
    let capacity = array.memory_ports as usize;
    [pe, Limit { resource: Resource::Memory, uses: accesses, capacity }]
}

/// Both bounds. No cycle of `dfg` may have the distance 0.
pub fn mii(dfg: &Dfg, array: &Array) -> Mii {
    let accesses = dfg.is_memory.iter().filter(|&&memory| memory).count();
    of(dfg.len(), accesses, dfg.edges.iter().chain(&dfg.orders).copied(), array)
}

/// Both bounds for so many operations, of which so many are accesses to memory.
pub fn of(
    operations: usize,
    accesses: usize,
    deps: impl Iterator<Item = Dep> + Clone,
    array: &Array,
) -> Mii {
    let limits = limits(operations, accesses, array);
    let limit = most(limits);
    let res = limit.bound();
    let (cycle, cycle_distance) = (Vec::new(), 0);
    let mut mii = Mii { mii: res.max(1), rec: 0, res, cycle, cycle_distance, limit, limits };
    let deps = Deps::new(operations, deps);
    // At interval 0 a cycle of any distance is too long, so the first one found says that there is
    // a recurrence; each further one raises the bound.
    while let Some(edges) = too_long(&deps, i64::from(mii.rec)) {
        let length = edges.len() as i64;
        let distance: i64 = edges.iter().map(|&e| deps.all[e].distance).sum();
        mii.rec = (length as u64).div_ceil(distance as u64) as u32;
        mii.cycle = edges.iter().map(|&e| deps.all[e].from).collect();
        mii.cycle_distance = distance as u64;
    }
    mii.mii = mii.mii.max(mii.rec);
    mii
}

/// Dependences and orders, those that leave an operation one behind the other.
struct Deps {
    all: Vec<Dep>,
    /// Where those of each operation begin; one more for the end.
    first: Vec<usize>,
}

impl Deps {
    fn new(operations: usize, deps: impl Iterator<Item = Dep> + Clone) -> Deps {
        let mut first = vec![0; operations + 1];
        deps.clone().for_each(|dep| first[dep.from + 1] += 1);
        for op in 0..operations {
            first[op + 1] += first[op];
        }
        let (mut next, none) = (first.clone(), Dep { from: 0, to: 0, distance: 0, edge: 0 });
        let mut all = vec![none; first[operations]];
        for dep in deps {
            all[next[dep.from]] = dep;
            next[dep.from] += 1;
        }
        Deps { all, first }
    }

    /// How many operations there are.
    fn len(&self) -> usize {
        self.first.len() - 1
    }
}

/// A cycle with more edges than `ii` times its distance, as edges in order: a positive cycle of the
/// constraint graph, found by Bellman and Ford's algorithm with a search of the parent graph now and
/// then (Cherkassky and Goldberg, "Negative-cycle detection algorithms", 1999).
fn too_long(deps: &Deps, ii: i64) -> Option<Vec<usize>> {
    let n = deps.len();
    let mut time = vec![0i64; n];
    let mut parent = vec![usize::MAX; n];
    let mut active: Vec<usize> = (0..n).collect();
    let mut is_next = vec![false; n];
    let mut next = Vec::new();
    for round in 1u64.. {
        for &op in &active {
            is_next[op] = false;
            for e in deps.first[op]..deps.first[op + 1] {
                let edge = &deps.all[e];
                let earliest = time[op] + 1 - ii * edge.distance;
                if earliest > time[edge.to] {
                    time[edge.to] = earliest;
                    parent[edge.to] = e;
                    if !std::mem::replace(&mut is_next[edge.to], true) {
                        next.push(edge.to);
                    }
                }
            }
        }
        if next.is_empty() {
            return None;
        }
        if round.is_power_of_two()
            && let Some(cycle) = parent_cycle(deps, &parent)
        {
            return Some(cycle);
        }
        active.clear();
        std::mem::swap(&mut active, &mut next);
    }
    None
}

/// A cycle of the graph in which each operation has at most one incoming edge, `parent`.
fn parent_cycle(deps: &Deps, parent: &[usize]) -> Option<Vec<usize>> {
    let mut seen_from = vec![usize::MAX; parent.len()];
    for start in 0..parent.len() {
        let mut op = start;
        while seen_from[op] == usize::MAX && parent[op] != usize::MAX {
            seen_from[op] = start;
            op = deps.all[parent[op]].from;
        }
        if seen_from[op] != start || parent[op] == usize::MAX {
            continue;
        }
        let mut cycle = Vec::new();
        let mut at = op;
        loop {
            cycle.push(parent[at]);
            at = deps.all[parent[at]].from;
            if at == op {
                break;
            }
        }
        cycle.reverse();
        return Some(cycle);
    }
    None
}
