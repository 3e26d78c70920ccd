//! Random directives on loops, places inside other Funcs and `rfactor`: legal ones, added to a
//! case whose stages are made.

use std::collections::BTreeSet;

use nbcc_stages::ElementType;

use super::generate::Generator;
use super::model::{Body, Case, Node, Op, Stage, Update, VARS};
use super::random::Random;

/// The loops of a stage as its directives leave them, innermost first.
struct Loops {
    /// Names that may stand in further directives.
    free: Vec<String>,
    /// Every name.
    all: Vec<String>,
    count: usize,
}

impl Loops {
    fn new(names: Vec<String>) -> Loops {
        Loops { free: names.clone(), all: names, count: 0 }
    }

    fn fresh(&mut self, stem: &str) -> String {
        self.count += 1;
        format!("{stem}{}", self.count)
    }

    fn take(&mut self, random: &mut Random) -> Option<String> {
        match self.free.len() {
            0 => None,
            n => Some(self.free.remove(random.below(n))),
        }
    }

    /// A directive; `pure` loops may be split, joined and run in any order.
    fn directive(&mut self, random: &mut Random, pure: bool) -> Option<String> {
        let factor = random.pick(&[1, 2, 2, 3, 4, 4, 5, 8, 16]);
        match random.below(if pure { 7 } else { 4 }) {
            0 => {
                let name = self.take(random)?;
                Some(match random.percent(50) {
                    true => format!(".parallel({name})"),
                    false => format!(".parallel({name}, {factor})"),
                })
            }
            1 => Some(format!(".unroll({}, {factor})", self.take(random)?)),
            2 => {
                let width = random.pick(&[2, 4, 4, 8]);
                Some(format!(".vectorize({}, {width})", self.take(random)?))
            }
            3 => {
                let mut order = self.free.clone();
                for k in (1..order.len()).rev() {
                    order.swap(k, random.below(k + 1));
                }
                order.truncate(4);
                (order.len() > 1).then(|| format!(".reorder({})", order.join(", ")))
            }
            4 | 5 => {
                let old = self.take(random)?;
                let (outer, inner) = (self.fresh("lo"), self.fresh("li"));
                self.all.retain(|l| *l != old);
                for new in [&outer, &inner] {
                    self.free.push(new.clone());
                    self.all.push(new.clone());
                }
                Some(format!(".split({old}, {outer}, {inner}, {factor})"))
            }
            _ => {
                if self.free.len() < 2 {
                    return None;
                }
                let (inner, outer) = (self.take(random)?, self.take(random)?);
                let both = self.fresh("lf");
                self.all.retain(|l| *l != inner && *l != outer);
                self.free.push(both.clone());
                self.all.push(both.clone());
                Some(format!(".fuse({inner}, {outer}, {both})"))
            }
        }
    }
}

/// The domain that an update runs over.
fn domain_of(update: &Update) -> Option<usize> {
    let mut found = None;
    for root in update.args.iter().chain(&update.values) {
        root.each(&mut |node| {
            if let Op::Name(name) = &node.op {
                let number = name.strip_prefix('r').and_then(|n| n.split('.').next());
                found = found.or(number.and_then(|n| n.parse().ok()));
            }
        });
    }
    found
}

/// The Vars that stand at their own place on the left of an update.
fn pure_vars(stage: &Stage, update: &Update) -> Vec<String> {
    let pairs = VARS[..stage.dims].iter().zip(&update.args);
    let pure = pairs.filter(|(var, arg)| matches!(&arg.op, Op::Name(name) if name == *var));
    pure.map(|(var, _)| var.to_string()).collect()
}

/// Whether an update combines by an operation whose order does not matter, exactly.
fn associative(case: &Case, stage: &Stage, update: &Update, domain: usize) -> bool {
    let reads_own = |node: &Node| {
        let mut found = false;
        node.each(&mut |n| found |= matches!(&n.op, Op::Read(name, _) if *name == stage.name));
        found
    };
    let combines = |value: &Node| {
        let known = match &value.op {
            Op::Infix(op) => ["+", "*", "&", "|", "^", "&&", "||"].contains(op),
            Op::Function(name) => ["min", "max"].contains(name),
            _ => false,
        };
        let own = matches!(value.kids.first(), Some(kid)
            if matches!(&kid.op, Op::Read(name, _) if *name == stage.name) && kid.kids == update.args);
        known && own && value.ty != ElementType::F32 && !reads_own(&value.kids[1])
    };
    update.values.iter().all(combines)
        && !update.args.iter().any(reads_own)
        && !case.domains[domain].wheres.iter().any(reads_own)
}

