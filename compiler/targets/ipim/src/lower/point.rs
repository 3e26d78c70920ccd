//! The innermost body of a stage computed on one engine: how elements are reached at one point, or
//! at four of a row.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use nbcc_base::Span;
use nbcc_ir::{Builder, Mem, Op, Value};
use nbcc_isa_ipim::LANES;
use nbcc_stages::bounds::{Interval, Region, StageLoops};
use nbcc_stages::lower::{Access, ExprLowering};
use nbcc_stages::{Expr, ExprKind, Param, RDom};

use super::body::{from_word, param_value, word_type};
use super::gather::{gather, limited};
use super::math::{plus, ramp};
use crate::intrinsics::at_most;
use crate::plan::{BufferId, Plan, Recurrence, SerialStep, Source};

/// A stage as one engine computes it.
pub(crate) struct Serial<'a> {
    pub plan: &'a Plan,
    pub step: &'a SerialStep,
    /// The memory objects of targets and sources.
    pub mems: BTreeMap<BufferId, Mem>,
    /// Whether an expression depends on the coordinate along dimension 0.
    pub varies: SecondaryMap<Expr, bool>,
    /// Coordinates on the left side; none for those that are the dimension itself.
    pub args: Vec<Option<Expr>>,
    pub values: &'a [Expr],
    pub predicates: &'a [Expr],
    pub rdom: Option<RDom>,
    pub loops: &'a StageLoops,
    /// Coordinates that the targets hold.
    pub region: &'a Region,
    pub span: Span,
    /// Points computed together: four, or one.
    pub lanes: u8,
    /// Whether the reduction domain runs over one element of the Func for each point.
    pub accumulates: bool,
    /// Whether rounds of innermost loops may stand one behind the other.
    pub unrolls: bool,
}

/// A point of the loops: the values of dimensions and variables that have a loop. Of four points
/// the coordinate along dimension 0 is that of the first.
#[derive(Clone)]
pub(crate) struct Point {
    /// Points computed together.
    pub lanes: u8,
    /// Coordinates.
    pub dims: Vec<Option<Value>>,
    /// Variables of the reduction domain.
    pub rvars: Vec<Option<Value>>,
}

/// What a scan has stored in the rounds before the one at hand: by rounds ago, the last first, all values.
#[derive(Clone, Copy)]
pub(crate) struct Scanned<'a> {
    pub recurrence: &'a Recurrence,
    pub values: &'a [Value],
}

/// Expressions at a point.
pub(crate) struct PointBody<'a> {
    serial: &'a Serial<'a>,
    point: &'a Point,
    lanes: u8,
    /// What the element of the point holds, where that is in registers.
    carried: Option<&'a [Value]>,
    /// What rounds before have stored, where that is in registers.
    pub scanned: Option<Scanned<'a>>,
    /// What is the same in all lanes, as scalars.
    scalars: Option<ExprLowering<'a>>,
}

