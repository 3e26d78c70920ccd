//! Makes the plan: modes, families of tiles, reads, copies, ghost zones, addresses, kernels in
//! order.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use cranelift_entity::{PrimaryMap, SecondaryMap};
use nbcc_base::Span;
use nbcc_isa_ipim::layout::{Layout, Role};
use nbcc_isa_ipim::{ATOM_BYTES, LANES, Machine};
use nbcc_stages::bounds::{AffineVar, Bounds, Extents, Region};
use nbcc_stages::{DirectiveKind, Func, Pipeline, Schedule};

use super::access::{Access, Source, varies_along_x};
use super::chunks::{divisible, in_chunks, lengths};
use super::coefficients::coefficients;
use super::copies::{in_parts, most_copied};
use super::excerpt::Excerpt;
use super::layouts::Families;
use super::modes::{Mode, Reduction, elements, foreign_accesses};
use super::order::{self, Order, Orders, Reordered};
use super::patch::Patch;
use super::planes::Chosen;
use super::planner::{Failure, Limits, NestShape, PlanError, Planner, Ways};
use super::prepared::{Prepared, reductions};
use super::scans::by_parts;
use super::separate::by_line;
use super::split::split;
use super::tuples::by_value;
use super::windows::parts_in_scratchpad;
use super::{
    Border, BufferId, BufferPlan, Finding, FindingKind, Outside, Parts, Plan, ReduceStep,
    SerialStep, Stage, Step, TileStep, cost,
};
use crate::memory::BANK_RESERVED;

/// Makes the plan of a pipeline whose extents are literals and whose Funcs are inlined: with
/// dimensions in the source's order, or in that which distributes more, with windows whole or line by line,
/// also with updates that have nothing in common apart from each other, and in chunks where windows have no
/// room for domains, whichever is the cheapest by the estimate.
///
/// # Errors
/// What exceeds the machine's memory.
pub fn make_plan(
    pipeline: Pipeline,
    extents: &Extents,
    bounds: Bounds,
    machine: &Machine,
) -> Result<Plan, PlanError> {
    let mut best = distributed(&pipeline, extents, &bounds, machine);
    let mut last = by_line(&pipeline, &bounds, machine);
    let lines = last.as_ref().map(|(all, whole, _)| distributed(all, extents, whole, machine));
    match lines.filter(|lines| cycles(lines, machine) < cycles(&best, machine)) {
        Some(lines) => best = lines,
        None => last = None,
    }
    let mut of_best = last.clone();
    let rewrites = [by_parts, by_value, split];
    for rewrite in rewrites {
        let (so_far, bounds_so_far) =
            last.as_ref().map_or((&pipeline, &bounds), |(pipeline, bounds, _)| (pipeline, bounds));
        let Some((other, bounds, findings)) = rewrite(so_far, bounds_so_far) else { continue };
        let before = last.take().map_or(vec![], |(.., findings)| findings);
        let findings: Vec<Finding> = before.into_iter().chain(findings).collect();
        let plan = distributed(&other, extents, &bounds, machine);
        last = Some((other, bounds, findings));
        if cycles(&plan, machine) < cycles(&best, machine) {
            best = plan;
            of_best.clone_from(&last);
        }
    }
    let (all, whole) =
        of_best.as_ref().map_or((&pipeline, &bounds), |(all, whole, _)| (all, whole));
    let too_long = best.as_ref().map_or(vec![], |plan| divisible(plan, all));
    let in_lengths = lengths(&too_long).into_iter().map(|length| {
        let (all, whole, findings) = in_chunks(all, whole, &too_long, length);
        (distributed(&all, extents, &whole, machine), findings)
    });
    // Times are estimates, and chunks more kernels.
    let enough = cycles(&best, machine);
    let mut chunked = vec![];
    if let Some((other, findings)) = in_lengths.min_by_key(|(plan, _)| cycles(plan, machine))
        && cycles(&other, machine) < enough - enough / 8
    {
        (best, chunked) = (other, findings);
    }
    if let Ok(plan) = &mut best {
        // Whoever chooses tiles knows the Funcs of the source.
        plan.founders.retain(|func| pipeline.funcs.is_valid(*func));
        let rewritten = of_best.into_iter().flat_map(|(.., findings)| findings);
        plan.findings.splice(..0, rewritten.chain(chunked));
    }
    best
}

