//! The search for a schedule: the best of a few rules, then one decision at a time.

use std::collections::{BTreeMap, BTreeSet};

use nbcc_stages::bounds::{ParamValues, not_whole};
use nbcc_stages::{ExprKind, Func, Pipeline, Walker, is_inlined};

use super::contest::Won;
use super::sites::Site;
use super::trial::{Choice, Outcome, Placed, Trial};
use crate::plan::schedule::scheduled_tile;
use crate::plan::{Finding, FindingKind, fitted};

/// The width of a tile is a multiple of this.
const STEP: u32 = nbcc_isa_ipim::LANES as u32;

/// Expressions that all trials together may look at: what keeps compilation short.
const BUDGET: u64 = 80_000;

/// What is left of it when decisions about Funcs end, for tiles.
const FOR_TILES: u64 = BUDGET / 3;

/// Operations that one use of a Func repeats at most in first guesses.
const MAX_REPEATED: [u64; 2] = [400, 100];

/// A Func may come to so many expressions, those of Funcs that it repeats counted each time.
const MAX_WEIGHT: u64 = 20_000;

/// Rounds over all decisions.
const ROUNDS: usize = 3;

/// What is left of it when what is not next to the best found so far is no longer tried.
const FOR_FAR: u64 = BUDGET / 2;

/// A tile that is tried wherever the search began: the steps on the way to it may not pay.
const FAR_TILE: [u32; 2] = [8, 8];

/// No tile that is tried is wider or higher.
const MAX_SIDE: u32 = 256;

/// What was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The pipeline that a schedule was searched for.
    pub pipeline: Pipeline,
    /// The places that were decided about.
    pub sites: Vec<Site>,
    /// The decisions.
    pub choice: Choice,
    /// Estimated cycles; none where no plan could be made.
    pub cycles: Option<u64>,
    /// Other choices of what is computed whole, with their estimates, the best first.
    pub rivals: Vec<(u64, Choice)>,
    /// For each site that was decided, the estimate where the other was chosen.
    pub other: Vec<Option<u64>>,
    /// For each site, whether there was anything to decide.
    decided: Vec<bool>,
    /// What won a contest, if there was one.
    won: Option<Won>,
}

impl Found {
    /// Keeps what won a contest. What is known of the other way to compute a Func does not hold where
    /// others are computed in another way.
    pub fn keep(&mut self, won: Won) {
        if won.choice.root != self.choice.root {
            let rival = self.rivals.iter().find(|(_, rival)| rival.root == won.choice.root);
            self.cycles = rival.map(|&(cycles, _)| cycles);
            self.other.fill(None);
        }
        self.choice = won.choice.clone();
        self.won = Some(won);
    }

    /// Whether a contest decided.
    pub fn is_settled(&self) -> bool {
        self.won.is_some()
    }

    /// What was decided.
    pub fn findings(&self) -> Vec<Finding> {
        let Some(cycles) = self.cycles else { return vec![] };
        let sites = self.sites.iter().enumerate().filter(|&(k, _)| self.decided[k]);
        let finding = |(k, site): (usize, &Site)| {
            let data = &self.pipeline.funcs[site.funcs[0]];
            let (whole, other) = (self.choice.root[k], self.other[k]);
            let kind = FindingKind::Scheduled { whole, cycles, other };
            Finding { about: data.name.clone(), span: Some(data.span), kind }
        };
        let several = self.won.as_ref().filter(|won| won.count > 1);
        let compared = several.zip(self.pipeline.outputs.first()).map(|(won, &output)| {
            let &Won { count, cycles, first, .. } = won;
            let data = &self.pipeline.funcs[output];
            let kind = FindingKind::Compared { count, cycles, first };
            Finding { about: data.name.clone(), span: Some(data.span), kind }
        });
        sites.map(finding).chain(compared).collect()
    }
}

struct Search<'a> {
    trial: &'a Trial<'a>,
    best: Choice,
    outcome: Option<Outcome>,
    placed: Option<Placed>,
    sizes: Sizes,
    tried: Vec<(Option<u64>, Choice)>,
    left: u64,
}

