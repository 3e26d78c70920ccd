//! Evaluating a tape over one row.

use cranelift_entity::EntityRef;
use nbcc_base::Span;
use nbcc_stages::bounds::{Interval, ParamValues, Region};
use nbcc_stages::scalar::{self, normalize};
use nbcc_stages::{
    BinaryOp, CompareOp, ElementType, ExprKind, Func, Input, Intrinsic, Pipeline, UnaryOp,
};

use super::tape::{Op, Slot, Tape};

/// Elements evaluated together.
pub(super) const ROW: usize = 512;

/// Elements over a region, dimension 0 varying fastest.
pub(super) struct Buffer {
    pub region: Region,
    pub data: Vec<u32>,
}

/// What the expressions of a stage can read.
pub(super) struct Memory<'a> {
    pub pipeline: &'a Pipeline,
    pub inputs: Vec<Buffer>,
    /// The values of each Func, empty where it is not computed (yet).
    pub funcs: Vec<Vec<Buffer>>,
    pub params: &'a ParamValues,
}

/// Where a row lies.
#[derive(Clone, Default)]
pub(super) struct Place {
    /// The coordinate of each dimension; the row's own dimension is not read.
    pub dims: Vec<i32>,
    /// The coordinates along the row.
    pub row: Vec<i32>,
    /// The values of the reduction domain's variables.
    pub rvars: Vec<i32>,
}

/// An access outside what is there.
pub(super) struct Outside {
    /// What was accessed.
    pub what: What,
    /// The coordinates of the access.
    pub coordinates: Vec<i32>,
    /// The lane of the row.
    pub lane: usize,
    pub span: Span,
}

/// What an access is of.
#[derive(Clone, Copy)]
pub(super) enum What {
    Input(Input),
    Func(Func),
}

/// The rows of a tape's slots.
struct Lanes {
    rows: Vec<Vec<u32>>,
    /// Where the elements of the last located access lie.
    positions: Vec<usize>,
}

/// A tape and its rows.
pub(super) struct Evaluator {
    tape: Tape,
    lanes: Lanes,
    row: Option<u32>,
}

impl Evaluator {
    /// `row` is the dimension that rows run along, as in [`super::tape::compile`]; `width` how
    /// many elements a row has at most.
    pub fn new(tape: Tape, row: Option<u32>, width: usize) -> Evaluator {
        let mut rows = vec![vec![0; width]; tape.slots];
        for &(slot, word) in &tape.literals {
            rows[slot as usize].fill(word);
        }
        Evaluator { tape, lanes: Lanes { rows, positions: vec![0; width] }, row }
    }

    /// Evaluates at a place, whose row has at least one element and at most the width.
    pub fn evaluate(&mut self, memory: &Memory, place: &Place) -> Result<(), Outside> {
        let count = place.row.len();
        for op in &self.tape.ops {
            let mut out = std::mem::take(&mut self.lanes.rows[op.out as usize]);
            let lanes = if op.uniform { 1 } else { count };
            self.lanes.compute(op, &mut out[..lanes], memory, place, self.row)?;
            if op.spread {
                let word = out[0];
                out[..count].fill(word);
            }
            self.lanes.rows[op.out as usize] = out;
        }
        Ok(())
    }

    /// Operations for each element.
    pub fn operations(&self) -> u64 {
        self.tape.ops.len() as u64
    }

    /// A result of the last evaluation: one lane where it is uniform, else all of the row.
    pub fn result(&self, n: usize, count: usize) -> &[u32] {
        let (slot, uniform) = self.tape.results[n];
        &self.lanes.rows[slot as usize][..if uniform { 1 } else { count }]
    }