/// What a plan is estimated to take; no plan, more than any.
fn cycles(plan: &Result<Plan, PlanError>, machine: &Machine) -> u64 {
    plan.as_ref().map_or(u64::MAX, |plan| cost::total(plan, machine).cycles())
}

/// The same for the Funcs that there are.
fn distributed(
    pipeline: &Pipeline,
    extents: &Extents,
    bounds: &Bounds,
    machine: &Machine,
) -> Result<Plan, PlanError> {
    let mut best = plan_in_order(pipeline, extents, bounds, machine, &Orders::new());
    let mut of_best = Orders::new();
    for (orders, gain) in order::choices(pipeline, bounds, machine) {
        let enough = gain.over(best.as_ref().ok()).below(cycles(&best, machine));
        let other = reordered(pipeline, extents, bounds, machine, &orders);
        if let Some(other) = other.filter(|other| cycles(other, machine) < enough) {
            (best, of_best) = (other, orders);
        }
    }
    let weights = coefficients(pipeline, bounds, &of_best);
    if !weights.is_empty() {
        of_best.extend(weights);
        let other = reordered(pipeline, extents, bounds, machine, &of_best);
        let enough = cycles(&best, machine);
        if let Some(other) = other.filter(|other| cycles(other, machine) < enough) {
            best = other;
        }
    }
    best
}

/// The same with dimensions in these orders. `None` where they cannot be.
fn reordered(
    pipeline: &Pipeline,
    extents: &Extents,
    bounds: &Bounds,
    machine: &Machine,
    orders: &Orders,
) -> Option<Result<Plan, PlanError>> {
    let Reordered { pipeline, extents, bounds, findings } =
        order::reorder(pipeline, extents, bounds, orders)?;
    let mut plan = plan_in_order(&pipeline, &extents, &bounds, machine, orders);
    if let Ok(plan) = &mut plan {
        let is_single = |of: Func| {
            let mut kinds = plan.findings.iter().map(|finding| &finding.kind);
            kinds
                .any(|kind| matches!(kind, FindingKind::NotDistributed { func, .. } if *func == of))
        };
        let alone = |finding: &Finding| match finding.kind {
            FindingKind::Reordered { func, .. } => is_single(func),
            _ => false,
        };
        let distributed: Vec<Finding> = findings.into_iter().filter(|f| !alone(f)).collect();
        plan.findings.splice(..0, distributed);
    }
    Some(plan)
}

