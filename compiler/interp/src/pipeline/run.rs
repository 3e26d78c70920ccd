//! Funcs in order, stages in order, points in order.

use cranelift_entity::{EntityRef, SecondaryMap};
use nbcc_base::{Diagnostics, Span};
use nbcc_stages::bounds::{
    self, Bounds, Extents, FuncBounds, Interval, ParamValues, Region, StageLoops, points,
};
use nbcc_stages::{ElementType, Expr, ExprKind, Func, Image, Input, Pipeline, Walker};

use super::row::{Buffer, Evaluator, Memory, Outside, Place, ROW, What};
use super::tape;

/// More elements than this are not held at once (4 bytes each).
pub const MAX_LIVE_ELEMENTS: u64 = 1 << 28;

/// Why a pipeline cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum Trap {
    /// Bounds inference found errors.
    #[error("{}", first_message(.0))]
    Bounds(Diagnostics),
    /// An input has no image, or one of another type or number of dimensions.
    #[error("the image for input `{input}` {what}")]
    Input {
        /// The input's name.
        input: String,
        /// What is wrong with its image.
        what: String,
    },
    /// A scalar parameter has neither a value nor a default.
    #[error("parameter `{param}` has no value")]
    Param {
        /// The parameter's name.
        param: String,
        /// Where it is declared.
        span: Span,
    },
    /// The Funcs that are needed at once have too many elements.
    #[error("computing `{func}` needs {elements} elements at once: too many")]
    TooLarge {
        /// The Func at which there were too many.
        func: String,
        /// How many elements would be held.
        elements: u64,
    },
    /// The memory for what is computed is not there.
    #[error("`{name}` takes {bytes} bytes of memory, which cannot be had")]
    Memory {
        /// The Func or input for which there was none.
        name: String,
        /// Bytes of its elements.
        bytes: u64,
    },
    /// The pipeline takes more steps than it may.
    #[error("more than {0} steps")]
    Steps(u64),
    /// An access outside what is computed. Either an index depends on a float that is no number,
    /// or bounds inference is at fault.
    #[error(
        "`{func}` at {point:?} accesses `{accessed}` at {coordinates:?}, which is not computed"
    )]
    Access {
        /// The Func being computed.
        func: String,
        /// The point being computed: its pure dimensions, then the reduction variables.
        point: Vec<i32>,
        /// The Func or input accessed.
        accessed: String,
        /// The coordinates of the access.
        coordinates: Vec<i32>,
        /// The access.
        span: Span,
    },
}

fn first_message(diagnostics: &Diagnostics) -> String {
    diagnostics.iter().next().map_or_else(String::new, |d| d.message.clone())
}

/// Runs the algorithm of a pipeline, without its schedule. `outputs` is the region of each of
/// [`Pipeline::outputs`]. The result has an image for each output; for one with a tuple, an image
/// for each value, in order.
pub fn run(
    pipeline: &Pipeline,
    inputs: &SecondaryMap<Input, Image>,
    params: &ParamValues,
    outputs: &[Region],
) -> Result<Vec<Image>, Trap> {
    run_within(pipeline, inputs, params, outputs, u64::MAX)
}