    /// Stores the results from `first` on at the coordinates that the results before it give.
    pub fn store(
        &mut self,
        first: usize,
        func: Func,
        buffers: &mut [Buffer],
        count: usize,
        span: Span,
    ) -> Result<(), Outside> {
        let coordinates = &self.tape.results[..first];
        let access = Access { what: What::Func(func), clamp: false, span };
        self.lanes.locate(coordinates, &buffers[0].region, access, count)?;
        for (k, buffer) in buffers.iter_mut().enumerate() {
            let (slot, uniform) = self.tape.results[first + k];
            let values = &self.lanes.rows[slot as usize];
            for (lane, &position) in self.lanes.positions[..count].iter().enumerate() {
                buffer.data[position] = values[if uniform { 0 } else { lane }];
            }
        }
        Ok(())
    }
}

/// How memory is accessed.
#[derive(Clone, Copy)]
struct Access {
    what: What,
    /// Whether coordinates outside mean the nearest edge.
    clamp: bool,
    span: Span,
}

impl Lanes {
    /// Where the elements at some coordinates lie, into `positions`. Each coordinate is a slot and
    /// whether it is uniform.
    fn locate(
        &mut self,
        coordinates: &[(Slot, bool)],
        region: &[Interval],
        access: Access,
        count: usize,
    ) -> Result<(), Outside> {
        let positions = &mut self.positions[..count];
        positions.fill(0);
        let mut stride = 1usize;
        let mut fault = None;
        for (&(slot, uniform), interval) in coordinates.iter().zip(region) {
            let words = &self.rows[slot as usize];
            let extent = interval.extent();
            let offset = |word: u32| {
                let mut at = word as i32;
                if access.clamp {
                    at = at.min(interval.max).max(interval.min);
                }
                at.wrapping_sub(interval.min) as u32
            };
            if uniform {
                let offset = offset(words[0]);
                if offset >= extent {
                    fault = Some(0);
                }
                let skip = offset as usize * stride;
                positions.iter_mut().for_each(|p| *p += skip);
            } else {
                let lanes = positions.iter_mut().zip(words);
                for (lane, (position, &word)) in lanes.enumerate() {
                    let offset = offset(word);
                    if offset >= extent && fault.is_none() {
                        fault = Some(lane);
                    }
                    *position += offset as usize * stride;
                }
            }
            stride *= extent as usize;
        }
        let Some(lane) = fault else { return Ok(()) };
        let coordinates = coordinates
            .iter()
            .map(|&(slot, uniform)| self.rows[slot as usize][if uniform { 0 } else { lane }] as i32)
            .collect();
        Err(Outside { what: access.what, coordinates, lane, span: access.span })
    }