/// Makes the plan of a pipeline whose dimensions are in these orders: with copies in other orders or
/// without, with inputs in rows or in columns, with patches or without, with what
/// lies around edges fetched or in excerpts, whichever is the cheapest by the estimate.
fn plan_in_order(
    pipeline: &Pipeline,
    extents: &Extents,
    bounds: &Bounds,
    machine: &Machine,
    orders: &Orders,
) -> Result<Plan, PlanError> {
    let all = (pipeline, extents, bounds, machine, orders);
    let in_order = Ways { in_order: true, ..Ways::default() };
    let by_plane = Ways { by_plane: true, ..Ways::default() };
    let mut kept = None;
    let mut plan_within = |ways: Ways| plan_within(all, ways, &mut kept);
    let of_default = plan_within(Ways::default());
    let Ok(plan) = of_default.or_else(|_| plan_within(by_plane)) else {
        return plan_within(in_order);
    };
    let copies = plan.steps.iter().filter_map(|step| match step {
        Step::Redistribute { from, to, order, .. } => Some((*from, *to, order)),
        _ => None,
    });
    let permuted = copies.clone().any(|(_, _, order)| !order.is_empty());
    let patched = copies.clone().filter(|(_, to, _)| plan.buffers[*to].patch.is_some());
    let of_input =
        |(from, ..): (BufferId, BufferId, &Order)| plan.buffers[from].role == Some(Role::Input);
    let tiled = |func: Func| {
        let mut nests = plan.steps.iter().filter_map(|step| match step {
            Step::Tiles(step) => Some((step.func, step.stage)),
            _ => None,
        });
        nests.any(|(of, stage)| of == func && stage != Stage::Pure)
    };
    let distributed = bounds.needed(pipeline).map(|(func, _)| func).filter(|&func| tiled(func));
    let reduced = !reductions(&mut pipeline.clone(), bounds, distributed).is_empty();
    let whole = copies.clone().filter(|(_, to, _)| {
        let copy = &plan.buffers[*to];
        copy.layout == Layout::Replicated && copy.excerpt.is_none()
    });
    let is_around = |border: Border| border.outside == Outside::Around;
    let around = plan.buffers.values().any(|buffer| buffer.border.is_some_and(is_around));
    let others = [
        reduced.then_some(Ways { in_parts: true, ..Ways::default() }),
        permuted.then_some(in_order),
        patched.clone().any(of_input).then_some(Ways { in_columns: true, ..Ways::default() }),
        whole.clone().any(of_input).then_some(Ways { wide: true, ..Ways::default() }),
        patched.clone().next().map(|_| Ways { unpatched: true, ..Ways::default() }),
        around.then_some(Ways { from_excerpts: true, ..Ways::default() }),
    ];
    let mut best = Ok(plan);
    for ways in others.into_iter().flatten() {
        let other = plan_within(ways);
        if cycles(&other, machine) < cycles(&best, machine) {
            best = other;
        }
    }
    best
}

/// The same in one of the ways. `kept` is what is common to the ways.
fn plan_within(
    (pipeline, extents, bounds, machine, orders): (&Pipeline, &Extents, &Bounds, &Machine, &Orders),
    ways: Ways,
    kept: &mut Option<Prepared>,
) -> Result<Plan, PlanError> {
    let mut limits = Limits {
        ways,
        width: u32::MAX,
        whole: BTreeSet::new(),
        in_order: BTreeSet::new(),
        unpatched: BTreeSet::new(),
        by_plane: BTreeSet::new(),
        unpadded: BTreeSet::new(),
        single: BTreeSet::new(),
    };
    loop {
        let prepared = Prepared::within(kept, &limits, (pipeline, extents, bounds));
        match attempt(prepared, extents, machine, (&limits, orders)) {
            Ok(plan) => return Ok(plan),
            Err(Failure::Error(error)) => return Err(error),
            Err(Failure::Padded(func)) => {
                limits.unpadded.insert(func);
            }
            Err(Failure::Copies(func)) => {
                limits.single.insert(func);
            }
            Err(Failure::Windows { func, sources, permuted, patched, given_up }) => {
                let by_plane = || Chosen::of(pipeline, extents, bounds, func).is_some();
                let small = |source| {
                    let elements = match source {
                        Source::Input(input) => {
                            extents.inputs[input].iter().map(|&n| u64::from(n)).product()
                        }
                        Source::Func(_) => elements(bounds, source),
                    };
                    elements <= most_copied(machine)
                };
                let in_parts = |source| read_in_parts(pipeline, machine, func, source);
                let lists = [&sources[..], &permuted, &patched];
                limits.tighten(func, lists, given_up, by_plane, [&small, &in_parts]);
            }
        }
    }
}

/// Whether vaults may do with a part of all that a Func reads of a source.
fn read_in_parts(pipeline: &Pipeline, machine: &Machine, func: Func, source: Source) -> bool {
    let stages = order::stages(pipeline, func);
    let mut accesses = stages.flat_map(|stage| foreign_accesses(pipeline, func, stage));
    accesses.all(|access| access.source != source || in_parts(pipeline, machine, &access))
}

