//! Makes the plan: modes, families of tiles, reads, copies, ghost zones, addresses, kernels in
//! order.

use std::collections::BTreeMap;

use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap};
use nbcc_base::Span;
use nbcc_isa_ipim::layout::{Layout, Role, Tiled};
use nbcc_isa_ipim::{ATOM_BYTES, LANES, Machine};
use nbcc_placement::{Remark, RemarkKind};
use nbcc_stages::bounds::{
    Affine, AffineVar, Bounds, Extents, IndexForm, Interval, Region, index_forms,
};
use nbcc_stages::{
    DirectiveArg, DirectiveKind, ElementType, Expr, Func, Input, Pipeline, Schedule,
};

use super::access::{Access, Source};
use super::layouts::{Families, Member, default_tile};
use super::modes::{
    Mode, Reduction, TiledAccess, foreign_accesses, has_stage, mode_of, reduction, source_name,
    tiled_access,
};
use super::reads::{Ratio, Read, aligned, lcm};
use super::windows::place_windows;
use super::{
    BufferId, BufferPlan, Nest, Plan, ReduceStep, SerialStep, Stage, Step, TileStep, element,
};

/// Bytes at the start of every bank for constants, parameters and spilled registers.
pub const BANK_RESERVED: u32 = 1 << 16;

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError {
    /// What does not fit.
    pub message: String,
    /// The stage or input it is about.
    pub span: Option<Span>,
}

/// Makes the plan of a pipeline whose extents are literals and whose Funcs are inlined.
///
/// # Errors
/// What exceeds the machine's memory.
pub fn make_plan(
    mut pipeline: Pipeline,
    extents: &Extents,
    bounds: Bounds,
    machine: &Machine,
    remarks: &mut Vec<Remark>,
) -> Result<Plan, PlanError> {
    let needed: Vec<Func> = bounds.needed(&pipeline).map(|(f, _)| f).collect();
    let mut reductions: BTreeMap<(Func, usize), Reduction> = BTreeMap::new();
    for &func in &needed {
        for k in 0..pipeline.funcs[func].updates.len() {
            if pays_in_parts(&bounds, func, k)
                && let Some(found) = reduction(&mut pipeline, func, k)
            {
                reductions.insert((func, k), found);
            }
        }
    }
    let forms = index_forms(&pipeline);
    let mut planner = Planner {
        machine,
        families: Families::default(),
        asked: BTreeMap::new(),
        modes: BTreeMap::new(),
        members: BTreeMap::new(),
        reduce_members: BTreeMap::new(),
        homes: BTreeMap::new(),
        exchanged: Vec::new(),
        reductions,
        remarks,
        plan: Plan {
            pipeline,
            extents: extents.clone(),
            bounds,
            forms,
            buffers: PrimaryMap::new(),
            inputs: SecondaryMap::new(),
            funcs: SecondaryMap::new(),
            params: Vec::new(),
            steps: Vec::new(),
            vsm_data: machine.memory.vsm_bytes / 2,
            bank_end: BANK_RESERVED,
        },
    };
    planner.choose_modes(&needed);
    planner.choose_tiles(&needed);
    planner.make_homes(&needed);
    for &func in &needed {
        planner.func(func)?;
    }
    planner.place_buffers()?;
    Ok(planner.plan)
}

/// The most elements that are reduced in parts: each takes an atom of every bank.
const MAX_PARTS: u64 = 1 << 16;

/// Whether the points of update `k` are enough to be reduced in parts: all elements have to be
/// cleared and summed up in every engine.
fn pays_in_parts(bounds: &Bounds, func: Func, k: usize) -> bool {
    let Some(bounds) = &bounds.funcs[func] else { return false };
    let Some(loops) = &bounds.stages[k + 1] else { return false };
    let elements = nbcc_stages::bounds::points(&bounds.region);
    elements <= MAX_PARTS && elements <= nbcc_stages::bounds::points(&loops.rvars)
}

struct Planner<'a> {
    machine: &'a Machine,
    families: Families,
    /// The tiles that consumers ask of a source, first come first.
    asked: BTreeMap<Source, Vec<Member>>,
    modes: BTreeMap<Func, Mode>,
    members: BTreeMap<Source, Member>,
    reduce_members: BTreeMap<(Func, usize), Member>,
    homes: BTreeMap<(Source, u32), BufferId>,
    /// The place in the order of steps where ghost zones of a home are filled.
    exchanged: Vec<BufferId>,
    reductions: BTreeMap<(Func, usize), Reduction>,
    remarks: &'a mut Vec<Remark>,
    plan: Plan,
}