/// As [`run`], of `max_steps` at most: an operation on one element is a step.
pub fn run_within(
    pipeline: &Pipeline,
    inputs: &SecondaryMap<Input, Image>,
    params: &ParamValues,
    outputs: &[Region],
    max_steps: u64,
) -> Result<Vec<Image>, Trap> {
    for (param, data) in &pipeline.params {
        if params[param].is_none() {
            return Err(Trap::Param { param: data.name.clone(), span: data.span });
        }
    }
    let mut extents = Extents { inputs: SecondaryMap::new(), outputs: outputs.to_vec() };
    for (input, data) in &pipeline.inputs {
        let image = &inputs[input];
        let fault = |what: String| Trap::Input { input: data.name.clone(), what };
        if image.ty != data.ty {
            return Err(fault(format!("holds {}, not {}", image.ty, data.ty)));
        }
        if image.extent.len() != data.dims as usize {
            return Err(fault(format!("has {} dimensions, not {}", image.extent.len(), data.dims)));
        }
        if image.min.iter().any(|&m| m != 0) {
            return Err(fault("does not start at zero".to_string()));
        }
        if image.data.len() as u64 != image.extent.iter().map(|&e| u64::from(e)).product() {
            return Err(fault("has another number of elements than its extents say".to_string()));
        }
        extents.inputs[input] = image.extent.clone();
    }
    let mut pipeline = bounds::without_limitless(pipeline, &extents, params);
    // The left side of a pure definition is not in the arena.
    let rank = pipeline.funcs.values().map(|f| f.vars.len() as u32).max().unwrap_or(0);
    let dims: Vec<Expr> = (0..rank)
        .map(|d| pipeline.expr(ExprKind::Dim(d), ElementType::I32, Span::default()))
        .collect();
    let pipeline = &pipeline;
    for input in pipeline.inputs.keys() {
        has_room(&pipeline.inputs[input].name, inputs[input].data.len() as u64)?;
    }
    let mut memory = Memory { pipeline, inputs: Vec::new(), funcs: Vec::new(), params };
    for input in pipeline.inputs.keys() {
        let image = &inputs[input];
        let region = image.extent.iter().map(|&e| Interval::from_extent(0, e)).collect();
        memory.inputs.push(Buffer { region, data: image.data.clone() });
    }
    let bounds = bounds::infer(pipeline, &extents, params).map_err(Trap::Bounds)?;
    let mut walker = Walker::default();
    let last_use = last_uses(pipeline, &bounds, &mut walker);
    memory.funcs.resize_with(pipeline.funcs.len(), Vec::new);
    let mut live: u64 = 0;
    let mut steps = Steps { left: max_steps, most: max_steps };
    for (func, computed) in bounds.needed(pipeline) {
        let data = &pipeline.funcs[func];
        live =
            live.saturating_add(points(&computed.region).saturating_mul(data.types.len() as u64));
        if live > MAX_LIVE_ELEMENTS {
            return Err(Trap::TooLarge { func: data.name.clone(), elements: live });
        }
        let count = points(&computed.region) as usize;
        has_room(&data.name, count as u64 * data.types.len() as u64)?;
        let zeros = || Buffer { region: computed.region.clone(), data: vec![0; count] };
        memory.funcs[func.index()] = data.types.iter().map(|_| zeros()).collect();
        realize(&mut memory, &mut walker, &dims, (func, computed), &mut steps)?;
        for old in pipeline.funcs.keys() {
            if last_use[old.index()] == Some(func) {
                let buffers = std::mem::take(&mut memory.funcs[old.index()]);
                live -= buffers.iter().map(|b| b.data.len() as u64).sum::<u64>();
            }
        }
    }
    let mut images = Vec::new();
    for (&output, region) in pipeline.outputs.iter().zip(outputs) {
        let data = &pipeline.funcs[output];
        has_room(&data.name, points(region) * data.types.len() as u64)?;
        for (k, &ty) in pipeline.funcs[output].types.iter().enumerate() {
            let image = match memory.funcs[output.index()].get(k) {
                Some(buffer) => crop(buffer, Image::over(ty, region)),
                None => Image::over(ty, region),
            };
            images.push(image);
        }
    }
    Ok(images)
}

/// Refuses elements for which there is no memory.
fn has_room(name: &str, elements: u64) -> Result<(), Trap> {
    let bytes = 4 * elements;
    match nbcc_base::has_room(bytes) {
        true => Ok(()),
        false => Err(Trap::Memory { name: name.to_string(), bytes }),
    }
}

/// Copies the part of `buffer` that `image` covers.
fn crop(buffer: &Buffer, mut image: Image) -> Image {
    let Some(&width) = image.extent.first() else {
        image.data.copy_from_slice(&buffer.data);
        return image;
    };
    let rows = image.data.chunks_exact_mut((width as usize).max(1));
    let mut at = image.min.clone();
    let extents = image.min.iter().zip(&image.extent);
    let wanted: Region = extents.map(|(&m, &e)| Interval::from_extent(m, e)).collect();
    for row in rows {
        let mut position = 0usize;
        for (c, interval) in at.iter().zip(&buffer.region).rev() {
            position = position * interval.extent() as usize + (c - interval.min) as usize;
        }
        row.copy_from_slice(&buffer.data[position..position + row.len()]);
        advance(&mut at[1..], &wanted[1..]);
    }
    image
}

