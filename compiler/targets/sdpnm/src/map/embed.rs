//! Embedding of a graph in an array where each vertex takes a PE of its own and neighbours stand in
//! reach of each other: backtracking with domains as sets of bits. Domains are kept consistent along edges
//! (arcs), what needs all PEs that are left around it reserves them, and the next vertex is the one with
//! the smallest domain for how often it failed (Boussemart, Hemery, Lecoutre and Sais, "Boosting
//! systematic search by weighting constraints", ECAI 2004), with restarts.

use super::budget::Clock;
use super::random::Random;

/// Failures until the first restart.
const FIRST_FAILURES: u64 = 40;
/// Domains from which on nothing is concluded for neighbours: nearly every PE is near one of them.
const MAX_CHECKED_DOMAINS: u32 = 24;

/// PEs, by their bits.
type Set<const W: usize> = [u64; W];

/// What is embedded: vertices with their neighbours.
#[derive(Clone, Debug, Default)]
pub struct Net {
    /// The neighbours of each vertex.
    pub neighbours: Vec<Vec<usize>>,
    /// The PEs on which each vertex may stand, as far as that is known beforehand.
    pub allowed: Vec<Vec<usize>>,
    /// Vertices, each beside at least one of others.
    pub either: Vec<(usize, Vec<usize>)>,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Embedding {
    /// The PE of each vertex.
    Found(Vec<usize>),
    /// There is none.
    Impossible,
    /// Steps or time were over.
    Unknown,
}

/// Embeds a net in an array, given for each PE those in reach, itself included. `steps` are vertices that
/// are placed at most; what is left of them comes back in it. `weights` count for each vertex how often it
/// found no PE.
pub fn embed(
    net: &Net,
    near: &[Vec<usize>],
    steps: &mut u64,
    weights: &mut [u32],
    clock: &Clock,
    random: &mut Random,
) -> Embedding {
    match near.len() {
        0..=64 => Search::<1>::new(net, near, weights).run(steps, clock, random),
        _ => Search::<4>::new(net, near, weights).run(steps, clock, random),
    }
}

struct Search<'a, const W: usize> {
    net: &'a Net,
    /// The PEs around each PE, itself left out.
    around: Vec<Set<W>>,
    weights: &'a mut [u32],
    failures: u64,
}

/// Where vertices may stand, as far as it was decided.
#[derive(Clone)]
struct State<const W: usize> {
    domain: Vec<Set<W>>,
    is_placed: Vec<bool>,
    /// Neighbours of each vertex that are not placed.
    open: Vec<u32>,
    free: Set<W>,
}

fn count<const W: usize>(set: &Set<W>) -> u32 {
    set.iter().map(|word| word.count_ones()).sum()
}

fn and<const W: usize>(a: &Set<W>, b: &Set<W>) -> Set<W> {
    std::array::from_fn(|i| a[i] & b[i])
}

fn but<const W: usize>(a: &Set<W>, b: &Set<W>) -> Set<W> {
    std::array::from_fn(|i| a[i] & !b[i])
}

fn or<const W: usize>(a: &Set<W>, b: &Set<W>) -> Set<W> {
    std::array::from_fn(|i| a[i] | b[i])
}

fn only<const W: usize>(pe: usize) -> Set<W> {
    std::array::from_fn(|i| if pe / 64 == i { 1 << (pe % 64) } else { 0 })
}

fn of<const W: usize>(pes: impl IntoIterator<Item = usize>) -> Set<W> {
    pes.into_iter().fold([0; W], |set, pe| or(&set, &only(pe)))
}

fn members<const W: usize>(set: Set<W>) -> impl Iterator<Item = usize> {
    set.into_iter().enumerate().flat_map(|(i, mut word)| {
        std::iter::from_fn(move || {
            let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
            word &= word - 1;
            Some(64 * i + bit)
        })
    })
}

/// The `n`th number, from 1 on, of the sequence of Luby, Sinclair and Zuckerman: 1 1 2 1 1 2 4 ...
pub fn luby(n: u64) -> u64 {
    let k = 64 - n.leading_zeros();
    if n == (1 << k) - 1 { 1 << (k - 1) } else { luby(n - (1 << (k - 1)) + 1) }
}