/// Makes a plan within limits.
fn attempt(
    prepared: &Prepared,
    extents: &Extents,
    machine: &Machine,
    (limits, orders): (&Limits, &Orders),
) -> Result<Plan, Failure> {
    let mut planner = Planner {
        padded: prepared.padded.clone(),
        machine,
        limits,
        orders,
        families: Families::default(),
        asked: BTreeMap::new(),
        modes: BTreeMap::new(),
        members: BTreeMap::new(),
        reduce_members: BTreeMap::new(),
        homes: BTreeMap::new(),
        exchanged: Vec::new(),
        reductions: prepared.reductions.clone(),
        plan: Plan {
            pipeline: Rc::clone(&prepared.pipeline),
            extents: extents.clone(),
            held: prepared.held.clone(),
            bounds: Rc::clone(&prepared.bounds),
            forms: Rc::clone(&prepared.forms),
            buffers: PrimaryMap::new(),
            inputs: SecondaryMap::new(),
            funcs: SecondaryMap::new(),
            params: Vec::new(),
            founders: Vec::new(),
            findings: Vec::new(),
            steps: Vec::new(),
            bank_end: BANK_RESERVED,
        },
    };
    let needed = &prepared.needed;
    planner.choose_modes(needed);
    planner.choose_tiles(needed);
    planner.make_homes(needed);
    for &func in needed {
        planner.func(func)?;
    }
    planner.place_buffers()?;
    Ok(planner.plan)
}

/// What a copy holds of a buffer, and how.
pub(super) struct Holding {
    /// Which bank holds what.
    pub(super) layout: Layout,
    /// The coordinates it holds, in the order of its places.
    pub(super) region: Region,
    /// The place of the buffer at each of its places, where that is another.
    pub(super) order: Order,
    /// Where coordinates are clamped to.
    pub(super) clamp: Vec<Option<(i64, i64)>>,
    /// The part of each vault, where they differ.
    pub(super) excerpt: Option<Excerpt>,
    /// The boxes that its tiles hold, where they do not follow the coordinates.
    pub(super) patch: Option<Patch>,
}

impl Holding {
    /// A region as it is.
    pub(super) fn all(layout: Layout, region: Region) -> Holding {
        let (order, clamp) = (Order::new(), vec![]);
        Holding { layout, region, order, clamp, excerpt: None, patch: None }
    }
}