    fn compute(
        &mut self,
        op: &Op,
        out: &mut [u32],
        memory: &Memory,
        place: &Place,
        row: Option<u32>,
    ) -> Result<(), Outside> {
        let arg = |n: usize| self.rows[op.operands[n] as usize].as_slice();
        match &op.kind {
            ExprKind::Literal(_) => panic!("literals are no operations of a tape"),
            ExprKind::Dim(n) if Some(*n) == row => {
                out.iter_mut().zip(&place.row).for_each(|(o, &c)| *o = c as u32);
            }
            ExprKind::Dim(n) => out[0] = place.dims[*n as usize] as u32,
            ExprKind::RVar(_, n) => out[0] = place.rvars[*n as usize] as u32,
            ExprKind::Param(param) => match memory.params[*param] {
                Some(word) => out[0] = word,
                None => panic!("{param:?} has no value"),
            },
            ExprKind::InputExtent(input, d) => {
                out[0] = memory.inputs[input.index()].region[*d as usize].extent();
            }
            ExprKind::Load(input, _) => {
                let clamp = memory.pipeline.inputs[*input].repeat_edge;
                let access = Access { what: What::Input(*input), clamp, span: op.span };
                self.load(op, out, &memory.inputs[input.index()], access)?;
            }
            ExprKind::Call(func, k, _) => {
                let access = Access { what: What::Func(*func), clamp: false, span: op.span };
                match memory.funcs[func.index()].get(*k as usize) {
                    Some(buffer) => self.load(op, out, buffer, access)?,
                    None => {
                        let first = |&s: &Slot| self.rows[s as usize][0] as i32;
                        let coordinates = op.operands.iter().map(first).collect();
                        let (what, span) = (access.what, op.span);
                        return Err(Outside { what, coordinates, lane: 0, span });
                    }
                }
            }
            ExprKind::Unary(unary, _) => {
                let (ty, from) = (op.ty, op.from);
                match unary {
                    UnaryOp::Neg if ty.is_float() => map1f(out, arg(0), |x| 0.0 - x),
                    UnaryOp::Abs if ty.is_float() => map1f(out, arg(0), f32::abs),
                    unary => map1(out, arg(0), |x| scalar::unary(*unary, ty, from, x)),
                }
            }
            ExprKind::Binary(binary, ..) => binary_row(op, *binary, out, arg(0), arg(1)),
            ExprKind::Compare(compare, ..) => compare_row(op.from, *compare, out, arg(0), arg(1)),
            ExprKind::Select(..) => {
                let values = arg(1).iter().zip(arg(2));
                for ((o, &c), (&a, &b)) in out.iter_mut().zip(arg(0)).zip(values) {
                    *o = if c != 0 { a } else { b };
                }
            }
            ExprKind::Cast(_) => cast_row(op.ty, op.from, out, arg(0)),
            ExprKind::Reinterpret(_) => {
                let ty = op.ty;
                map1(out, arg(0), |x| normalize(ty, x));
            }
            ExprKind::Intrinsic(function, _) => intrinsic_row(*function, op, out, &arg),
        }
        Ok(())
    }

    fn load(
        &mut self,
        op: &Op,
        out: &mut [u32],
        buffer: &Buffer,
        access: Access,
    ) -> Result<(), Outside> {
        let count = out.len();
        self.locate(&op.coordinates, &buffer.region, access, count)?;
        for (o, &position) in out.iter_mut().zip(&self.positions) {
            *o = buffer.data[position];
        }
        Ok(())
    }
}

fn map1(out: &mut [u32], a: &[u32], f: impl Fn(u32) -> u32) {
    out.iter_mut().zip(a).for_each(|(o, &a)| *o = f(a));
}

fn map1f(out: &mut [u32], a: &[u32], f: impl Fn(f32) -> f32) {
    map1(out, a, |a| f(f32::from_bits(a)).to_bits());
}

fn map2(out: &mut [u32], a: &[u32], b: &[u32], f: impl Fn(u32, u32) -> u32) {
    out.iter_mut().zip(a).zip(b).for_each(|((o, &a), &b)| *o = f(a, b));
}

fn map2f(out: &mut [u32], a: &[u32], b: &[u32], f: impl Fn(f32, f32) -> f32) {
    map2(out, a, b, |a, b| f(f32::from_bits(a), f32::from_bits(b)).to_bits());
}

/// Brings narrow results back into their type's range.
fn narrow(ty: ElementType, out: &mut [u32]) {
    if ty.bits() < 32 {
        out.iter_mut().for_each(|o| *o = normalize(ty, *o));
    }
}

