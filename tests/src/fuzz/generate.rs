//! Random pipelines of defined behaviour: indices computed from data are clamped, floats are
//! clamped before they become integers, products have one small constant factor, and nothing that
//! jumps (a comparison, an index, a conversion to integers) depends on a division or function that
//! the target computes to within some ulp. What bounds inference refuses all the same is skipped
//! by the run.
//!
//! Seeds from [`WIDE`] on also have parameters, float division and functions, schedules of loops
//! and updates, places inside other Funcs and `rfactor`.

use nbcc_stages::ElementType;

use super::model::{Body, Case, Input, Node, Op, Schedule, Stage, VARS};
use super::random::Random;

pub(super) const TYPES: [ElementType; 8] = [
    ElementType::I32,
    ElementType::F32,
    ElementType::U8,
    ElementType::I16,
    ElementType::U16,
    ElementType::I8,
    ElementType::U32,
    ElementType::Bool,
];

/// The first seed of pipelines that use everything.
pub const WIDE: u64 = 1_000_000;

/// From this seed on images are also long and narrow.
pub const NARROW: u64 = 2_000_000;

const SIZES: [u32; 16] = [1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 20, 31, 33, 64, 70];

const TILES: [u32; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 8, 12, 16, 33];

const BOUNDARIES: [&str; 5] =
    ["repeat_edge", "constant_exterior", "repeat_image", "mirror_image", "mirror_interior"];

/// What can be read.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) name: String,
    pub(super) types: Vec<ElementType>,
    /// The coordinates at which it is about defined.
    pub(super) extent: Vec<u32>,
    /// Reading beyond the extent is an error.
    pub(super) strict: bool,
    /// A boundary condition can be made of it as it stands.
    pub(super) input: bool,
    /// Its elements depend on operations that are not exact.
    pub(super) inexact: bool,
    /// Along which of the first two dimensions all reads run from its end.
    pub(super) backwards: [bool; 2],
}

/// The names that an expression may use.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    /// The Var of each dimension that has one.
    pub(super) vars: Vec<Option<&'static str>>,
    /// Variables of a domain: name, minimum, extent.
    pub(super) rvars: Vec<(String, i64, i64)>,
    /// What the stage itself is at this point, and its type.
    pub(super) own: Option<Node>,
    /// Inline reductions are allowed.
    pub(super) reduce: bool,
    /// Operations that are not exact are allowed.
    pub(super) inexact: bool,
}

impl Scope {
    /// The scope of an operand whose value must be exact.
    pub(super) fn exact(&self) -> Scope {
        let own = if self.inexact { None } else { self.own.clone() };
        Scope { own, inexact: false, ..self.clone() }
    }
}

/// Makes one case.
pub(super) struct Generator {
    pub(super) random: Random,
    pub(super) case: Case,
    pub(super) sources: Vec<Source>,
    pub(super) dims: usize,
    /// Everything is used.
    pub(super) wide: bool,
    /// Images, expressions and the number of stages are small.
    pub(super) small: bool,
    /// The dimension that is long where images are narrow.
    pub(super) long: Option<usize>,
    /// The stage at hand may be inexact.
    pub(super) inexact: bool,
}

/// The case of a seed.
pub fn generate(seed: u64) -> Case {
    let mut random = Random::new(seed);
    let wide = seed >= WIDE;
    // Larger machines take longer, and their faults show on few cases.
    let (largest, larger) = if wide { (0, 2) } else { (1, 6) };
    let machine = match random.below(20) {
        n if n <= largest => "ipim",
        n if n <= larger => "ipim-cube",
        _ => "ipim-vault",
    };
    let declared = random.percent(75);
    let dims = random.pick(&[1, 2, 2, 2, 2, 2, 2, 2, 3, 3, 4]);
    let case = Case { machine, declared, ..Case::default() };
    let small = wide && random.percent(75);
    // Mostly columns: rows are as in other cases.
    let long = (seed >= NARROW && dims > 1).then(|| 1 + random.below(dims - 1));
    let mut g =
        Generator { random, case, sources: vec![], dims, wide, small, long, inexact: false };
    g.inputs();
    let count = match g.random.below(8) {
        _ if small => 1 + g.random.below(3),
        0 => 4 + g.random.below(6),
        _ => 1 + g.random.below(5).min(g.random.below(6)),
    };
    for n in 0..count {
        g.stage(n, n + 1 == count);
    }
    g.case.drop_unused();
    if wide {
        g.directives();
    }
    g.case
}