impl Search<'_> {
    /// Tries a choice; gives its estimate, and keeps it where it is better.
    fn attempt(&mut self, choice: Choice) -> Option<u64> {
        if self.left == 0 || self.tried.iter().any(|(_, tried)| *tried == choice) {
            return None;
        }
        if self.sizes.largest(&choice.root) > MAX_WEIGHT {
            return None;
        }
        let run = self.trial.run(&choice, &mut self.placed);
        let cycles = run.as_ref().ok().map(|outcome| outcome.cycles);
        self.tried.push((cycles, choice.clone()));
        match run {
            Ok(outcome) => {
                self.left = self.left.saturating_sub(outcome.work);
                let cycles = outcome.cycles;
                if self.outcome.as_ref().is_none_or(|best| pays(cycles, best.cycles)) {
                    self.best = choice;
                    self.outcome = Some(outcome);
                }
                Some(cycles)
            }
            Err(work) => {
                self.left = self.left.saturating_sub(work);
                None
            }
        }
    }

    /// Tries the best choice with tiles of these sizes for a Func, in its first two places.
    fn attempt_tiles(&mut self, func: Func, tiles: Vec<[u32; 2]>) {
        for tile in tiles {
            let mut choice = self.best.clone();
            choice.tiles.insert(func, self.placed(func, tile));
            self.attempt(choice);
        }
    }

    /// The best choice of each other set of Funcs that are computed whole, the best of all first.
    fn rivals(&self) -> Vec<(u64, Choice)> {
        let possible = self.tried.iter().filter_map(|(cycles, choice)| Some(((*cycles)?, choice)));
        let mut best: BTreeMap<&[bool], (u64, &Choice)> = BTreeMap::new();
        for (cycles, choice) in possible.filter(|(_, choice)| choice.root != self.best.root) {
            let of = best.entry(&choice.root).or_insert((cycles, choice));
            if cycles < of.0 {
                *of = (cycles, choice);
            }
        }
        let mut rivals: Vec<(u64, Choice)> =
            best.into_values().map(|(cycles, choice)| (cycles, choice.clone())).collect();
        rivals.sort_by_key(|&(cycles, _)| cycles);
        rivals
    }

    /// See [`Outcome::placed`].
    fn placed(&self, func: Func, tile: [u32; 2]) -> [u32; 2] {
        self.outcome.as_ref().map_or(tile, |outcome| outcome.placed(func, tile))
    }

    /// The tiles of a Func in the best choice, if it has any, in its first two places.
    fn chosen(&self, func: Func) -> Option<[u32; 2]> {
        self.best.tiles.get(&func).map(|&tile| self.placed(func, tile))
    }

    fn cycles(&self) -> u64 {
        self.outcome.as_ref().map_or(u64::MAX, |outcome| outcome.cycles)
    }
}

/// Whether an estimate is better by more than what estimates are worth.
fn pays(new: u64, old: u64) -> bool {
    new < old - old / 50
}

/// Whether a Func may be computed at each use or whole.
pub(super) fn is_free(pipeline: &Pipeline, func: Func) -> bool {
    let data = &pipeline.funcs[func];
    data.pure.is_some() && data.updates.is_empty() && !pipeline.outputs.contains(&func)
}

/// Finds a schedule.
pub fn search(trial: &Trial<'_>) -> Found {
    let (pipeline, sites) = (trial.pipeline, trial.sites);
    let never =
        not_whole(pipeline, trial.extents, &ParamValues::new(), |func| is_free(pipeline, func));
    let decided: Vec<bool> = sites
        .iter()
        .map(|site| {
            site.funcs.iter().any(|&func| is_free(pipeline, func))
                && !site.funcs.iter().any(|func| never.contains(func))
        })
        .collect();
    let repeated = |site: &Site| site.funcs.iter().any(|func| never.contains(func));
    let least: Vec<bool> =
        sites.iter().zip(&decided).map(|(site, free)| !free && !repeated(site)).collect();
    let none =
        Choice { root: least.clone(), staged: vec![false; sites.len()], tiles: BTreeMap::new() };
    let sizes = Sizes::of(pipeline, sites);
    let guesses = MAX_REPEATED.map(|most| sizes.guess(&decided, least.clone(), most));
    let mut search = Search {
        trial,
        best: none.clone(),
        outcome: None,
        placed: None,
        sizes,
        tried: vec![],
        left: BUDGET,
    };
    let all = least.iter().zip(&decided).map(|(whole, free)| *whole || *free).collect();
    for root in guesses.iter().cloned().chain([least.clone(), all]) {
        search.attempt(Choice { root, ..none.clone() });
    }
    let mut other = vec![None; sites.len()];
    if sites.is_empty() && search.outcome.as_ref().is_some_and(|o| o.founders.is_empty()) {
        let (pipeline, sites) = (pipeline.clone(), sites.to_vec());
        return Found {
            pipeline,
            sites,
            choice: none,
            cycles: None,
            rivals: vec![],
            other,
            decided,
            won: None,
        };
    }
    for round in 0..ROUNDS {
        let before = search.cycles();
        flips(&mut search, &decided, &mut other);
        staging(&mut search, sites);
        tiles(&mut search);
        if round == 0 {
            cuts(&mut search, &decided, &least);
        }
        if search.cycles() == before || search.left == 0 {
            break;
        }
    }
    if search.outcome.is_none() {
        // No plan that was tried is possible: what is wrong is said when the first one is made.
        let [guess, _] = guesses;
        search.best = Choice { root: guess, ..none };
    }
    let cycles = search.outcome.as_ref().map(|outcome| outcome.cycles);
    let rivals = search.rivals();
    let (pipeline, sites) = (pipeline.clone(), sites.to_vec());
    Found { pipeline, sites, choice: search.best, cycles, rivals, other, decided, won: None }
}