impl Planner<'_> {
    fn func(&mut self, func: Func) -> Result<(), Failure> {
        for stage in self.stages(func) {
            match (self.modes[&func].clone(), stage) {
                (Mode::Tiled, _) => self.tile_step(func, stage)?,
                (Mode::Single(_), Stage::Update(k))
                    if self.reduce_members.contains_key(&(func, k)) =>
                {
                    self.reduce_step(func, k)?;
                }
                (Mode::Single(_), _) => self.serial_step(func, stage)?,
            }
        }
        Ok(())
    }

    /// The intervals of a stage's loops; `None` where it never runs.
    pub(super) fn loops(
        &self,
        func: Func,
        stage: Stage,
    ) -> Option<nbcc_stages::bounds::StageLoops> {
        let number = match stage {
            Stage::Pure => 0,
            Stage::Update(k) => k + 1,
        };
        self.plan.bounds.funcs[func].as_ref()?.stages[number].clone()
    }

    fn tile_step(&mut self, func: Func, stage: Stage) -> Result<(), Failure> {
        let Some(loops) = self.loops(func, stage) else { return Ok(()) };
        let data = &self.plan.pipeline.funcs[func];
        let (name, dims) = (data.name.clone(), data.vars.len());
        let stage_pgsm = matches!(stage, Stage::Pure) && asks_for_staging(&data.schedule);
        let rdom = match stage {
            Stage::Update(k) => data.updates[k].rdom.map(|r| (r, loops.rvars.clone())),
            Stage::Pure => None,
        };
        let targets = self.plan.funcs[func].clone();
        let tiles = self.plan.buffers[targets[0]].tiled().clone();
        let accesses = self.nest_accesses(func, stage);
        let mut region = loops.dims;
        if let Stage::Update(k) = stage {
            // Of an update only the dimensions that its left side names have loops.
            let update = &self.plan.pipeline.funcs[func].updates[k];
            for (d, interval) in region.iter_mut().enumerate() {
                if !update.is_pure_dim(&self.plan.pipeline, d) {
                    interval.max = interval.min;
                }
            }
        }
        let span = self.plan.pipeline.funcs[func].span;
        let tables = true;
        let nest = NestShape { name, span, region, dims, tiles, rdom, stage_pgsm, tables };
        let nest = self.nest(func, nest, &accesses)?;
        self.plan.steps.push(Step::Tiles(TileStep { func, stage, nest, targets }));
        Ok(())
    }

    fn reduce_step(&mut self, func: Func, k: usize) -> Result<(), Failure> {
        let Some(region) = self.reduction_region(func, k) else { return Ok(()) };
        let member = self.reduce_members[&(func, k)];
        let data = &self.plan.pipeline.funcs[func];
        let shape = NestShape {
            name: data.name.clone(),
            span: data.span,
            dims: region.len(),
            region,
            tiles: self.families.tiled(member, self.machine),
            rdom: None,
            stage_pgsm: false,
            tables: false,
        };
        let accesses = self.nest_accesses(func, Stage::Update(k));
        let nest = self.nest(func, shape, &accesses)?;
        let target = self.plan.funcs[func][0];
        let reduction = self.reductions[&(func, k)].clone();
        let Reduction { args, value, predicates, op, .. } = reduction;
        let scattered = varies_along_x(&self.plan.pipeline, &args);
        let words = self.plan.buffers[target].words();
        let bytes = |atoms: u32| u64::from(atoms) * u64::from(ATOM_BYTES);
        let what = format!("the parts of {}", nest.name);
        let span = Some(self.plan.pipeline.funcs[func].span);
        let parts = match parts_in_scratchpad(self.machine, &nest, words, scattered) {
            Some(parts) => parts,
            None => Parts::Bank(self.reserve(bytes(words), &what, span)?),
        };
        // The engines of a vault take turns at summing up the packed parts.
        let grid = &nest.tiles.grid;
        let team = grid.groups[0] * grid.groups[1] * grid.engines;
        let chunks = (words / LANES as u32).div_ceil(team);
        let packed = self.reserve(bytes(chunks * team), &what, span)?;
        let sums = self.reserve(bytes(chunks), &what, span)?;
        self.plan.steps.push(Step::Reduce(ReduceStep {
            func,
            nest,
            args,
            value,
            predicates,
            op,
            target,
            scattered,
            parts,
            packed,
            sums,
        }));
        Ok(())
    }

    fn serial_step(&mut self, func: Func, stage: Stage) -> Result<(), Failure> {
        if self.loops(func, stage).is_none() {
            return Ok(());
        }
        let mut sources = BTreeMap::new();
        let all = self.foreign(func, stage);
        for access in all.iter() {
            if self.padded.contains_key(&access.expr) {
                return Err(Failure::Padded(func));
            }
            let key = (access.source, access.value);
            let home = self.homes[&key];
            let layout = Layout::Single { cube: 0, vault: 0, pg: 0, pe: 0 };
            let buffer = if self.plan.buffers[home].layout == layout {
                home
            } else {
                let of_source = all.iter().filter(|a| (a.source, a.value) == key);
                let region = self.read_up_to(home, func, stage, of_source);
                self.copy(home, Holding::all(layout, region))
            };
            sources.insert(key, buffer);
        }
        let targets = self.plan.funcs[func].clone();
        self.plan.steps.push(Step::Serial(SerialStep { func, stage, targets, sources }));
        Ok(())
    }

    /// The columns and rows of a buffer up to the last that accesses of a stage read, columns in whole atoms;
    /// all where data decides.
    fn read_up_to<'a>(
        &self,
        buffer: BufferId,
        func: Func,
        stage: Stage,
        accesses: impl Iterator<Item = &'a Access> + Clone,
    ) -> Region {
        let buffer = &self.plan.buffers[buffer];
        let loops = self.loops(func, stage).expect("a stage that runs");
        let interval = |var: AffineVar| match var {
            AffineVar::Dim(n) => loops.dims[n as usize],
            AffineVar::RVar(_, n) => loops.rvars[n as usize],
        };
        let mut region = buffer.region.clone();
        for (k, held) in region.iter_mut().enumerate().take(2) {
            let [least, most] = [held.min, held.max].map(i128::from);
            let form = |access: &Access| self.plan.forms[access.args[k]].as_ref();
            let ends = accesses.clone().map(|access| Some(form(access)?.range(interval).1));
            let last = ends.reduce(|a, b| a.zip(b).map(|(a, b)| a.max(b)));
            let Some(last) = last.flatten() else { continue };
            let unit = if k == 0 { LANES as i128 } else { 1 };
            let read = (last.clamp(least, most) - least) / unit * unit + unit;
            held.max = (least + read - 1).min(most) as i32;
        }
        region
    }

    /// A copy of a buffer that is distributed otherwise; made once, also where one that is there holds
    /// more: tiles with wider ghost zones, elements further out.
    pub(super) fn copy(&mut self, from: BufferId, holding: Holding) -> BufferId {
        let Holding { layout, region, order, clamp, excerpt, patch } = holding;
        for step in &self.plan.steps {
            if let Step::Redistribute { from: f, to, order: o, clamp: c } = step {
                let b = &self.plan.buffers[*to];
                let whole = matches!(layout, Layout::Single { .. }) && b.layout == layout;
                let holds = b.layout == layout && b.region == region
                    || (whole || contains(&b.layout, &layout)) && covers(&b.region, &region);
                let alike = (&b.excerpt, &b.patch) == (&excerpt, &patch);
                if *f == from && holds && alike && (o, c) == (&order, &clamp) {
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
            border: None,
            moved: [0, 0],
            backwards: [false; 2],
            part_of: Vec::new(),
            order: order::compose(&home.order, &order),
            excerpt,
            patch,
            base: 0,
        };
        let kind = FindingKind::Redistributed { to: buffer.name.clone() };
        let (about, span) = (home.name.clone(), self.defined_at(from));
        self.plan.findings.push(Finding { about, span, kind });
        let to = self.plan.buffers.push(buffer);
        self.plan.steps.push(Step::Redistribute { from, to, order, clamp });
        to
    }

    /// Where the input or Func is defined whose values a buffer holds.
    pub(super) fn defined_at(&self, buffer: BufferId) -> Option<Span> {
        let Plan { pipeline, funcs, inputs, steps, .. } = &self.plan;
        let copied = steps.iter().find_map(|step| match step {
            Step::Redistribute { from, to, .. } if *to == buffer => Some(*from),
            _ => None,
        });
        let func = || pipeline.funcs.keys().find(|&func| funcs[func].contains(&buffer));
        let input = || pipeline.inputs.keys().find(|&input| inputs[input] == Some(buffer));
        match copied {
            Some(from) => self.defined_at(from),
            None => {
                let of_func = func().map(|func| pipeline.funcs[func].span);
                of_func.or_else(|| input().map(|input| pipeline.inputs[input].span))
            }
        }
    }
}

/// Whether tiles of one layout have those of another in the same places, and their ghost zones.
fn contains(layout: &Layout, other: &Layout) -> bool {
    let (Layout::Tiled(a), Layout::Tiled(b)) = (layout, other) else { return false };
    let wide = |a: [u32; 2], b: [u32; 2]| a[0] >= b[0] && a[1] >= b[1];
    (a.grid, a.tile, a.origin) == (b.grid, b.tile, b.origin)
        && wide(a.ghost_columns, b.ghost_columns)
        && wide(a.ghost_rows, b.ghost_rows)
}

/// Whether a region has all elements of another of as many dimensions.
fn covers(region: &Region, other: &Region) -> bool {
    region.len() == other.len()
        && region.iter().zip(other).all(|(a, b)| a.min <= b.min && b.max <= a.max)
}

/// Whether a schedule asks for staging in the scratchpad.
fn asks_for_staging(schedule: &Schedule) -> bool {
    let staged = |d: &nbcc_stages::Directive| {
        matches!(d.kind, DirectiveKind::Target { name: "load_pgsm", .. })
    };
    schedule.directives.iter().any(staged)
}
