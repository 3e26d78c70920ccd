//! How each Func is computed, the tiles of everything that is distributed, and its home in banks.

use std::rc::Rc;

use nbcc_isa_ipim::LANES;
use nbcc_isa_ipim::layout::{Layout, Role};
use nbcc_stages::bounds::{Interval, Region};
use nbcc_stages::{ElementType, Func, Input};
use num_integer::lcm;

use super::access::{Access, Source};
use super::copies::finds_owners;
use super::excerpt::WIDE;
use super::layouts::{Families, Member, default_tile};
use super::modes::{Mode, TiledAccess, has_stage, is_flat, mode_of, permuted_access, tiled_access};
use super::planner::Planner;
use super::reads::Ratio;
use super::schedule::{MAX_TILE, scheduled_tile, within};
use super::{BufferId, BufferPlan, Finding, FindingKind, Stage, element};

/// Elements that are requested in straight-line code.
const REQUESTED: u64 = 64;

/// Inputs of more elements are in tiles, though nothing reads them tile by tile.
const SCATTERED: u64 = 4096;

impl Planner<'_> {
    pub(super) fn choose_modes(&mut self, needed: &[Func]) {
        for &func in needed {
            let plan = &self.plan;
            let mode = if self.limits.single.contains(&func) {
                Mode::Single("what a tile reads fits neither a scratchpad nor a bank".into())
            } else if self.limits.ways.in_parts && self.all_in_parts(func) {
                Mode::Single("it has few elements".into())
            } else {
                let follows = |stage, access: &Access| self.follows_tiles(func, stage, access);
                mode_of(&plan.pipeline, &plan.bounds, &plan.forms, self.machine, func, follows)
            };
            if let Mode::Single(why) = &mode {
                let data = &plan.pipeline.funcs[func];
                let parts = (0..data.updates.len())
                    .filter(|&k| self.reductions.contains_key(&(func, k)))
                    .count();
                let kind = FindingKind::NotDistributed { func, parts, why: why.clone() };
                let (about, span) = (data.name.clone(), Some(data.span));
                self.plan.findings.push(Finding { about, span, kind });
            }
            self.modes.insert(func, mode);
        }
    }

    /// Whether all updates of a Func can be reduced in parts.
    fn all_in_parts(&self, func: Func) -> bool {
        let updates = 0..self.plan.pipeline.funcs[func].updates.len();
        !updates.is_empty() && updates.into_iter().all(|k| self.reductions.contains_key(&(func, k)))
    }

    /// The stages of a Func that are computed tile by tile, with what the tiles are of.
    pub(super) fn stages(&self, func: Func) -> Vec<Stage> {
        let updates = self.plan.pipeline.funcs[func].updates.len();
        let all = std::iter::once(Stage::Pure).chain((0..updates).map(Stage::Update));
        all.filter(|&s| has_stage(&self.plan.pipeline, func, s)).collect()
    }

    /// The accesses of a nest: of a stage, or of a rewritten reduction.
    pub(super) fn nest_accesses(&self, func: Func, stage: Stage) -> Rc<[Access]> {
        if let Stage::Update(k) = stage
            && let Some(reduction) = self.reductions.get(&(func, k))
            && self.modes[&func] != Mode::Tiled
        {
            let pipeline = &self.plan.pipeline;
            let roots =
                reduction.args.iter().chain([&reduction.value]).chain(&reduction.predicates);
            let mut list = super::access::accesses_of(pipeline, roots.copied());
            list.retain(|a| a.source != Source::Func(func));
            return list.into();
        }
        self.foreign(func, stage)
    }

    /// Everything that a stage reads but its own Func.
    pub(super) fn foreign(&self, func: Func, stage: Stage) -> Rc<[Access]> {
        self.plan.forms.foreign(&self.plan.pipeline, func, stage)
    }

    pub(super) fn tiled_form(
        &self,
        func: Func,
        access: &Access,
        dims: usize,
    ) -> Option<TiledAccess> {
        if self.limits.whole.contains(&(func, access.source)) {
            return None;
        }
        let tiled = tiled_access(&self.plan.pipeline, &self.plan.forms, &access.args, dims)?;
        if !self.goes_around_inside(access, &tiled) {
            return None;
        }
        self.repeats_planes(access, tiled)
    }

    /// Whether what goes around stays within an input whose edges are repeated: tiles hold nothing beyond.
    fn goes_around_inside(&self, access: &Access, tiled: &TiledAccess) -> bool {
        let Source::Input(input) = access.source else { return true };
        (0..2).all(|k| {
            let place = if tiled.order.is_empty() { Some(k) } else { tiled.order[k] };
            let all = place.and_then(|place| self.plan.repeated(input, place));
            match (tiled.index[k].around, all) {
                (Some(around), Some(all)) => {
                    i64::from(all.min) <= around.first && around.last() <= i64::from(all.max)
                }
                _ => true,
            }
        })
    }

    /// The planes that an access means where the edges of an input are repeated. `None` where data
    /// decides on a plane beyond an edge.
    fn repeats_planes(&self, access: &Access, mut tiled: TiledAccess) -> Option<TiledAccess> {
        let Source::Input(input) = access.source else { return Some(tiled) };
        for (n, index) in tiled.inner.iter_mut().enumerate() {
            let k = if tiled.order.is_empty() { n + 2 } else { tiled.order[n + 2]? };
            if self.plan.repeated(input, k).is_some() {
                *index = Some(self.plan.inner(access.source, k, access.args[k])?);
            }
        }
        Some(tiled)
    }

    /// Reads an access of a nest over a region as one that a copy in another order serves.
    pub(super) fn permuted(
        &self,
        func: Func,
        access: &Access,
        region: &[Interval],
    ) -> Option<TiledAccess> {
        let as_it_is = [&self.limits.whole, &self.limits.in_order];
        if self.limits.ways.in_order
            || !finds_owners(self.machine)
            || as_it_is.iter().any(|of| of.contains(&(func, access.source)))
        {
            return None;
        }
        let (pipeline, forms) = (&self.plan.pipeline, &self.plan.forms);
        let tiled = permuted_access(pipeline, forms, &access.args, is_flat(region))?;
        if !self.goes_around_inside(access, &tiled) {
            return None;
        }
        self.repeats_planes(access, tiled)
    }

    /// What the tiles of a nest must be multiples of, so that producers can have whole atoms.
    fn multiple(&self, func: Func, accesses: &[Access], region: &[Interval]) -> [u32; 2] {
        let mut multiple = [LANES as i64, 1];
        for access in accesses {
            let tiled = self.tiled_form(func, access, region.len());
            if let Some(tiled) = tiled.or_else(|| self.permuted(func, access, region)) {
                let [x, y] = tiled.ratio();
                // A tile of the producer must be whole atoms wide: n * a / d = 4 * k.
                let atoms = Ratio::new(x.a, x.d * LANES as i64);
                let [px, py] = [0, 1].map(|k| tiled.index[k].period());
                multiple = [lcm(lcm(multiple[0], atoms.d), px), lcm(lcm(multiple[1], y.d), py)];
            }
        }
        multiple.map(|n| u32::try_from(n).expect("divisors of tiled accesses are small"))
    }

    pub(super) fn choose_tiles(&mut self, needed: &[Func]) {
        for &func in needed.iter().rev() {
            let dims = self.plan.pipeline.funcs[func].vars.len();
            if self.modes[&func] == Mode::Tiled {
                let stages = self.stages(func).into_iter();
                let lists = stages.map(|stage| self.nest_accesses(func, stage));
                let accesses = lists.reduce(|a, b| a.iter().chain(&*b).cloned().collect());
                let accesses = accesses.unwrap_or_default();
                let region = self.region(Source::Func(func));
                let member = self.member_for(func, &accesses, &region);
                self.members.insert(Source::Func(func), member);
                self.ask(func, member, &accesses, dims);
            } else {
                self.choose_reduction_tiles(func);
            }
        }
        let inputs: Vec<Input> = self.plan.pipeline.inputs.keys().collect();
        for input in inputs {
            let source = Source::Input(input);
            if self.plan.bounds.inputs[input].is_none() {
                continue;
            }
            let asked = self.asked.get(&source).and_then(|list| list.first()).copied();
            let region = self.region(source);
            let member = asked.or_else(|| {
                // Spread over banks, so that not every vault requests from one.
                let large = nbcc_stages::bounds::points(&region) > SCATTERED;
                let spread = large && finds_owners(self.machine);
                (spread && !self.read_by_one(source, needed)).then(|| {
                    let engines = u64::from(self.machine.engines() * self.machine.vaults());
                    let rows = region.get(1).map_or(1, |rows| rows.extent());
                    let height = if self.limits.ways.in_columns { rows } else { 1 };
                    let share = nbcc_stages::bounds::points(&region) / engines / u64::from(height);
                    let width = match self.limits.ways.wide {
                        true => REQUESTED,
                        false => share.clamp(LANES as u64, WIDE.into()),
                    };
                    let width = width.next_multiple_of(LANES as u64);
                    self.families.found([width as u32, height])
                })
            });
            if let Some(member) = member {
                self.families.cover(member, &region);
                self.members.insert(source, member);
            }
        }
    }

    /// Whether a stage on one engine reads a source.
    fn read_by_one(&self, source: Source, needed: &[Func]) -> bool {
        needed.iter().any(|&func| {
            let single = self.modes[&func] != Mode::Tiled;
            let in_parts = |stage| match stage {
                Stage::Update(k) => self.reduce_members.contains_key(&(func, k)),
                Stage::Pure => false,
            };
            let reads = |stage| {
                let accesses = self.foreign(func, stage);
                accesses.iter().any(|access| access.source == source)
            };
            single && self.stages(func).into_iter().any(|stage| !in_parts(stage) && reads(stage))
        })
    }

    fn choose_reduction_tiles(&mut self, func: Func) {
        for k in 0..self.plan.pipeline.funcs[func].updates.len() {
            if !self.reductions.contains_key(&(func, k)) {
                continue;
            }
            let stage = Stage::Update(k);
            let Some(region) = self.reduction_region(func, k) else { continue };
            let accesses = self.nest_accesses(func, stage);
            let multiple = self.multiple(func, &accesses, &region);
            let tile = self.default_tile(&region, multiple);
            let member = self.families.found(tile);
            self.families.cover(member, &region);
            self.reduce_members.insert((func, k), member);
            self.ask(func, member, &accesses, region.len());
        }
    }

    /// The intervals of the dimensions of the nest of an update.
    pub(super) fn reduction_region(&self, func: Func, k: usize) -> Option<Region> {
        self.reductions[&(func, k)].region(&self.plan.bounds, func, k)
    }

    fn ask(&mut self, func: Func, member: Member, accesses: &[Access], dims: usize) {
        for access in accesses {
            if let Some(tiled) = self.tiled_form(func, access, dims)
                && let Some(asked) = Families::asked(member, tiled.ratio())
            {
                self.asked.entry(access.source).or_default().push(asked);
            }
        }
    }

    /// The tiles of a Func: those its schedule names, else those that a consumer asks for, else
    /// the default.
    fn member_for(&mut self, func: Func, accesses: &[Access], region: &[Interval]) -> Member {
        let multiple = self.multiple(func, accesses, region);
        let data = &self.plan.pipeline.funcs[func];
        let mut asked = self.asked.get(&Source::Func(func)).cloned().unwrap_or_default();
        asked.retain(|m| (0..2).all(|k| m.tile[k].is_multiple_of(multiple[k])));
        let scheduled = scheduled_tile(&self.plan.pipeline, func);
        let member = match scheduled {
            Some((tile, span)) => {
                let tile = within(tile, region);
                let limit = self.limits.width;
                let narrow = [tile[0].min(limit).min(MAX_TILE), tile[1].min(MAX_TILE)];
                let why = if narrow == tile {
                    format!("banks are read in atoms of {LANES} elements")
                } else if tile[0] > limit {
                    "what wider tiles read does not fit the scratchpad of a group".to_string()
                } else {
                    format!("no tile is wider or higher than {MAX_TILE}")
                };
                let rounded = [
                    narrow[0].next_multiple_of(multiple[0]),
                    tile[1].next_multiple_of(multiple[1]),
                ];
                if rounded != tile {
                    let (asked, made, why) = (tile, rounded, why);
                    let kind = FindingKind::TileRounded { asked, made, why };
                    let (about, span) = (data.name.clone(), Some(span));
                    self.plan.findings.push(Finding { about, span, kind });
                }
                let same = asked.iter().find(|m| m.tile == rounded).copied();
                same.unwrap_or_else(|| self.families.found(rounded))
            }
            None => asked.first().copied().unwrap_or_else(|| {
                let tile = self.default_tile(region, multiple);
                // A directive names the first two dimensions.
                let order = self.orders.get(&Source::Func(func)).map(Vec::as_slice);
                if matches!(order, None | Some([Some(1), Some(0), ..])) {
                    self.plan.founders.push(func);
                }
                self.families.found(tile)
            }),
        };
        self.families.cover(member, region);
        member
    }

    /// The tile of a nest that nobody asks tiles of.
    fn default_tile(&self, region: &[Interval], multiple: [u32; 2]) -> [u32; 2] {
        let [width, height] = default_tile(self.machine, region, multiple);
        [width.min(self.limits.width).next_multiple_of(multiple[0]), height]
    }

    /// All coordinates that exist of a source: an input's extent, a Func's storage.
    pub(super) fn region(&self, source: Source) -> Region {
        match source {
            Source::Input(input) => self.plan.input_region(input).clone(),
            Source::Func(func) => {
                self.plan.bounds.region(func).expect("only needed Funcs are planned").to_vec()
            }
        }
    }

    pub(super) fn make_homes(&mut self, needed: &[Func]) {
        let inputs: Vec<Input> = self.plan.pipeline.inputs.keys().collect();
        for input in inputs {
            if self.plan.bounds.inputs[input].is_none() {
                continue;
            }
            let data = &self.plan.pipeline.inputs[input];
            let (name, ty) = (data.name.clone(), data.ty);
            let source = Source::Input(input);
            let id = self.home(source, 0, name, ty, Some(Role::Input));
            self.plan.inputs[input] = Some(id);
        }
        for &func in needed {
            let data = &self.plan.pipeline.funcs[func];
            let types = data.types.clone();
            let name = data.name.clone();
            let role = self.plan.pipeline.outputs.contains(&func).then_some(Role::Output);
            for (k, &ty) in types.iter().enumerate() {
                let name = if types.len() == 1 { name.clone() } else { format!("{name}.{k}") };
                let id = self.home(Source::Func(func), k as u32, name, ty, role);
                self.plan.funcs[func].push(id);
            }
        }
    }

    fn home(
        &mut self,
        source: Source,
        value: u32,
        name: String,
        ty: ElementType,
        role: Option<Role>,
    ) -> BufferId {
        let layout = match self.members.get(&source) {
            Some(&member) => Layout::Tiled(self.families.tiled(member, self.machine)),
            None => Layout::Single { cube: 0, vault: 0, pg: 0, pe: 0 },
        };
        let region = self.region(source);
        let (mut moved, mut backwards, mut part_of) = ([0, 0], [false; 2], Vec::new());
        if let Source::Input(input) = source {
            (moved, backwards) = (self.plan.held[input].moved, self.plan.held[input].backwards);
            let extents = &self.plan.extents.inputs[input];
            let whole = extents.iter().map(|&extent| Interval::from_extent(0, extent));
            if moved != [0, 0] || !whole.eq(region.iter().copied()) {
                part_of.clone_from(extents);
            }
        }
        let buffer = BufferPlan {
            name,
            role,
            element: element(ty),
            region,
            layout,
            reach_x: [0, 0],
            border: None,
            moved,
            backwards,
            part_of,
            order: self.orders.get(&source).cloned().unwrap_or_default(),
            excerpt: None,
            patch: None,
            base: 0,
        };
        let id = self.plan.buffers.push(buffer);
        self.homes.insert((source, value), id);
        id
    }
}