/// Computes the Funcs of each site the other way, consumers first.
fn flips(search: &mut Search<'_>, decided: &[bool], other: &mut [Option<u64>]) {
    for k in (0..decided.len()).rev().filter(|&k| decided[k]) {
        if search.left < FOR_TILES {
            break;
        }
        let before = search.cycles();
        let mut choice = search.best.clone();
        choice.root[k] = !choice.root[k];
        if let Some(cycles) = search.attempt(choice) {
            // What is better by too little to pay is not taken.
            other[k] = Some(if pays(cycles, before) { before } else { cycles });
        }
    }
}

/// Computes whole what is equally far from the outputs, and nothing else that need not be.
fn cuts(search: &mut Search<'_>, decided: &[bool], least: &[bool]) {
    for root in search.sizes.cuts(decided, least) {
        if search.left < FOR_FAR {
            break;
        }
        let choice = Choice { root, ..search.best.clone() };
        search.attempt(choice);
    }
}

/// Stages what Funcs read of their own banks, or not.
fn staging(search: &mut Search<'_>, sites: &[Site]) {
    for (k, site) in sites.iter().enumerate() {
        let direct = search
            .outcome
            .as_ref()
            .is_some_and(|outcome| site.funcs.iter().any(|func| outcome.direct.contains(func)));
        if search.best.root[k] && (direct || search.best.staged[k]) {
            let mut choice = search.best.clone();
            choice.staged[k] = !choice.staged[k];
            search.attempt(choice);
        }
    }
}

/// Makes the tiles of Funcs that may have any wider, narrower, higher or lower while that pays, and as large as
/// the number of engines asks.
fn tiles(search: &mut Search<'_>) {
    let Some(outcome) = &search.outcome else { return };
    let mut funcs: BTreeSet<Func> = outcome.founders.iter().copied().collect();
    funcs.extend(search.best.tiles.keys().copied());
    let pipeline = search.trial.pipeline;
    for func in funcs {
        // Funcs made for parts of outputs have the tiles of the whole.
        if !pipeline.funcs.is_valid(func) || scheduled_tile(pipeline, func).is_some() {
            continue;
        }
        let dims = pipeline.funcs[func].vars.len();
        let Some(&start) = search.outcome.as_ref().and_then(|o| o.tiles.get(&func)) else {
            continue;
        };
        let far = Some(FAR_TILE).filter(|_| search.left >= FOR_FAR);
        search.attempt_tiles(func, std::iter::once(start).chain(far).collect());
        let mut at = search.chosen(func).unwrap_or(start);
        loop {
            let before = search.cycles();
            search.attempt_tiles(func, neighbours(at, dims));
            let covered = search.outcome.as_ref().and_then(|o| o.covered.get(&func).copied());
            if search.cycles() == before
                && let Some(covered) = covered
            {
                let around = neighbours(at, dims).into_iter().chain([at]);
                let fit = |tile| fitted(search.trial.machine, covered, tile);
                search.attempt_tiles(func, around.map(fit).collect());
            }
            if search.cycles() == before {
                break;
            }
            at = search.chosen(func).unwrap_or(start);
        }
    }
}

/// Tiles of about that size.
fn neighbours([width, height]: [u32; 2], dims: usize) -> Vec<[u32; 2]> {
    let mut all = vec![[width * 2, height], [width / 2, height]];
    if dims > 1 {
        all.extend([[width, height * 2], [width, height / 2]]);
        all.extend([[width * 2, height / 2], [width / 2, height * 2]]);
    }
    all.retain(|&tile| is_tile(tile));
    all
}

/// Whether a tile may be tried.
pub(super) fn is_tile([width, height]: [u32; 2]) -> bool {
    let sides = (STEP..=MAX_SIDE).contains(&width) && (1..=MAX_SIDE).contains(&height);
    sides && width.is_multiple_of(STEP)
}