fn binary_row(op: &Op, binary: BinaryOp, out: &mut [u32], a: &[u32], b: &[u32]) {
    let (ty, second) = (op.ty, op.second);
    if ty.is_float() {
        match binary {
            BinaryOp::Add => map2f(out, a, b, |x, y| x + y),
            BinaryOp::Sub => map2f(out, a, b, |x, y| x - y),
            BinaryOp::Mul => map2f(out, a, b, |x, y| x * y),
            BinaryOp::Div => map2f(out, a, b, |x, y| x / y),
            BinaryOp::Min => map2f(out, a, b, scalar::min_float),
            BinaryOp::Max => map2f(out, a, b, scalar::max_float),
            _ => map2(out, a, b, |x, y| scalar::binary(binary, ty, second, x, y)),
        }
        return;
    }
    let signed = ty.is_signed();
    match binary {
        BinaryOp::Add => map2(out, a, b, u32::wrapping_add),
        BinaryOp::Sub => map2(out, a, b, u32::wrapping_sub),
        BinaryOp::Mul => map2(out, a, b, u32::wrapping_mul),
        BinaryOp::Div if signed => {
            map2(out, a, b, |x, y| scalar::div_signed(x as i32, y as i32) as u32);
        }
        BinaryOp::Mod if signed => {
            map2(out, a, b, |x, y| scalar::mod_signed(x as i32, y as i32) as u32);
        }
        BinaryOp::Div => map2(out, a, b, scalar::div_unsigned),
        BinaryOp::Mod => map2(out, a, b, scalar::mod_unsigned),
        BinaryOp::Min if signed => map2(out, a, b, |x, y| (x as i32).min(y as i32) as u32),
        BinaryOp::Max if signed => map2(out, a, b, |x, y| (x as i32).max(y as i32) as u32),
        BinaryOp::Min => map2(out, a, b, u32::min),
        BinaryOp::Max => map2(out, a, b, u32::max),
        BinaryOp::And => map2(out, a, b, |x, y| x & y),
        BinaryOp::Or => map2(out, a, b, |x, y| x | y),
        BinaryOp::Xor => map2(out, a, b, |x, y| x ^ y),
        BinaryOp::Shl | BinaryOp::Shr => {
            map2(out, a, b, |x, y| scalar::binary(binary, ty, second, x, y));
        }
    }
    narrow(ty, out);
}

fn compare_row(ty: ElementType, op: CompareOp, out: &mut [u32], a: &[u32], b: &[u32]) {
    fn of<T: PartialOrd>(
        op: CompareOp,
        out: &mut [u32],
        a: &[u32],
        b: &[u32],
        t: impl Fn(u32) -> T,
    ) {
        match op {
            CompareOp::Eq => map2(out, a, b, |x, y| (t(x) == t(y)).into()),
            CompareOp::Ne => map2(out, a, b, |x, y| (t(x) != t(y)).into()),
            CompareOp::Lt => map2(out, a, b, |x, y| (t(x) < t(y)).into()),
            CompareOp::Le => map2(out, a, b, |x, y| {
                let greater = t(x) > t(y);
                (!greater).into()
            }),
            CompareOp::Gt => map2(out, a, b, |x, y| (t(x) > t(y)).into()),
            CompareOp::Ge => map2(out, a, b, |x, y| {
                let less = t(x) < t(y);
                (!less).into()
            }),
        }
    }
    if ty.is_float() {
        of(op, out, a, b, f32::from_bits);
    } else if ty.is_signed() {
        of(op, out, a, b, |x| x as i32);
    } else {
        of(op, out, a, b, |x| x);
    }
}

fn cast_row(to: ElementType, from: ElementType, out: &mut [u32], a: &[u32]) {
    if to.is_float() && from.is_signed() {
        map1(out, a, |x| (x as i32 as f32).to_bits());
    } else if to.is_float() && !from.is_float() {
        map1(out, a, |x| (x as f32).to_bits());
    } else if from.is_float() {
        map1(out, a, |x| scalar::cast(to, from, x));
    } else {
        out.copy_from_slice(&a[..out.len()]);
        narrow(to, out);
    }
}

fn intrinsic_row<'a>(
    function: Intrinsic,
    op: &Op,
    out: &mut [u32],
    arg: &impl Fn(usize) -> &'a [u32],
) {
    match function {
        Intrinsic::Floor => map1f(out, arg(0), f32::floor),
        Intrinsic::Ceil => map1f(out, arg(0), f32::ceil),
        Intrinsic::Sqrt => map1f(out, arg(0), f32::sqrt),
        _ if op.operands.len() == 2 => {
            map2f(out, arg(0), arg(1), |x, y| scalar::intrinsic(function, x, y));
        }
        _ => map1f(out, arg(0), |x| scalar::intrinsic(function, x, 0.0)),
    }
}
