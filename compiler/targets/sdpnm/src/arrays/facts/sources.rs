//! Loops of the source: what pragmas ask for them, and what of each is in a loop that is compiled.
//!
//! Instructions keep their places in the source through all that is done to loops: what a loop is made of
//! is asked of them.

use std::collections::BTreeSet;

use nbcc_analysis::LoopForest;
use nbcc_base::Span;
use nbcc_ir::{Block, Cfg, Dominators, Function, SourceLoop};
use nbcc_isa_sdpnm::config::ArrayKind;

/// Where a loop should run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Site {
    /// On no array.
    Core,
    /// On arrays of a kind.
    Array(ArrayKind),
}

impl Site {
    /// The name in pragmas.
    pub fn name(self) -> String {
        match self {
            Site::Core => "none".into(),
            Site::Array(kind) => kind.name().to_uppercase(),
        }
    }
}

/// What is asked for a loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// Where it should run.
    pub site: Option<Site>,
    /// How many iterations should be one.
    pub unroll: Option<u32>,
    /// The least interval.
    pub ii: Option<u32>,
}

impl Wishes {
    fn of(of: &SourceLoop) -> Wishes {
        let mut wishes = Wishes::default();
        for wish in &of.wishes {
            let number = wish.value.parse().ok();
            match wish.name.as_str() {
                "array" => wishes.site = site(&wish.value),
                "unroll" => wishes.unroll = number,
                "ii" => wishes.ii = number,
                _ => {}
            }
        }
        wishes
    }

    /// With what another loop asks for where this one asks for nothing.
    fn or(self, other: Wishes) -> Wishes {
        Wishes {
            site: self.site.or(other.site),
            unroll: self.unroll.or(other.unroll),
            ii: self.ii.or(other.ii),
        }
    }

    /// Whether it should stay a loop of its own.
    pub fn is_alone(self) -> bool {
        self.site == Some(Site::Core) || self.unroll.is_some()
    }

    /// Whether an array should run it whether it gains by that or not.
    pub fn insists(self) -> bool {
        matches!(self.site, Some(Site::Array(_))) || self.ii.is_some()
    }
}

/// A site by the name that pragmas give it.
pub fn site(name: &str) -> Option<Site> {
    let kinds = [ArrayKind::Npea, ArrayKind::Fpea, ArrayKind::Spea];
    let kind = kinds.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name));
    (name == "none").then_some(Site::Core).or(kind.map(Site::Array))
}

/// The loops of a source.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The loops.
    pub loops: Vec<SourceLoop>,
    /// The loop around each.
    parents: Vec<Option<usize>>,
    /// From which place on which loop is the innermost one, in order.
    from: Vec<((u32, u32), Option<usize>)>,
}

impl Sources {
    /// Of these loops.
    pub fn new(loops: &[SourceLoop]) -> Sources {
        let key = |span: Span| (span.source.0, span.start);
        let end = |n: usize| (loops[n].span.source.0, loops[n].span.end);
        let mut order: Vec<usize> = (0..loops.len()).collect();
        order.sort_by_key(|&n| (key(loops[n].span), std::cmp::Reverse(loops[n].span.end)));
        let mut parents = vec![None; loops.len()];
        let mut from = Vec::new();
        let mut around: Vec<usize> = Vec::new();
        for n in order {
            while let Some(top) = around.pop_if(|top| end(*top) <= key(loops[n].span)) {
                from.push((end(top), around.last().copied()));
            }
            parents[n] = around.last().copied();
            from.push((key(loops[n].span), Some(n)));
            around.push(n);
        }
        while let Some(top) = around.pop() {
            from.push((end(top), around.last().copied()));
        }
        from.sort_by_key(|&(at, _)| at);
        Sources { loops: loops.to_vec(), parents, from }
    }

    /// The innermost loop in which a place is.
    pub fn innermost(&self, span: Span) -> Option<usize> {
        let at = (span.source.0, span.start);
        let behind = self.from.partition_point(|&(from, _)| from <= at);
        self.from[..behind].last().and_then(|&(from, n)| n.filter(|_| from.0 == at.0))
    }

    /// The loops of which something is in these blocks.
    pub fn parts(&self, func: &Function, blocks: &[Block]) -> BTreeSet<usize> {
        if self.loops.is_empty() {
            return BTreeSet::new();
        }
        let insts = blocks.iter().flat_map(|&block| &func.blocks[block].insts);
        let spans = insts.filter_map(|&inst| func.insts[inst].span);
        let ends = blocks.iter().filter_map(|&block| func.blocks[block].span);
        spans.chain(ends).filter_map(|span| self.innermost(span)).collect()
    }

    /// A loop and those around it in the source, from the inside out.
    pub fn around(&self, n: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(n), |&n| self.parents[n])
    }

    /// Whether a loop is another one or inside of it.
    pub fn is_within(&self, n: usize, outer: usize) -> bool {
        self.around(n).any(|around| around == outer)
    }

    /// What is asked for one of the loops itself.
    pub fn own(&self, n: usize) -> Wishes {
        Wishes::of(&self.loops[n])
    }

    /// What is asked for the loops of which something is in these blocks, or with what is asked for those
    /// around them of where they should run.
    pub fn wishes(&self, func: &Function, blocks: &[Block]) -> Wishes {
        let mut parts: Vec<usize> = self.parts(func, blocks).into_iter().collect();
        parts.sort_by_key(|&n| std::cmp::Reverse(self.around(n).count()));
        let own = parts.iter().fold(Wishes::default(), |all, &n| all.or(self.own(n)));
        let around = parts.iter().flat_map(|&n| self.around(n));
        let site = around.filter_map(|n| self.own(n).site).next();
        Wishes { site: own.site.or(site), ..own }
    }

    /// Whether a loop of these blocks should not vanish in the one around it, of as many iterations.
    pub fn stays(&self, func: &Function, blocks: &[Block], trips: u64) -> bool {
        let asks = |n: usize| {
            let Wishes { site, unroll, ii } = self.own(n);
            site.is_some() || ii.is_some() || unroll.is_some_and(|times| u64::from(times) != trips)
        };
        self.loops.iter().any(|of| !of.wishes.is_empty())
            && self.parts(func, blocks).into_iter().any(asks)
    }

    /// The loops that are loops of the function.
    pub fn heads(&self, func: &Function) -> BTreeSet<usize> {
        let forest = LoopForest::new(&Cfg::new(func), &Dominators::new(func));
        let latches = forest.loops.values().flat_map(|data| data.latches.iter());
        let spans = latches.filter_map(|&latch| func.blocks[latch].span);
        spans.filter_map(|span| self.innermost(span)).collect()
    }

    /// The headers of loops that become no loop with those inside of them, as is asked for one of them.
    pub fn apart(&self, func: &Function) -> BTreeSet<Block> {
        if self.loops.iter().all(|of| of.wishes.is_empty()) {
            return BTreeSet::new();
        }
        let forest = LoopForest::new(&Cfg::new(func), &Dominators::new(func));
        let nests = forest.loops.iter().filter(|(_, data)| !data.inner.is_empty());
        let is_asked = |l| {
            let mut parts = self.parts(func, &forest.blocks(l)).into_iter();
            parts.any(|n| self.own(n).is_alone())
        };
        nests.filter(|&(l, _)| is_asked(l)).map(|(_, data)| data.header).collect()
    }
}