/// How large Funcs are, and how often they call which.
pub(super) struct Sizes {
    /// Expressions of each Func, and the Funcs it calls with the number of places.
    funcs: BTreeMap<Func, (u64, Vec<(Func, u64)>)>,
    /// The number of places that call each Func.
    uses: BTreeMap<Func, u64>,
    /// Funcs that are computed whole whatever is decided.
    whole: BTreeSet<Func>,
    /// The site of each Func.
    site_of: BTreeMap<Func, usize>,
}

impl Sizes {
    pub(super) fn of(pipeline: &Pipeline, sites: &[Site]) -> Sizes {
        let (mut funcs, mut uses) = (BTreeMap::new(), BTreeMap::new());
        let mut walker = Walker::default();
        for func in pipeline.funcs.keys() {
            let mut calls: BTreeMap<Func, u64> = BTreeMap::new();
            let reachable = walker.reachable(pipeline, pipeline.func_roots(func));
            for &expr in &reachable {
                if let ExprKind::Call(callee, ..) = pipeline.exprs[expr].kind
                    && callee != func
                {
                    *calls.entry(callee).or_default() += 1;
                }
            }
            for (&callee, &count) in &calls {
                *uses.entry(callee).or_default() += count;
            }
            funcs.insert(func, (reachable.len() as u64, calls.into_iter().collect()));
        }
        let numbered = sites.iter().enumerate();
        let site_of = numbered.flat_map(|(k, s)| s.funcs.iter().map(move |&f| (f, k))).collect();
        let whole = pipeline.funcs.keys().filter(|&f| !is_inlined(pipeline, f)).collect();
        Sizes { funcs, uses, whole, site_of }
    }

    /// Visits Funcs, producers first, with the expressions of each and of all that it repeats, none
    /// of them shared. `whole` says which are not repeated.
    fn weigh(&self, mut whole: impl FnMut(Option<usize>, Func, u64) -> bool) -> u64 {
        let mut weight: BTreeMap<Func, u64> = BTreeMap::new();
        let mut most = 0;
        for (&func, (own, calls)) in &self.funcs {
            let repeated = calls.iter().map(|(callee, n)| weight[callee].saturating_mul(*n));
            let all = repeated.fold(*own, u64::saturating_add);
            most = most.max(all);
            let whole = whole(self.site_of.get(&func).copied(), func, all);
            let repeated = !whole && !self.whole.contains(&func);
            weight.insert(func, if repeated { all } else { 0 });
        }
        most
    }

    /// Whether the Funcs of each site are computed whole, as a first guess: those of `least`, and
    /// those of which more than `most` operations would be repeated.
    fn guess(&self, decided: &[bool], least: Vec<bool>, most: u64) -> Vec<bool> {
        let mut root = least;
        self.weigh(|site, func, all| {
            let Some(site) = site else { return false };
            let uses = self.uses.get(&func).copied().unwrap_or(0);
            root[site] |= decided[site] && all.saturating_mul(uses) > most;
            root[site]
        });
        root
    }

    /// Choices that compute whole what is equally many calls away from the outputs, and no other Func
    /// that may be computed either way, the nearest first: flips of one Func at a time do not get from
    /// one to the next where several Funcs read several.
    fn cuts(&self, decided: &[bool], least: &[bool]) -> Vec<Vec<bool>> {
        let mut away: BTreeMap<Func, usize> = BTreeMap::new();
        let mut cuts: BTreeMap<usize, Vec<bool>> = BTreeMap::new();
        for (func, (_, calls)) in self.funcs.iter().rev() {
            let own = away.get(func).copied().unwrap_or(0);
            for (callee, _) in calls {
                let of = away.entry(*callee).or_default();
                *of = (*of).max(own + 1);
            }
            if let Some(&site) = self.site_of.get(func)
                && decided[site]
            {
                cuts.entry(own).or_insert_with(|| least.to_vec())[site] = true;
            }
        }
        cuts.into_values().collect()
    }

    /// The Funcs that `free` names and whose expressions are repeated more often than that.
    pub(super) fn repeated_beyond(&self, limit: u64, free: impl Fn(Func) -> bool) -> Vec<Func> {
        let mut found = Vec::new();
        self.weigh(|_, func, all| {
            let uses = self.uses.get(&func).copied().unwrap_or(0);
            let beyond = free(func) && uses > 0 && all.saturating_mul(uses) > limit;
            if beyond {
                found.push(func);
            }
            beyond
        });
        found
    }

    /// Expressions of the largest Func, at most, where the sites are computed like that.
    fn largest(&self, root: &[bool]) -> u64 {
        self.weigh(|site, _, _| site.is_some_and(|site| root[site]))
    }
}