/// The last Func that reads each Func; none for outputs and for what nothing reads.
fn last_uses(pipeline: &Pipeline, bounds: &Bounds, walker: &mut Walker) -> Vec<Option<Func>> {
    let mut last = vec![None; pipeline.funcs.len()];
    for (func, _) in bounds.needed(pipeline) {
        for expr in walker.reachable(pipeline, pipeline.func_roots(func)) {
            if let ExprKind::Call(callee, ..) = pipeline.exprs[expr].kind
                && callee != func
                && !pipeline.outputs.contains(&callee)
            {
                last[callee.index()] = Some(func);
            }
        }
    }
    last
}

/// The steps that may still be taken.
struct Steps {
    left: u64,
    most: u64,
}

impl Steps {
    fn take(&mut self, count: u64) -> Result<(), Trap> {
        self.left = self.left.checked_sub(count).ok_or(Trap::Steps(self.most))?;
        Ok(())
    }
}

/// One stage of a Func.
struct Stage<'a> {
    func: Func,
    /// Where the values go.
    args: Vec<Expr>,
    values: &'a [Expr],
    predicates: &'a [Expr],
    /// The dimensions whose coordinate is the loop variable of that position.
    pure_dims: Vec<u32>,
    span: Span,
}

fn realize(
    memory: &mut Memory,
    walker: &mut Walker,
    dims: &[Expr],
    (func, computed): (Func, &FuncBounds),
    steps: &mut Steps,
) -> Result<(), Trap> {
    let pipeline = memory.pipeline;
    let data = &pipeline.funcs[func];
    let rank = data.vars.len();
    if let (Some(pure), Some(loops)) = (&data.pure, &computed.stages[0]) {
        let stage = Stage {
            func,
            args: dims[..rank].to_vec(),
            values: &pure.values,
            predicates: &[],
            pure_dims: (0..rank as u32).collect(),
            span: pure.span,
        };
        run_stage(memory, walker, &stage, loops, steps)?;
    }
    for (update, loops) in data.updates.iter().zip(&computed.stages[1..]) {
        let Some(loops) = loops else { continue };
        let pure_dims = (0..rank).filter(|&d| update.is_pure_dim(pipeline, d));
        let stage = Stage {
            func,
            args: update.args.clone(),
            values: &update.values,
            predicates: update.rdom.map_or(&[][..], |r| &pipeline.rdoms[r].predicates),
            pure_dims: pure_dims.map(|d| d as u32).collect(),
            span: update.span,
        };
        run_stage(memory, walker, &stage, loops, steps)?;
    }
    Ok(())
}

/// Whether the elements of a row along pure dimension `d` can be computed together: the stage
/// reads its own Func at most at the coordinate it writes along `d`.
fn rows_are_independent(pipeline: &Pipeline, walker: &mut Walker, stage: &Stage, d: u32) -> bool {
    let roots = stage.args.iter().chain(stage.values).chain(stage.predicates);
    walker.reachable(pipeline, roots.copied()).into_iter().all(|expr| {
        match &pipeline.exprs[expr].kind {
            ExprKind::Call(func, _, args) if *func == stage.func => {
                pipeline.exprs[args[d as usize]].kind == ExprKind::Dim(d)
            }
            _ => true,
        }
    })
}