impl Planner<'_> {
    fn choose_modes(&mut self, needed: &[Func]) {
        for &func in needed {
            let plan = &self.plan;
            let mode = mode_of(&plan.pipeline, &plan.bounds, &plan.forms, func);
            if let Mode::Single(why) = &mode {
                let data = &plan.pipeline.funcs[func];
                let parts = (0..data.updates.len())
                    .filter(|&k| self.reductions.contains_key(&(func, k)))
                    .count();
                let how = match parts {
                    0 => "computed on one engine".to_string(),
                    n => format!("kept on one engine, {n} updates reduced in parts"),
                };
                self.remarks.push(Remark {
                    kind: RemarkKind::Missed,
                    pass: "distribute",
                    name: "NotDistributed",
                    function: data.name.clone(),
                    span: Some(data.span),
                    message: format!("{} is {how}: {why}", data.name),
                    terms: vec![],
                });
            }
            self.modes.insert(func, mode);
        }
    }

    /// The stages of a Func that are computed tile by tile, with what the tiles are of.
    fn stages(&self, func: Func) -> Vec<Stage> {
        let updates = self.plan.pipeline.funcs[func].updates.len();
        let all = std::iter::once(Stage::Pure).chain((0..updates).map(Stage::Update));
        all.filter(|&s| has_stage(&self.plan.pipeline, func, s)).collect()
    }

    /// The accesses of a nest: of a stage, or of a rewritten reduction.
    fn nest_accesses(&self, func: Func, stage: Stage) -> Vec<Access> {
        if let Stage::Update(k) = stage
            && let Some(reduction) = self.reductions.get(&(func, k))
            && self.modes[&func] != Mode::Tiled
        {
            let pipeline = &self.plan.pipeline;
            let roots =
                reduction.args.iter().chain([&reduction.value]).chain(&reduction.predicates);
            let mut list = super::access::accesses_of(pipeline, roots.copied());
            list.retain(|a| a.source != Source::Func(func));
            return list;
        }
        foreign_accesses(&self.plan.pipeline, func, stage)
    }

    fn tiled_form(&self, access: &Access, dims: usize) -> Option<TiledAccess> {
        tiled_access(&self.plan.forms, &access.args, dims)
    }

    /// What the tiles of a nest must be multiples of, so that producers can have whole atoms.
    fn multiple(&self, accesses: &[Access], dims: usize) -> [u32; 2] {
        let mut multiple = [LANES as i64, 1];
        for access in accesses {
            if let Some(tiled) = self.tiled_form(access, dims) {
                let [x, y] = tiled.ratio();
                // A tile of the producer must be whole atoms wide: n * a / d = 4 * k.
                let atoms = Ratio::new(x.a, x.d * LANES as i64);
                multiple = [lcm(multiple[0], atoms.d), lcm(multiple[1], y.d)];
            }
        }
        multiple.map(|n| u32::try_from(n).unwrap_or(LANES as u32).min(256))
    }

    fn choose_tiles(&mut self, needed: &[Func]) {
        for &func in needed.iter().rev() {
            let dims = self.plan.pipeline.funcs[func].vars.len();
            if self.modes[&func] == Mode::Tiled {
                let accesses: Vec<Access> = self
                    .stages(func)
                    .into_iter()
                    .flat_map(|s| self.nest_accesses(func, s))
                    .collect();
                let region = self.region(Source::Func(func));
                let member = self.member_for(func, &accesses, dims, &region);
                self.members.insert(Source::Func(func), member);
                self.ask(member, &accesses, dims);
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
            if let Some(&member) = self.asked.get(&source).and_then(|list| list.first()) {
                let region = self.region(source);
                self.families.cover(member, &region);
                self.members.insert(source, member);
            }
        }
    }

    fn choose_reduction_tiles(&mut self, func: Func) {
        for k in 0..self.plan.pipeline.funcs[func].updates.len() {
            if !self.reductions.contains_key(&(func, k)) {
                continue;
            }
            let stage = Stage::Update(k);
            let Some(region) = self.reduction_region(func, k) else { continue };
            let accesses = self.nest_accesses(func, stage);
            let multiple = self.multiple(&accesses, region.len());
            let tile = default_tile(self.machine, &region, multiple);
            let member = self.families.found(tile);
            self.families.cover(member, &region);
            self.reduce_members.insert((func, k), member);
            self.ask(member, &accesses, region.len());
        }
    }

    /// The intervals of the domain of an update.
    fn reduction_region(&self, func: Func, k: usize) -> Option<Region> {
        let loops = self.plan.bounds.funcs[func].as_ref()?.stages[k + 1].as_ref()?;
        (!loops.rvars.is_empty()).then(|| loops.rvars.clone())
    }

    fn ask(&mut self, member: Member, accesses: &[Access], dims: usize) {
        for access in accesses {
            if let Some(tiled) = self.tiled_form(access, dims)
                && let Some(asked) = Families::asked(member, tiled.ratio())
            {
                self.asked.entry(access.source).or_default().push(asked);
            }
        }
    }

    /// The tiles of a Func: those its schedule names, else those that a consumer asks for, else
    /// the default.
    fn member_for(
        &mut self,
        func: Func,
        accesses: &[Access],
        dims: usize,
        region: &[Interval],
    ) -> Member {
        let multiple = self.multiple(accesses, dims);
        let data = &self.plan.pipeline.funcs[func];
        let asked = self.asked.get(&Source::Func(func)).cloned().unwrap_or_default();
        let scheduled = scheduled_tile(&data.schedule);
        let member = match scheduled {
            Some((tile, span)) => {
                let rounded =
                    [tile[0].next_multiple_of(multiple[0]), tile[1].next_multiple_of(multiple[1])];
                if rounded != tile {
                    self.remarks.push(Remark {
                        kind: RemarkKind::Missed,
                        pass: "distribute",
                        name: "TileRounded",
                        function: data.name.clone(),
                        span: Some(span),
                        message: format!(
                            "tiles of {} x {} are made {} x {}: banks are read in atoms of {LANES} \
                             elements",
                            tile[0], tile[1], rounded[0], rounded[1]
                        ),
                        terms: vec![],
                    });
                }
                let same = asked.iter().find(|m| m.tile == rounded).copied();
                same.unwrap_or_else(|| self.families.found(rounded))
            }
            None => asked.first().copied().unwrap_or_else(|| {
                self.families.found(default_tile(self.machine, region, multiple))
            }),
        };
        self.families.cover(member, region);
        member
    }

    /// All coordinates that exist of a source: an input's extent, a Func's storage.
    fn region(&self, source: Source) -> Region {
        match source {
            Source::Input(input) => self.input_region(input),
            Source::Func(func) => {
                self.plan.bounds.region(func).expect("only needed Funcs are planned").to_vec()
            }
        }
    }

    fn input_region(&self, input: Input) -> Region {
        self.plan.extents.inputs[input]
            .iter()
            .map(|&extent| Interval::from_extent(0, extent))
            .collect()
    }

    fn make_homes(&mut self, needed: &[Func]) {
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
        let buffer = BufferPlan {
            name,
            role,
            element: element(ty),
            region,
            layout,
            reach_x: [0, 0],
            base: 0,
        };
        let id = self.plan.buffers.push(buffer);
        self.homes.insert((source, value), id);
        id
    }

    fn func(&mut self, func: Func) -> Result<(), PlanError> {
        for stage in self.stages(func) {
            match (self.modes[&func].clone(), stage) {
                (Mode::Tiled, _) => self.tile_step(func, stage)?,
                (Mode::Single(_), Stage::Update(k))
                    if self.reduce_members.contains_key(&(func, k)) =>
                {
                    self.reduce_step(func, k)?;
                }
                (Mode::Single(_), _) => self.serial_step(func, stage),
            }
        }
        Ok(())
    }

    /// The intervals of a stage's loops; `None` where it never runs.
    fn loops(&self, func: Func, stage: Stage) -> Option<nbcc_stages::bounds::StageLoops> {
        let number = match stage {
            Stage::Pure => 0,
            Stage::Update(k) => k + 1,
        };
        self.plan.bounds.funcs[func].as_ref()?.stages[number].clone()
    }

    fn tile_step(&mut self, func: Func, stage: Stage) -> Result<(), PlanError> {
        let Some(loops) = self.loops(func, stage) else { return Ok(()) };
        let data = &self.plan.pipeline.funcs[func];
        let (name, dims, span) = (data.name.clone(), data.vars.len(), data.span);
        let stage_pgsm = matches!(stage, Stage::Pure) && asks_for_staging(&data.schedule);
        let rdom = match stage {
            Stage::Update(k) => data.updates[k].rdom.map(|r| (r, loops.rvars.clone())),
            Stage::Pure => None,
        };
        let targets = self.plan.funcs[func].clone();
        let tiles = self.plan.buffers[targets[0]].tiled().clone();
        let accesses = self.nest_accesses(func, stage);
        // An update runs over the whole storage where its left side names every dimension.
        let nest = NestShape { name, region: loops.dims, dims, tiles, rdom, span, stage_pgsm };
        let nest = self.nest(nest, &accesses)?;
        self.plan.steps.push(Step::Tiles(TileStep { func, stage, nest, targets }));
        Ok(())
    }

    fn reduce_step(&mut self, func: Func, k: usize) -> Result<(), PlanError> {
        let Some(region) = self.reduction_region(func, k) else { return Ok(()) };
        let member = self.reduce_members[&(func, k)];
        let data = &self.plan.pipeline.funcs[func];
        let shape = NestShape {
            name: data.name.clone(),
            dims: region.len(),
            region,
            tiles: self.families.tiled(member, self.machine),
            rdom: None,
            span: data.updates[k].span,
            stage_pgsm: false,
        };
        let accesses = self.nest_accesses(func, Stage::Update(k));
        let nest = self.nest(shape, &accesses)?;
        let target = self.plan.funcs[func][0];
        let reduction = self.reductions[&(func, k)].clone();
        // An atom an element; the engines of a vault take turns at summing them up.
        let grid = &nest.tiles.grid;
        let team = grid.groups[0] * grid.groups[1] * grid.engines;
        let chunks = self.plan.buffers[target].words().div_ceil(team);
        let bytes = |atoms: u32| atoms.saturating_mul(ATOM_BYTES);
        let atoms = chunks.saturating_mul(team);
        let parts = self.reserve(bytes(atoms), &format!("the parts of {}", nest.name), None)?;
        let sums = self.reserve(bytes(chunks), &format!("the sums of {}", nest.name), None)?;
        let Reduction { args, value, predicates, op } = reduction;
        self.plan.steps.push(Step::Reduce(ReduceStep {
            func,
            nest,
            args,
            value,
            predicates,
            op,
            target,
            parts,
            sums,
        }));
        Ok(())
    }

    fn serial_step(&mut self, func: Func, stage: Stage) {
        if self.loops(func, stage).is_none() {
            return;
        }
        let mut sources = BTreeMap::new();
        for access in foreign_accesses(&self.plan.pipeline, func, stage) {
            let key = (access.source, access.value);
            let home = self.homes[&key];
            let layout = Layout::Single { cube: 0, vault: 0, pg: 0, pe: 0 };
            let buffer = if self.plan.buffers[home].layout == layout {
                home
            } else {
                self.copy(home, layout, self.plan.buffers[home].region.clone(), vec![])
            };
            sources.insert(key, buffer);
        }
        let targets = self.plan.funcs[func].clone();
        self.plan.steps.push(Step::Serial(SerialStep { func, stage, targets, sources }));
    }

    /// A copy of a buffer that is distributed otherwise; made once.
    fn copy(
        &mut self,
        from: BufferId,
        layout: Layout,
        region: Region,
        clamp: Vec<Option<(i64, i64)>>,
    ) -> BufferId {
        for step in &self.plan.steps {
            if let Step::Redistribute { from: f, to, clamp: c } = step {
                let b = &self.plan.buffers[*to];
                if *f == from && b.layout == layout && b.region == region && *c == clamp {
                    return *to;
                }
            }
        }
        let home = &self.plan.buffers[from];
        let copies = self.plan.buffers.len();
        let name = format!("{}.copy{copies}", home.name);
        let buffer = BufferPlan {
            name,
            role: None,
            element: home.element,
            region,
            layout,
            reach_x: [0, 0],
            base: 0,
        };
        self.remarks.push(Remark {
            kind: RemarkKind::Analysis,
            pass: "distribute",
            name: "Redistributed",
            function: home.name.clone(),
            span: None,
            message: format!("{} is copied to another distribution, as {}", home.name, buffer.name),
            terms: vec![],
        });
        let to = self.plan.buffers.push(buffer);
        self.plan.steps.push(Step::Redistribute { from, to, clamp });
        to
    }

    /// Puts the reads of a nest together.
    fn nest(&mut self, shape: NestShape, accesses: &[Access]) -> Result<Nest, PlanError> {
        let mut groups: BTreeMap<GroupKey, Vec<(Expr, TiledAccess)>> = BTreeMap::new();
        let mut whole_of = BTreeMap::new();
        let mut read_of = BTreeMap::new();
        for access in accesses {
            match self.tiled_form(access, shape.dims) {
                Some(tiled) => {
                    let clamp = self.active_clamp(access, &tiled, &shape);
                    let key = GroupKey {
                        source: access.source,
                        value: access.value,
                        ratio: tiled.ratio(),
                        clamp,
                        inner: tiled.inner.iter().map(inner_terms).collect(),
                    };
                    groups.entry(key).or_default().push((access.expr, tiled));
                }
                None => {
                    let home = self.homes[&(access.source, access.value)];
                    let region = self.plan.buffers[home].region.clone();
                    let buffer = self.copy(home, Layout::Replicated, region, vec![]);
                    whole_of.insert(access.expr, buffer);
                }
            }
        }
        self.merge_clamps(&mut groups, &shape);
        let mut reads: Vec<(Read, Tiled)> = Vec::new();
        for (key, members) in &groups {
            let number = reads.len();
            read_of.extend(members.iter().map(|(expr, _)| (*expr, number)));
            reads.push(self.read(key, members, &shape));
        }
        if shape.stage_pgsm {
            // A window that exists is laid out even where the bank could be read directly.
            for (read, _) in &mut reads {
                read.window =
                    Some(super::Window { base: 0, pitch: 0, rows: 0, left: 0, right: 0, top: 0 });
            }
        }
        let unroll_x = reads.iter().fold(1, |n, (r, _)| {
            // Vectors until a lane's place repeats: the least n with 4 * n a multiple of d.
            lcm(n, Ratio::new(LANES as i64, r.ratio[0].d).d)
        });
        let unroll_y = reads.iter().fold(1, |n, (r, _)| lcm(n, r.ratio[1].d));
        let block_rows =
            place_windows(self.machine, &shape.tiles, &mut reads).ok_or_else(|| PlanError {
                message: format!(
                    "the rows that a tile of `{}` reads do not fit the scratchpad of a group",
                    shape.name
                ),
                span: Some(shape.span),
            })?;
        for (read, _) in &reads {
            self.want_ghosts(read);
        }
        Ok(Nest {
            name: shape.name,
            region: shape.region,
            tiles: shape.tiles,
            rdom: shape.rdom,
            reads: reads.into_iter().map(|(r, _)| r).collect(),
            read_of,
            whole_of,
            block_rows,
            unroll: [unroll_x as u32, unroll_y as u32],
        })
    }

    /// The limits that the coordinates of an access are clamped to, where they go beyond them.
    fn active_clamp(
        &self,
        access: &Access,
        tiled: &TiledAccess,
        shape: &NestShape,
    ) -> [Option<(i64, i64)>; 2] {
        [0, 1].map(|k| {
            let implicit = match access.source {
                Source::Input(input) if self.plan.pipeline.inputs[input].repeat_edge => {
                    let extents = &self.plan.extents.inputs[input];
                    extents.get(k).map(|&e| (0, i64::from(e) - 1))
                }
                _ => None,
            };
            let limits = match (tiled.index[k].clamp, implicit) {
                (Some((a, b)), Some((c, d))) => Some((a.clamp(c, d), b.clamp(c, d))),
                (one, other) => one.or(other),
            };
            // A clamp may have one limit only; what is held limits the other side.
            let home = self.homes[&(access.source, access.value)];
            let held = self.plan.buffers[home].region.get(k);
            let limits = limits.zip(held).map(|((a, b), held)| {
                let (first, last) = (i64::from(held.min), i64::from(held.max));
                (a.clamp(first, last), b.clamp(first, last))
            });
            let range = self.range(tiled, k, shape);
            limits.filter(|(low, high)| range.0 < *low || range.1 > *high)
        })
    }

    /// Least and greatest coordinate, before clamping, that an access reads along dimension `k`.
    fn range(&self, tiled: &TiledAccess, k: usize, shape: &NestShape) -> (i64, i64) {
        let own = shape.region.get(k).copied().unwrap_or(Interval::new(0, 0));
        tiled.index[k].range((own.min.into(), own.max.into()), &|var| shape.interval(var))
    }

    /// Accesses without clamping join those with, where clamping would not change them.
    fn merge_clamps(
        &self,
        groups: &mut BTreeMap<GroupKey, Vec<(Expr, TiledAccess)>>,
        shape: &NestShape,
    ) {
        let keys: Vec<GroupKey> = groups.keys().cloned().collect();
        for from in &keys {
            let Some(members) = groups.get(from) else { continue };
            let fits = |to: &GroupKey| {
                to != from
                    && (to.source, to.value, to.ratio, &to.inner)
                        == (from.source, from.value, from.ratio, &from.inner)
                    && (0..2).all(|k| match (from.clamp[k], to.clamp[k]) {
                        (a, b) if a == b => true,
                        (None, Some((low, high))) => members.iter().all(|(_, tiled)| {
                            let (first, last) = self.range(tiled, k, shape);
                            low <= first && last <= high
                        }),
                        _ => false,
                    })
            };
            if let Some(to) = keys.iter().find(|to| groups.contains_key(to) && fits(to)) {
                let moved = groups.remove(from).expect("it was there");
                groups.entry(to.clone()).or_default().extend(moved);
            }
        }
    }

    /// One read: its reach, and the buffer that serves it.
    fn read(
        &mut self,
        key: &GroupKey,
        members: &[(Expr, TiledAccess)],
        shape: &NestShape,
    ) -> (Read, Tiled) {
        let interval = |var: AffineVar| shape.interval(var);
        let mut reach = [(i64::MAX, i64::MIN); 2];
        let mut needed = [(i64::MAX, i64::MIN); 2];
        for (_, tiled) in members {
            for k in 0..2 {
                let r = tiled.index[k].reach(shape.tiles.tile[k].into(), &interval);
                reach[k] = (reach[k].0.min(r.0), reach[k].1.max(r.1));
                let r = self.range(tiled, k, shape);
                needed[k] = (needed[k].0.min(r.0), needed[k].1.max(r.1));
            }
        }
        let (inner_base, inner_reach) = inner_parts(members, &interval);
        let home = self.homes[&(key.source, key.value)];
        let wanted = self.wanted(shape, key.ratio);
        let served = match &self.plan.buffers[home].layout {
            Layout::Tiled(tiled) => {
                aligned(&shape.tiles, tiled, key.ratio) && self.clamp_in_reach(key, shape, members)
            }
            _ => false,
        };
        let mut read = Read {
            source: key.source,
            value: key.value,
            buffer: home,
            ratio: key.ratio,
            reach,
            clamp: key.clamp,
            beyond_x: key.clamp[0].map_or([0, 0], |(low, high)| {
                [(low - needed[0].0).max(0), (needed[0].1 - high).max(0)]
            }),
            inner_reach,
            inner_base,
            window: None,
        };
        if !served {
            let mut region = self.plan.buffers[home].region.clone();
            for (k, interval) in region.iter_mut().enumerate().take(2) {
                *interval = Interval::new(needed[k].0 as i32, needed[k].1 as i32);
            }
            let mut tiled = wanted;
            self.widen(&mut tiled, &read);
            let clamp = if key.clamp == [None, None] { vec![] } else { key.clamp.to_vec() };
            let width = i64::from(tiled.tile[0]);
            read.buffer = self.copy(home, Layout::Tiled(tiled), region, clamp);
            let reach = [-read.reach[0].0, read.reach[0].1 - width + 1].map(|n| n.max(0) as u32);
            let buffer = &mut self.plan.buffers[read.buffer];
            buffer.reach_x = [buffer.reach_x[0].max(reach[0]), buffer.reach_x[1].max(reach[1])];
            read.clamp = [None, None];
            read.beyond_x = [0, 0];
        }
        let tiled = self.plan.buffers[read.buffer].tiled().clone();
        (read, tiled)
    }

    /// The tiles of a producer that meet those of a nest.
    fn wanted(&self, shape: &NestShape, ratio: [Ratio; 2]) -> Tiled {
        let size = |k: usize| {
            // Where the ratio gives no whole tile, the multiple chosen for tiles was not met by
            // the schedule of another stage; the next whole one holds all that is read.
            let whole = ratio[k].of(shape.tiles.tile[k].into());
            whole.unwrap_or_else(|| i64::from(shape.tiles.tile[k]) * ratio[k].a / ratio[k].d + 1)
        };
        let origin = |k: usize| {
            ratio[k].of(shape.tiles.origin[k].into()).unwrap_or_else(|| {
                (i64::from(shape.tiles.origin[k]) * ratio[k].a).div_euclid(ratio[k].d)
            })
        };
        Tiled {
            grid: shape.tiles.grid,
            tile: [size(0) as u32, size(1) as u32],
            origin: [origin(0) as i32, origin(1) as i32],
            ghost_columns: [0, 0],
            ghost_rows: [0, 0],
        }
    }

    /// Whether every tile that holds points of the nest has the limits it is clamped to within
    /// what it and its neighbours hold. It has not where a whole tile reads beyond the limits.
    fn clamp_in_reach(
        &self,
        key: &GroupKey,
        shape: &NestShape,
        members: &[(Expr, TiledAccess)],
    ) -> bool {
        let interval = |var: AffineVar| shape.interval(var);
        (0..2).all(|k| {
            let Some((low, high)) = key.clamp[k] else { return true };
            let own = shape.region.get(k).copied().unwrap_or(Interval::new(0, 0));
            let engines = if k == 0 { i64::from(shape.tiles.grid.engines) } else { 1 };
            let step = i64::from(shape.tiles.tile[k]) * engines;
            let origin = i64::from(shape.tiles.origin[k]);
            let (first, last) = (i64::from(own.min), i64::from(own.max));
            let strips = (first - origin).div_euclid(step)..=(last - origin).div_euclid(step);
            strips.into_iter().all(|strip| {
                let start = (origin + strip * step).max(first);
                let end = (origin + (strip + 1) * step - 1).min(last);
                let ranges = members.iter().map(|(_, t)| t.index[k].range((start, end), &interval));
                let hull = ranges.fold((i64::MAX, i64::MIN), |h, r| (h.0.min(r.0), h.1.max(r.1)));
                hull.1 >= low && hull.0 <= high
            })
        })
    }

    /// Gives tiles the ghost zones that a read reaches into.
    fn widen(&self, tiled: &mut Tiled, read: &Read) {
        let strip = i64::from(tiled.tile[0]) * i64::from(tiled.grid.engines);
        let columns = |n: i64| (n.max(0) as u64).div_ceil(strip as u64) as u32;
        let left = columns(-read.reach[0].0);
        let right = columns(read.reach[0].1 - i64::from(tiled.tile[0]) + 1);
        let top = (-read.reach[1].0).max(0) as u32;
        let bottom = (read.reach[1].1 - i64::from(tiled.tile[1]) + 1).max(0) as u32;
        let most = |a: [u32; 2], b: [u32; 2]| [a[0].max(b[0]), a[1].max(b[1])];
        tiled.ghost_columns = most(tiled.ghost_columns, [left, right]);
        tiled.ghost_rows = most(tiled.ghost_rows, [top, bottom]);
    }

    /// Widens the home of a read, and has its ghost zones filled before the read.
    fn want_ghosts(&mut self, read: &Read) {
        let home = self.homes[&(read.source, read.value)];
        if read.buffer != home {
            return;
        }
        let mut tiled = self.plan.buffers[home].tiled().clone();
        self.widen(&mut tiled, read);
        let any = tiled.ghost_columns != [0, 0] || tiled.ghost_rows != [0, 0];
        let width = i64::from(tiled.tile[0]);
        let buffer = &mut self.plan.buffers[home];
        buffer.layout = Layout::Tiled(tiled);
        let reach = [-read.reach[0].0, read.reach[0].1 - width + 1].map(|n| n.max(0) as u32);
        buffer.reach_x = [buffer.reach_x[0].max(reach[0]), buffer.reach_x[1].max(reach[1])];
        if any && !self.exchanged.contains(&home) {
            self.exchanged.push(home);
            self.plan.steps.push(Step::Exchange(home));
        }
    }

    fn reserve(&mut self, bytes: u32, what: &str, span: Option<Span>) -> Result<u32, PlanError> {
        let base = self.plan.bank_end;
        let end = u64::from(base) + u64::from(bytes.next_multiple_of(16));
        if end > u64::from(self.machine.memory.bank_bytes) {
            return Err(PlanError {
                message: format!(
                    "{what} does not fit: {end} bytes of {} in a bank",
                    self.machine.memory.bank_bytes
                ),
                span,
            });
        }
        self.plan.bank_end = end as u32;
        Ok(base)
    }

    fn place_buffers(&mut self) -> Result<(), PlanError> {
        let ids: Vec<BufferId> = self.plan.buffers.keys().collect();
        for id in ids {
            let buffer = self.plan.buffers[id].to_buffer(Role::Output);
            let bytes = u32::try_from(buffer.size_bytes()).unwrap_or(u32::MAX);
            // Vectors may begin before the first element or end behind the last.
            self.reserve(16, &buffer.name, None)?;
            let base = self.reserve(bytes, &format!("`{}`", buffer.name), None)?;
            self.reserve(16, &buffer.name, None)?;
            self.plan.buffers[id].base = base;
        }
        Ok(())
    }
}