impl Generator {
    fn size(&mut self) -> u32 {
        if self.small {
            return self.random.between(1, 21) as u32;
        }
        if self.wide && self.random.percent(4) {
            return self.random.between(71, 260) as u32;
        }
        if self.random.percent(60) {
            self.random.pick(&SIZES)
        } else {
            self.random.between(1, 70) as u32
        }
    }

    /// The extent of dimension `d` of an image that is long along another or along this one.
    fn narrow(&mut self, d: usize, long: usize) -> u32 {
        let [low, high] = match (d == long, self.small) {
            (true, true) => [20, 150],
            (true, false) => [40, 600],
            (false, _) if d < 2 && self.random.percent(20) => [9, 40],
            (false, _) => [1, 8],
        };
        self.random.between(low, high) as u32
    }

    fn extent(&mut self, dims: usize) -> Vec<u32> {
        if let Some(long) = self.long {
            return (0..dims).map(|d| self.narrow(d, long)).collect();
        }
        let mut extent: Vec<u32> = (0..dims.min(2)).map(|_| self.size()).collect();
        for d in 2..dims {
            extent.push(self.random.between(1, 4) as u32);
            extent.iter_mut().take(2).for_each(|e| *e = (*e).min(if d == 2 { 33 } else { 17 }));
        }
        extent
    }

    /// Along which dimensions a source is read from its end by all.
    fn backwards(&mut self) -> [bool; 2] {
        if self.wide { [(); 2].map(|()| self.random.percent(8)) } else { [false; 2] }
    }

    fn inputs(&mut self) {
        let count = 1 + self.random.below(2);
        let extent = self.extent(self.dims);
        for name in ["a", "b"].into_iter().take(count) {
            let declared = self.case.declared;
            let ty = if declared { self.random.pick(&TYPES) } else { ElementType::F32 };
            let extent = match self.random.below(4) {
                0 => {
                    let dims = 1 + self.random.below(self.dims);
                    self.extent(dims)
                }
                _ => extent.clone(),
            };
            let seed = 1 + self.random.below(1000) as u32;
            let name = name.to_string();
            let types = vec![ty];
            let backwards = self.backwards();
            self.sources.push(Source {
                name: name.clone(),
                types,
                extent: extent.clone(),
                strict: declared,
                input: true,
                inexact: false,
                backwards,
            });
            self.case.inputs.push(Input { name, ty, extent, seed });
        }
    }

    fn stage(&mut self, n: usize, last: bool) {
        let name = if last { "out".to_string() } else { format!("f{n}") };
        if !last && self.random.percent(30) && self.boundary(&name) {
            return;
        }
        if self.random.percent(15) && self.resample(&name, last) {
            return;
        }
        let dims = match self.random.below(8) {
            0 => 1 + self.random.below(self.dims),
            _ => self.dims,
        };
        self.inexact = self.wide && self.random.percent(30);
        let tuple = (!last || self.wide) && self.random.percent(8);
        let types: Vec<ElementType> =
            (0..1 + usize::from(tuple)).map(|_| self.random.pick(&TYPES)).collect();
        let extent = match self.random.below(3) {
            0 => self.extent(dims),
            _ => {
                let like = self.random.below(self.sources.len());
                let mut extent = self.sources[like].extent.clone();
                let more = self.extent(dims);
                extent.extend(more.iter().skip(extent.len()));
                extent.truncate(dims);
                extent
            }
        };
        let scope = Scope {
            vars: VARS[..dims].iter().map(|&v| Some(v)).collect(),
            reduce: true,
            inexact: self.inexact,
            ..Scope::default()
        };
        let depth = match self.small {
            true => 1 + self.random.below(4) / 3,
            false => 1 + self.random.below(3),
        };
        let values = types.iter().map(|&ty| self.value(ty, &scope, depth)).collect();
        let mut stage = Stage {
            name: name.clone(),
            dims,
            types: types.clone(),
            body: Body::Values(values),
            updates: vec![],
            schedule: self.schedule(),
            output: None,
        };
        if self.random.percent(30) {
            for _ in 0..1 + self.random.below(2) {
                let update = self.update(&stage, &extent);
                stage.updates.push(update);
            }
            if stage.schedule.place == Some("compute_inline") {
                stage.schedule.place = None;
            }
        }
        if last || !tuple && self.random.percent(12) {
            let bounds = extent.iter().map(|&e| {
                let min = if self.random.percent(15) { self.random.between(-5, 5) } else { 0 };
                (min, i64::from(e))
            });
            stage.output = Some(bounds.collect());
        }
        self.case.stages.push(stage);
        let inexact = self.inexact;
        let backwards = self.backwards();
        let (strict, input) = (false, false);
        self.sources.push(Source { name, types, extent, strict, input, inexact, backwards });
    }