fn run_stage(
    memory: &mut Memory,
    walker: &mut Walker,
    stage: &Stage,
    loops: &StageLoops,
    steps: &mut Steps,
) -> Result<(), Trap> {
    let pipeline = memory.pipeline;
    let row = stage.pure_dims.first().copied();
    let width = match row {
        Some(d) if rows_are_independent(pipeline, walker, stage, d) => {
            ROW.min(loops.dims[d as usize].extent() as usize)
        }
        _ => 1,
    };
    let roots: Vec<Expr> = stage.args.iter().chain(stage.values).copied().collect();
    let mut body = Evaluator::new(tape::compile(pipeline, walker, &roots, row), row, width);
    let mut conditions = (!stage.predicates.is_empty()).then(|| {
        Evaluator::new(tape::compile(pipeline, walker, stage.predicates, row), row, width)
    });
    let operations = body.operations() + conditions.as_ref().map_or(0, Evaluator::operations) + 1;
    let outer: Vec<usize> = stage.pure_dims.iter().skip(1).map(|&d| d as usize).collect();
    let along = row.map_or(Interval::new(0, 0), |d| loops.dims[d as usize]);

    let mut place = Place {
        dims: loops.dims.iter().map(|i| i.min).collect(),
        row: Vec::with_capacity(width),
        rvars: loops.rvars.iter().map(|i| i.min).collect(),
    };
    let mut all = Vec::with_capacity(width);
    loop {
        let mut start = i64::from(along.min);
        while start <= i64::from(along.max) {
            let end = (start + width as i64).min(i64::from(along.max) + 1);
            all.clear();
            all.extend((start..end).map(|c| c as i32));
            loop {
                place.row.clear();
                place.row.extend_from_slice(&all);
                steps.take(operations * all.len() as u64)?;
                row_of(memory, stage, &mut body, conditions.as_mut(), &mut place)
                    .map_err(|outside| trap(pipeline, stage, row, &place, outside))?;
                if !advance(&mut place.rvars, &loops.rvars) {
                    break;
                }
            }
            start = end;
        }
        let mut at: Vec<i32> = outer.iter().map(|&d| place.dims[d]).collect();
        let intervals: Region = outer.iter().map(|&d| loops.dims[d]).collect();
        let more = advance(&mut at, &intervals);
        outer.iter().zip(at).for_each(|(&d, c)| place.dims[d] = c);
        if !more {
            return Ok(());
        }
    }
}

/// The next point, the first coordinate varying fastest; after the last one, the first and false.
fn advance(at: &mut [i32], intervals: &[Interval]) -> bool {
    for (c, interval) in at.iter_mut().zip(intervals) {
        if *c < interval.max {
            *c += 1;
            return true;
        }
        *c = interval.min;
    }
    false
}

/// Computes one row at one point of the reduction domain.
fn row_of(
    memory: &mut Memory,
    stage: &Stage,
    body: &mut Evaluator,
    conditions: Option<&mut Evaluator>,
    place: &mut Place,
) -> Result<(), Outside> {
    if let Some(conditions) = conditions {
        conditions.evaluate(memory, place)?;
        for n in 0..stage.predicates.len() {
            let holds = conditions.result(n, place.row.len());
            if holds.len() == 1 && holds[0] == 0 {
                return Ok(());
            }
        }
        let count = place.row.len();
        let mut lane = 0;
        place.row.retain(|_| {
            let holds = (0..stage.predicates.len()).all(|n| {
                let row = conditions.result(n, count);
                row[if row.len() == 1 { 0 } else { lane }] != 0
            });
            lane += 1;
            holds
        });
        if place.row.is_empty() {
            return Ok(());
        }
    }
    body.evaluate(memory, place)?;
    let index = stage.func.index();
    let mut buffers = std::mem::take(&mut memory.funcs[index]);
    let stored =
        body.store(stage.args.len(), stage.func, &mut buffers, place.row.len(), stage.span);
    memory.funcs[index] = buffers;
    stored
}

fn trap(
    pipeline: &Pipeline,
    stage: &Stage,
    row: Option<u32>,
    place: &Place,
    outside: Outside,
) -> Trap {
    let point = stage
        .pure_dims
        .iter()
        .map(|&d| if Some(d) == row { place.row[outside.lane] } else { place.dims[d as usize] });
    Trap::Access {
        func: pipeline.funcs[stage.func].name.clone(),
        point: point.chain(place.rvars.iter().copied()).collect(),
        accessed: match outside.what {
            What::Input(input) => pipeline.inputs[input].name.clone(),
            What::Func(func) => pipeline.funcs[func].name.clone(),
        },
        coordinates: outside.coordinates,
        span: outside.span,
    }
}