impl<'a> PointBody<'a> {
    pub fn new(
        serial: &'a Serial<'a>,
        point: &'a Point,
        carried: Option<&'a [Value]>,
    ) -> PointBody<'a> {
        let scalars = ExprLowering::new(&serial.plan.pipeline, 1);
        PointBody {
            serial,
            point,
            lanes: point.lanes,
            carried,
            scanned: None,
            scalars: Some(scalars),
        }
    }

    /// An expression as a scalar: that of the first lane.
    pub fn scalar(&mut self, b: &mut Builder<'_>, expr: Expr) -> Value {
        let mut scalars = self.scalars.take().expect("scalars do not nest");
        let (serial, point) = (self.serial, self.point);
        let mut first =
            PointBody { serial, point, lanes: 1, carried: None, scanned: None, scalars: None };
        let value = scalars.lower(b, expr, &mut first);
        self.scalars = Some(scalars);
        value
    }

    fn spread(&self, b: &mut Builder<'_>, value: Value) -> Value {
        if self.lanes == 1 { value } else { b.value(Op::Splat(value, self.lanes)) }
    }

    /// The interval that coordinate `k` of an input is clamped to, where it may lie outside.
    fn repeated(&self, source: Source, k: usize) -> Option<Interval> {
        match source {
            Source::Input(input) => self.serial.plan.repeated(input, k),
            Source::Func(_) => None,
        }
    }

    /// Whether the coordinate is that of a run of elements, one a lane.
    fn consecutive(&self, source: Source, x: Expr) -> bool {
        let form = self.serial.plan.forms[x].as_ref().and_then(|f| f.as_affine());
        form.is_some_and(|affine| affine.dim(0) == 1) && self.repeated(source, 0).is_none()
    }

    /// Elements at scalar coordinates: the one there, or a run from there on.
    fn at(
        &mut self,
        b: &mut Builder<'_>,
        (source, id): (Source, BufferId),
        args: &[Expr],
        ty: nbcc_stages::ElementType,
        lanes: u8,
        lower: &mut ExprLowering<'_>,
    ) -> Value {
        let plan = self.serial.plan;
        let mem = self.serial.mems[&id];
        let known = args.iter().all(|&arg| plan.forms[arg].is_some());
        let mut coordinates = Vec::new();
        for (k, &arg) in args.iter().enumerate() {
            let value =
                if self.lanes == 1 { lower.lower(b, arg, self) } else { self.scalar(b, arg) };
            coordinates.push(limited(b, self.repeated(source, k), value));
        }
        if !known && lanes == 1 {
            return gather(b, plan, id, mem, &coordinates, 1);
        }
        let mut subscripts = Vec::new();
        for (k, (&c, interval)) in coordinates.iter().zip(&plan.buffers[id].region).enumerate() {
            let subscript = plus(b, c, -i64::from(interval.min));
            // What is read decides: it may be out of range where a float was no number.
            subscripts.push(if known || k == 0 {
                subscript
            } else {
                let last = b.i32(interval.extent() as i32 - 1);
                at_most(b, subscript, last)
            });
        }
        if subscripts.is_empty() {
            subscripts.push(b.i32(0));
        }
        b.load(word_type(ty, lanes), mem, subscripts)
    }
}

impl Access for PointBody<'_> {
    fn dim(&mut self, b: &mut Builder<'_>, dim: u32) -> Value {
        let value = self.point.dims[dim as usize].expect("dimensions of the stage have loops");
        let value = self.spread(b, value);
        if dim > 0 || self.lanes == 1 {
            return value;
        }
        let lanes = ramp(b, self.lanes);
        b.iadd(value, lanes)
    }

    fn rvar(&mut self, b: &mut Builder<'_>, _: RDom, dim: u32) -> Value {
        let value = self.point.rvars[dim as usize].expect("variables have loops");
        self.spread(b, value)
    }

    fn param(&mut self, b: &mut Builder<'_>, param: Param) -> Value {
        let ty = self.serial.plan.pipeline.params[param].ty;
        param_value(b, param, ty, self.lanes)
    }

    fn element(&mut self, b: &mut Builder<'_>, expr: Expr, lower: &mut ExprLowering<'_>) -> Value {
        let serial = self.serial;
        let data = &serial.plan.pipeline.exprs[expr];
        let (source, value, args) = match &data.kind {
            ExprKind::Load(input, args) => (Source::Input(*input), 0, args),
            ExprKind::Call(func, value, args) => (Source::Func(*func), *value, args),
            other => panic!("{other:?} is no element"),
        };
        let id = if source == Source::Func(serial.step.func) {
            if let Some(carried) = self.carried {
                return carried[value as usize];
            }
            if let Some(Scanned { recurrence, values }) = self.scanned
                && let Some(ago) = recurrence.ago(serial.plan, args)
            {
                return values[(ago as usize - 1) * serial.step.targets.len() + value as usize];
            }
            serial.step.targets[value as usize]
        } else {
            serial.step.sources[&(source, value)]
        };
        let ty = data.ty;
        let varies = args.iter().any(|&arg| serial.varies[arg]);
        let word = if self.lanes == 1 || !varies {
            let word = self.at(b, (source, id), args, ty, 1, lower);
            self.spread(b, word)
        } else if self.consecutive(source, args[0])
            && args[1..].iter().all(|&arg| !serial.varies[arg])
        {
            self.at(b, (source, id), args, ty, LANES as u8, lower)
        } else {
            let coordinates: Vec<Value> = args
                .iter()
                .enumerate()
                .map(|(k, &arg)| {
                    let value = lower.lower(b, arg, self);
                    limited(b, self.repeated(source, k), value)
                })
                .collect();
            gather(b, serial.plan, id, serial.mems[&id], &coordinates, self.lanes)
        };
        from_word(b, word, ty)
    }
}