impl Generator {
    /// Adds directives to a case, consumers before producers.
    pub(super) fn directives(&mut self) {
        // The loops of each stage that has a place for others.
        let mut places: Vec<Vec<String>> = vec![vec![]; self.case.stages.len()];
        for k in (0..self.case.stages.len()).rev() {
            if self.random.percent(35) {
                self.place(k, &places);
            }
            places[k] = self.loops(k);
            self.update_loops(k);
        }
    }

    /// Directives on the loops of a pure definition; the loops that they leave, where it has any.
    fn loops(&mut self, k: usize) -> Vec<String> {
        let random = &mut self.random;
        let stage = &mut self.case.stages[k];
        let schedule = &mut stage.schedule;
        let inline = schedule.place != Some("compute_root") && schedule.at.is_none();
        if !matches!(stage.body, Body::Values(_)) || inline && stage.output.is_none() {
            return vec![];
        }
        let vars = VARS[..stage.dims].iter().map(|v| v.to_string());
        let inner: &[&str] = match (schedule.tile, stage.dims) {
            (None, _) => &[],
            (_, 1) => &["xi"],
            _ => &["xi", "yi"],
        };
        let mut loops = Loops::new(inner.iter().map(|v| v.to_string()).chain(vars).collect());
        if schedule.tile.is_some() && schedule.vector {
            loops.free.retain(|l| l != "xi");
        }
        let chance = if schedule.tile.is_some() { 15 } else { 45 };
        if random.percent(chance) {
            for _ in 0..1 + random.below(3) {
                schedule.loops.extend(loops.directive(random, true));
            }
        }
        loops.all
    }

    fn update_loops(&mut self, k: usize) {
        for n in 0..self.case.stages[k].updates.len() {
            if !self.random.percent(40) {
                continue;
            }
            let stage = &self.case.stages[k];
            let update = &stage.updates[n];
            let domain = domain_of(update);
            if let Some(domain) = domain
                && associative(&self.case, stage, update, domain)
                && self.random.percent(50)
            {
                let letters = ["x", "y", "z", "w"];
                let d = self.random.below(self.case.domains[domain].dims.len());
                let whole = format!("r{domain}.{}", letters[d]);
                let text = if self.random.percent(40) {
                    let factor = self.random.between(1, 9);
                    let kept = self.random.pick(&["ro", "ri"]);
                    format!(".split({whole}, ro{n}, ri{n}, {factor}).rfactor({kept}{n}, u{n})")
                } else {
                    format!(".rfactor({whole}, u{n})")
                };
                self.case.stages[k].updates[n].rfactor = Some(text);
                continue;
            }
            let mut loops = Loops::new(pure_vars(stage, update));
            let mut directives = vec![];
            for _ in 0..1 + self.random.below(2) {
                let pure = self.random.percent(60);
                directives.extend(loops.directive(&mut self.random, pure));
            }
            if let Some(domain) = domain
                && self.random.percent(30)
            {
                directives.push(format!(".unroll(r{domain}.x, 2)"));
            }
            self.case.stages[k].updates[n].directives = directives;
        }
    }

    /// Computes a stage inside its only user, where that is computed in loops of its own.
    fn place(&mut self, k: usize, places: &[Vec<String>]) {
        let case = &self.case;
        let stage = &case.stages[k];
        let users: BTreeSet<usize> = (k + 1..case.stages.len())
            .filter(|&u| case.reads(&case.stages[u]).contains(&stage.name))
            .collect();
        let Some(&user) = users.first().filter(|_| users.len() == 1) else { return };
        let into = &case.stages[user];
        if stage.output.is_some() || places[user].is_empty() || !into.updates.is_empty() {
            return;
        }
        // Rounds that run at once may not share storage from outside of their loop.
        let at_once = case.stages[k + 1..].iter().any(|stage| stage.schedule.runs_at_once());
        let (into, loops) = (into.name.clone(), &places[user]);
        let pick = |random: &mut Random| loops[random.below(loops.len())].clone();
        let at = pick(&mut self.random);
        let mut text = format!(".compute_at({into}, {at})");
        match self.random.below(6) {
            0 => text += &format!(".store_at({into}, {at})"),
            1 if !at_once => text += ".store_root()",
            _ => {}
        }
        let schedule = &mut self.case.stages[k].schedule;
        schedule.at = Some(text);
        schedule.tile = None;
    }
}