    /// A level of a pyramid: half or twice as large as another stage or input, or a shift.
    fn resample(&mut self, name: &str, last: bool) -> bool {
        let source = self.sources[self.random.below(self.sources.len())].clone();
        let dims = source.extent.len();
        let ty = source.types[0];
        if source.types.len() > 1 || ty == ElementType::Bool {
            return false;
        }
        let down = self.random.percent(50);
        let taps = 1 + self.random.below(4) as i64;
        let both = self.random.percent(70);
        let mut extent = source.extent.clone();
        let mut sum: Option<Node> = None;
        for tap in 0..taps {
            let kids = (0..dims).map(|d| {
                let var = Node::name(VARS[d]);
                let int = ElementType::I32;
                let index = if d >= 2 || d == 1 && !both {
                    var
                } else if down {
                    let twice = Node::infix("*", int, var, Node::int(2));
                    Node::infix("+", int, twice, Node::int(tap - 1))
                } else {
                    let shifted = Node::infix("+", int, var, Node::int(tap - taps / 2));
                    Node::infix("/", int, shifted, Node::int(2))
                };
                if source.strict {
                    let limits = [Node::int(0), Node::int(i64::from(source.extent[d]) - 1)];
                    let kids = std::iter::once(index).chain(limits).collect();
                    return Node::function("clamp", int, kids);
                }
                index
            });
            let kids = kids.collect();
            let read = Node { ty, op: Op::Read(source.name.clone(), None), kids };
            sum = Some(match sum {
                None => read,
                Some(sum) => Node::infix("+", ty, sum, read),
            });
        }
        let resized = if both { 2 } else { 1 };
        for e in extent.iter_mut().take(resized.min(dims)) {
            *e = if down { e.div_ceil(2) } else { (*e * 2).min(70) };
        }
        let bounds = extent.iter().map(|&e| (0, i64::from(e))).collect();
        let schedule = self.schedule();
        self.case.stages.push(Stage {
            name: name.to_string(),
            dims,
            types: vec![ty],
            body: Body::Values(sum.into_iter().collect()),
            updates: vec![],
            schedule,
            output: last.then_some(bounds),
        });
        let name = name.to_string();
        let (types, inexact) = (vec![ty], source.inexact);
        let backwards = self.backwards();
        let (strict, input) = (false, false);
        self.sources.push(Source { name, types, extent, strict, input, inexact, backwards });
        true
    }

    fn boundary(&mut self, name: &str) -> bool {
        let source = self.sources[self.random.below(self.sources.len())].clone();
        if source.types.len() > 1 || (!self.case.declared && source.input) {
            return false;
        }
        let kind = self.random.pick(&BOUNDARIES);
        // Mirroring without the edge needs more than one element.
        if kind == "mirror_interior" && source.extent.iter().any(|&e| e < 2) {
            return false;
        }
        let ty = source.types[0];
        let value = (kind == "constant_exterior").then(|| self.literal(ty));
        let limits = (!source.input)
            .then(|| source.extent.iter().map(|&e| (0, i64::from(e))).collect::<Vec<_>>());
        let mut schedule = self.schedule();
        if self.random.percent(60) {
            schedule = Schedule::default();
        }
        self.case.stages.push(Stage {
            name: name.to_string(),
            dims: source.extent.len(),
            types: vec![ty],
            body: Body::Boundary(kind, source.name, limits, value),
            updates: vec![],
            // Its Vars have names of their own.
            schedule: Schedule { tile: None, ..schedule },
            output: None,
        });
        self.sources.push(Source {
            name: name.to_string(),
            types: vec![ty],
            extent: source.extent,
            strict: false,
            input: false,
            inexact: source.inexact,
            backwards: source.backwards,
        });
        true
    }

    fn schedule(&mut self) -> Schedule {
        match self.random.below(10) {
            0..=2 => Schedule::default(),
            3 => Schedule { place: Some("compute_inline"), ..Schedule::default() },
            4 | 5 => Schedule { place: Some("compute_root"), ..Schedule::default() },
            _ => {
                let tile = if self.random.percent(40) {
                    [8, 8]
                } else {
                    [self.random.pick(&TILES), self.random.pick(&TILES)]
                };
                Schedule {
                    place: Some("compute_root"),
                    tile: Some(tile),
                    pgsm: self.random.percent(60),
                    vector: self.random.percent(50),
                    ..Schedule::default()
                }
            }
        }
    }
}