/// What the reads of a nest have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct GroupKey {
    source: Source,
    value: u32,
    ratio: [Ratio; 2],
    clamp: [Option<(i64, i64)>; 2],
    /// The terms of the part of each inner index that stays the same in a tile.
    inner: Vec<Vec<(AffineVar, i64)>>,
}

/// A nest before its reads are known.
struct NestShape {
    name: String,
    region: Region,
    dims: usize,
    tiles: Tiled,
    rdom: Option<(nbcc_stages::RDom, Vec<Interval>)>,
    span: Span,
    stage_pgsm: bool,
}

impl NestShape {
    fn interval(&self, var: AffineVar) -> Interval {
        match var {
            AffineVar::Dim(n) => self.region[n as usize],
            AffineVar::RVar(rdom, n) => match &self.rdom {
                Some((own, intervals)) if *own == rdom => intervals[n as usize],
                _ => panic!("{rdom} is not the domain of {}", self.name),
            },
        }
    }
}

/// The tile that a schedule names.
fn scheduled_tile(schedule: &Schedule) -> Option<([u32; 2], Span)> {
    schedule.directives.iter().rev().find_map(|directive| match &directive.kind {
        DirectiveKind::Target { name: "ipim_tile", args } => {
            let sizes = args.iter().filter_map(|arg| match arg {
                DirectiveArg::Int(n) => Some(u32::try_from(*n).unwrap_or(u32::MAX).clamp(1, 4096)),
                DirectiveArg::Var(_) => None,
            });
            let sizes: Vec<u32> = sizes.collect();
            let width = *sizes.first()?;
            Some(([width, sizes.get(1).copied().unwrap_or(1)], directive.span))
        }
        _ => None,
    })
}