impl<'a, const W: usize> Search<'a, W> {
    fn new(net: &'a Net, near: &[Vec<usize>], weights: &'a mut [u32]) -> Search<'a, W> {
        let around = |pe: usize| of(near[pe].iter().copied().filter(|&other| other != pe));
        let around = (0..near.len()).map(around).collect();
        Search { net, around, weights, failures: 0 }
    }

    fn run(mut self, steps: &mut u64, clock: &Clock, random: &mut Random) -> Embedding {
        let n = self.net.neighbours.len();
        let mut first = State {
            domain: self.net.allowed.iter().map(|pes| of(pes.iter().copied())).collect(),
            is_placed: vec![false; n],
            open: self.net.neighbours.iter().map(|all| all.len() as u32).collect(),
            free: of(0..self.around.len()),
        };
        if n > self.around.len() || !self.conclude(&mut first, (0..n).collect()) {
            return Embedding::Impossible;
        }
        for round in 1.. {
            self.failures = FIRST_FAILURES * luby(round);
            match self.place(&first, steps, random) {
                Embedding::Unknown if *steps > 0 && !clock.is_over() => {}
                found => return found,
            }
        }
        Embedding::Unknown
    }

    /// Places what is left.
    fn place(&mut self, state: &State<W>, steps: &mut u64, random: &mut Random) -> Embedding {
        let open = (0..state.domain.len()).filter(|&v| !state.is_placed[v]);
        let hardest = open.min_by_key(|&v| {
            let size = u64::from(count(&state.domain[v]));
            ((size << 20) / u64::from(1 + self.weights[v] + state.open[v]), v)
        });
        let Some(vertex) = hardest else {
            let pes = state.domain.iter().map(|&domain| members(domain).next().unwrap_or(0));
            return Embedding::Found(pes.collect());
        };
        let mut choices: Vec<(u32, u64, usize)> = members(state.domain[vertex])
            .map(|pe| (count(&and(&self.around[pe], &state.free)), random.word(), pe))
            .collect();
        choices.sort_unstable();
        for (_, _, pe) in choices {
            if *steps == 0 || self.failures == 0 {
                return Embedding::Unknown;
            }
            *steps -= 1;
            let mut next = state.clone();
            next.domain[vertex] = only(pe);
            if !self.conclude(&mut next, vec![vertex]) {
                self.failures = self.failures.saturating_sub(1);
                continue;
            }
            match self.place(&next, steps, random) {
                Embedding::Impossible => {}
                found => return found,
            }
        }
        Embedding::Impossible
    }

    /// What follows for others where the domains of some changed. False where something cannot be placed.
    fn conclude(&mut self, state: &mut State<W>, mut changed: Vec<usize>) -> bool {
        let net = self.net;
        loop {
            while let Some(vertex) = changed.pop() {
                let domain = state.domain[vertex];
                let size = count(&domain);
                if size == 0 {
                    self.weights[vertex] += 1;
                    return false;
                }
                if size == 1 && !state.is_placed[vertex] {
                    state.is_placed[vertex] = true;
                    state.free = but(&state.free, &domain);
                    for &other in &net.neighbours[vertex] {
                        state.open[other] -= 1;
                    }
                    for other in (0..state.domain.len()).filter(|&other| other != vertex) {
                        if !self.restrict(
                            state,
                            other,
                            &but(&state.domain[other], &domain),
                            &mut changed,
                        ) {
                            return false;
                        }
                    }
                }
                if size <= MAX_CHECKED_DOMAINS {
                    let reach = self.beside(&domain);
                    for &other in &net.neighbours[vertex] {
                        if !self.restrict(
                            state,
                            other,
                            &and(&state.domain[other], &reach),
                            &mut changed,
                        ) {
                            return false;
                        }
                    }
                }
            }
            if !self.choose(state, &mut changed) || !self.reserve(state, &mut changed) {
                return false;
            }
            if changed.is_empty() {
                return self.is_room(state);
            }
        }
    }

    /// Leaves a vertex that smaller domain. False where it is empty.
    fn restrict(
        &mut self,
        state: &mut State<W>,
        vertex: usize,
        domain: &Set<W>,
        changed: &mut Vec<usize>,
    ) -> bool {
        if *domain == state.domain[vertex] {
            return true;
        }
        state.domain[vertex] = *domain;
        if count(domain) == 0 {
            self.weights[vertex] += 1;
            return false;
        }
        changed.push(vertex);
        true
    }

    /// The PEs beside any of a domain.
    fn beside(&self, domain: &Set<W>) -> Set<W> {
        match count(domain) <= MAX_CHECKED_DOMAINS {
            true => members(*domain).fold([0; W], |all, pe| or(&all, &self.around[pe])),
            false => [u64::MAX; W],
        }
    }

    /// Those that stand beside one of others stand where one can be, and the last one that can be there is.
    fn choose(&mut self, state: &mut State<W>, changed: &mut Vec<usize>) -> bool {
        let net = self.net;
        for (vertex, others) in &net.either {
            let domain = state.domain[*vertex];
            let mut all = [0; W];
            let mut last = None;
            let mut can = 0;
            for &other in others {
                let reach = and(&domain, &self.beside(&state.domain[other]));
                if count(&reach) > 0 {
                    (can, last) = (can + 1, Some(other));
                    all = or(&all, &reach);
                }
            }
            if !self.restrict(state, *vertex, &all, changed) {
                return false;
            }
            if let Some(other) = last.filter(|_| can == 1) {
                let there = and(&state.domain[other], &self.beside(&all));
                if !self.restrict(state, other, &there, changed) {
                    return false;
                }
            }
        }
        true
    }

    /// Where a vertex stands there must be room for its neighbours; where there is no more than that, it is
    /// for nobody else.
    fn reserve(&mut self, state: &mut State<W>, changed: &mut Vec<usize>) -> bool {
        let net = self.net;
        for vertex in 0..state.domain.len() {
            let open = state.open[vertex];
            if open == 0 {
                continue;
            }
            let domain = state.domain[vertex];
            if !state.is_placed[vertex] {
                let has_room = |pe: &usize| count(&and(&self.around[*pe], &state.free)) >= open;
                let domain = of(members(domain).filter(has_room));
                if !self.restrict(state, vertex, &domain, changed) {
                    return false;
                }
                continue;
            }
            let Some(pe) = members(domain).next() else { return false };
            let room = and(&self.around[pe], &state.free);
            let size = count(&room);
            if size < open {
                self.weights[vertex] += 1;
                return false;
            }
            if size == open {
                for other in 0..state.domain.len() {
                    if state.is_placed[other] || net.neighbours[vertex].contains(&other) {
                        continue;
                    }
                    if !self.restrict(state, other, &but(&state.domain[other], &room), changed) {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// Whether there are as many PEs for vertices that are not placed as there are of these.
    fn is_room(&self, state: &State<W>) -> bool {
        let open = (0..state.domain.len()).filter(|&v| !state.is_placed[v]);
        let (all, number) =
            open.fold(([0; W], 0), |(all, number), v| (or(&all, &state.domain[v]), number + 1));
        count(&all) >= number
    }
}