/// Whether a schedule asks for staging in the scratchpad.
fn asks_for_staging(schedule: &Schedule) -> bool {
    let staged = |d: &nbcc_stages::Directive| {
        matches!(d.kind, DirectiveKind::Target { name: "load_pgsm", .. })
    };
    schedule.directives.iter().any(staged)
}

/// The terms of an inner index in the dimensions of the nest.
fn inner_terms(index: &Affine) -> Vec<(AffineVar, i64)> {
    let dims = index.terms.iter().filter(|(var, _)| matches!(var, AffineVar::Dim(_)));
    dims.map(|(&var, &c)| (var, c)).collect()
}

/// Splits inner indices into the part that all accesses share and the reach around it.
fn inner_parts(
    members: &[(Expr, TiledAccess)],
    interval: &dyn Fn(AffineVar) -> Interval,
) -> (Vec<Affine>, Vec<(i64, i64)>) {
    let count = members.first().map_or(0, |(_, t)| t.inner.len());
    let mut bases = Vec::new();
    let mut reaches = Vec::new();
    for d in 0..count {
        let mut base = members[0].1.inner[d].clone();
        base.terms.retain(|var, _| matches!(var, AffineVar::Dim(_)));
        base.constant = 0;
        let mut reach = (i64::MAX, i64::MIN);
        for (_, tiled) in members {
            let rest = tiled.inner[d].combine(1, &base, -1).unwrap_or_default();
            let ends = rest.range(|var| {
                let i = interval(var);
                (i.min.into(), i.max.into())
            });
            reach = (reach.0.min(ends.0 as i64), reach.1.max(ends.1 as i64));
        }
        bases.push(base);
        reaches.push(reach);
    }
    (bases, reaches)
}

/// The index form of an expression. Panics where it has none: the plan only keeps those that do.
pub fn form(forms: &SecondaryMap<Expr, Option<IndexForm>>, expr: Expr) -> &IndexForm {
    match &forms[expr] {
        Some(form) => form,
        None => panic!("{} has no affine form", expr.index()),
    }
}

/// The name of a source, for messages.
pub fn name_of(plan: &Plan, source: Source) -> &str {
    source_name(&plan.pipeline, source)
}
