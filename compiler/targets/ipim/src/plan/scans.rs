//! Scans of one dimension by parts: `f(r) = f(r - 1) + g(r)` runs on one engine, as no dimension is free.
//! Where the operation is associative, blocks of the scan are scanned beside each other, then their last
//! elements on one engine, and each element is combined with what came before its block (Blelloch, "Prefix
//! Sums and Their Applications", 1990, section 1.2).

use nbcc_base::Span;
use nbcc_stages::bounds::{Bounds, FuncBounds, Interval, StageLoops};
use nbcc_stages::{
    BinaryOp, CompareOp, Definition, ElementType, Expr, ExprKind, Func, Literal, Pipeline,
    Progression, RDom, Simplifier, Walker,
};

use super::maker::Maker;
use super::{Finding, FindingKind};

/// Shorter scans stay as they are.
const SHORTEST: i64 = 64;

/// More operands of a scan's operation are not looked at.
const MOST_OPERANDS: usize = 64;

/// The pipeline with such scans by parts, its bounds, and what was done. `None` where there is none.
pub fn by_parts(pipeline: &Pipeline, bounds: &Bounds) -> Option<(Pipeline, Bounds, Vec<Finding>)> {
    let needed: Vec<Func> = bounds.needed(pipeline).map(|(func, _)| func).collect();
    let scans: Vec<Option<Scan>> = needed.iter().map(|&func| Scan::of(pipeline, func)).collect();
    if scans.iter().all(Option::is_none) {
        return None;
    }
    let (mut pipeline, mut bounds) = (pipeline.clone(), bounds.clone());
    let (mut order, mut findings) = (Vec::new(), Vec::new());
    for (&func, scan) in needed.iter().zip(&scans) {
        if let Some(scan) = scan {
            let data = &pipeline.funcs[func];
            let kind = FindingKind::ScannedByParts { parts: scan.blocks(), points: scan.block() };
            findings.push(Finding { about: data.name.clone(), span: Some(data.span), kind });
            order.extend(scan.divide(&mut pipeline, &mut bounds));
        }
        order.push(func);
    }
    bounds.order = order;
    Some((pipeline, bounds, findings))
}

/// A scan: for `t` from 0 on, the element at `first + step * t` becomes what `op` makes of the one before
/// and of `rest`.
struct Scan {
    func: Func,
    /// What it is before.
    begins: Expr,
    rdom: RDom,
    /// The first value of the domain's variable, and how many there are.
    min: i64,
    points: i64,
    /// The first place, and 1 or -1.
    first: i64,
    step: i64,
    op: BinaryOp,
    rest: Vec<Expr>,
    ty: ElementType,
    span: Span,
}

impl Scan {
    /// The scan that a Func of one dimension is, if it is one.
    fn of(pipeline: &Pipeline, func: Func) -> Option<Scan> {
        let data = &pipeline.funcs[func];
        let ([update], [ty], 1) = (&data.updates[..], &data.types[..], data.vars.len()) else {
            return None;
        };
        let rdom = update.rdom?;
        let domain = &pipeline.rdoms[rdom];
        let [(min, points)] = domain.dims[..] else { return None };
        let (min, points) = (pipeline.integer(min)?, pipeline.integer(points)?);
        let place = Progression::of(pipeline, rdom, update.args[0])?;
        let ExprKind::Binary(op, ..) = pipeline.exprs[update.values[0]].kind else { return None };
        if !domain.predicates.is_empty()
            || points < SHORTEST
            || place.factor.abs() != 1
            || identity(op, *ty).is_none()
        {
            return None;
        }
        let called = |expr: Expr| match &pipeline.exprs[expr].kind {
            ExprKind::Call(callee, 0, args) if *callee == func => {
                Progression::of(pipeline, rdom, args[0])
            }
            _ => None,
        };
        let before = Progression { offset: place.offset - place.factor, ..place };
        let mut rest = operands(pipeline, op, update.values[0])?;
        let place_of_before = rest.iter().position(|&expr| called(expr) == Some(before))?;
        rest.remove(place_of_before);
        // Of its own elements the rest may have the one that is replaced.
        let own = Walker::once(pipeline, rest.iter().copied()).into_iter();
        let mut own =
            own.filter(|&e| matches!(&pipeline.exprs[e].kind, ExprKind::Call(f, ..) if *f == func));
        if !own.all(|expr| called(expr) == Some(place)) {
            return None;
        }
        Some(Scan {
            func,
            begins: data.pure.as_ref()?.values[0],
            rdom,
            min,
            points,
            first: place.offset + place.factor * min,
            step: place.factor,
            op,
            rest,
            ty: *ty,
            span: update.span,
        })
    }

    /// Elements that are combined: the one before the scan, and its points.
    fn elements(&self) -> i64 {
        self.points + 1
    }

    /// Elements of a block: about as many as there are blocks or twice as many, since elements of a block
    /// take less than blocks, one after the other.
    fn block(&self) -> u32 {
        ((self.elements() as f64).sqrt().ceil() as u32).next_power_of_two()
    }

    fn blocks(&self) -> u32 {
        (self.elements() as u32).div_ceil(self.block())
    }

    /// Makes the Funcs of elements, of blocks, of the last elements of these and of what comes before each,
    /// and of the scan what combines them; those that are new, producers first.
    fn divide(&self, pipeline: &mut Pipeline, bounds: &mut Bounds) -> [Func; 4] {
        let (block, blocks) = (i64::from(self.block()), i64::from(self.blocks()));
        let name = pipeline.funcs[self.func].name.clone();
        let make = &mut Maker { pipeline, simplifier: Simplifier::default(), span: self.span };
        let (d0, d1) = (make.dim(0), make.dim(1));
        let identity = identity(self.op, self.ty).expect("an associative operation");
        let identity = make.make(ExprKind::Literal(identity), self.ty);

        let ahead = make.scaled(d1, block, 0);
        let number = make.int(BinaryOp::Add, ahead, d0);
        let value = self.element(make, d0, identity);
        let elements = make.func(format!("{name}.elements"), &["number"], self.ty, value);
        let value = make.make(ExprKind::Call(elements, 0, vec![number]), self.ty);
        let parts = make.func(format!("{name}.parts"), &["i", "part"], self.ty, value);
        let along = make.rdom(format!("{name}.within"), 1, block - 1);
        let at = make.make(ExprKind::RVar(along, 0), ElementType::I32);
        let before = make.scaled(at, 1, -1);
        let [before, own] = [before, at].map(|at| ExprKind::Call(parts, 0, vec![at, d1]));
        let value = self.combined(make, before, own);
        make.update(parts, vec![at, d1], value, along);

        let end = make.number(block - 1);
        let value = make.make(ExprKind::Call(parts, 0, vec![end, d0]), self.ty);
        let ends = make.func(format!("{name}.ends"), &["part"], self.ty, value);

        let carried = make.func(format!("{name}.before"), &["part"], self.ty, identity);
        let over = make.rdom(format!("{name}.over"), 1, blocks - 1);
        let at = make.make(ExprKind::RVar(over, 0), ElementType::I32);
        let before = make.scaled(at, 1, -1);
        let [before, own] = [carried, ends].map(|func| ExprKind::Call(func, 0, vec![before]));
        let value = self.combined(make, before, own);
        make.update(carried, vec![at], value, over);

        // The element before the scan is number 0.
        let place = make.number(self.first - self.step);
        let sides = if self.step > 0 { [d0, place] } else { [place, d0] };
        let number = make.int(BinaryOp::Sub, sides[0], sides[1]);
        let [zero, last, size] = [0, self.points, block].map(|n| make.number(n));
        let limited = make.int(BinaryOp::Min, number, last);
        let inside = make.int(BinaryOp::Max, limited, zero);
        let part = make.int(BinaryOp::Div, inside, size);
        let within = make.int(BinaryOp::Mod, inside, size);
        let before = ExprKind::Call(carried, 0, vec![part]);
        let own = ExprKind::Call(parts, 0, vec![within, part]);
        let value = self.combined(make, before, own);
        let [begun, over] =
            [(zero, number), (number, last)].map(|(a, b)| make.compare(CompareOp::Le, a, b));
        let here = make.make(ExprKind::Binary(BinaryOp::And, begun, over), ElementType::Bool);
        let value = make.make(ExprKind::Select(here, value, self.begins), self.ty);
        let data = &mut pipeline.funcs[self.func];
        data.pure = Some(Definition { values: vec![value], span: self.span });
        data.updates.clear();

        let [within, over] = [block, blocks].map(|count| Interval::new(0, count as i32 - 1));
        let of = |region: &[Interval], scanned: Option<Interval>| {
            let loops = |rvars| Some(StageLoops { dims: region.to_vec(), rvars });
            let update = scanned.map(|all| loops(vec![Interval::new(1, all.max)]));
            let stages = std::iter::once(loops(vec![])).chain(update).collect();
            Some(FuncBounds { region: region.to_vec(), stages })
        };
        let all = Interval::new(0, (block * blocks) as i32 - 1);
        bounds.funcs[elements] = of(&[all], None);
        bounds.funcs[parts] = of(&[within, over], Some(within));
        bounds.funcs[ends] = of(&[over], None);
        bounds.funcs[carried] = of(&[over], Some(over));
        let region = bounds.region(self.func).expect("it is needed").to_vec();
        bounds.funcs[self.func] = of(&region, None);
        [elements, parts, ends, carried]
    }

    /// Element `number` of those that are combined; behind the last what changes nothing.
    fn element(&self, make: &mut Maker<'_>, number: Expr, identity: Expr) -> Expr {
        let [zero, last] = [0, self.points].map(|n| make.number(n));
        let inside = make.int(BinaryOp::Min, number, last);
        let place = make.scaled(inside, self.step, self.first - self.step);
        let begins = self.begins_at(make, place);
        let point = make.scaled(inside, 1, -1);
        let point = make.int(BinaryOp::Max, point, zero);
        let rest = self.rest_at(make, point);
        let is_first = make.compare(CompareOp::Eq, number, zero);
        let counted = make.make(ExprKind::Select(is_first, begins, rest), self.ty);
        let counts = make.compare(CompareOp::Le, number, last);
        make.make(ExprKind::Select(counts, counted, identity), self.ty)
    }

    /// What the operation makes of two elements.
    fn combined(&self, make: &mut Maker<'_>, before: ExprKind, own: ExprKind) -> Expr {
        let [before, own] = [before, own].map(|kind| make.make(kind, self.ty));
        make.make(ExprKind::Binary(self.op, before, own), self.ty)
    }

    /// What is combined at point `t`.
    fn rest_at(&self, make: &mut Maker<'_>, t: Expr) -> Expr {
        let variable = make.scaled(t, 1, self.min);
        let place = make.scaled(t, self.step, self.first);
        let begins = self.begins_at(make, place);
        let instead = |kind: &ExprKind| match kind {
            ExprKind::RVar(rdom, _) if *rdom == self.rdom => Some(variable),
            ExprKind::Call(func, ..) if *func == self.func => Some(begins),
            _ => None,
        };
        let (first, others) = self.rest.split_first().expect("an operation has two operands");
        others.iter().fold(make.substituted(*first, instead), |so_far, &next| {
            let next = make.substituted(next, instead);
            make.make(ExprKind::Binary(self.op, so_far, next), self.ty)
        })
    }

    /// What the Func is at a place before its update.
    fn begins_at(&self, make: &mut Maker<'_>, place: Expr) -> Expr {
        make.substituted(self.begins, |kind| matches!(kind, ExprKind::Dim(0)).then_some(place))
    }
}

/// Operands of an operation whose order does not matter, where it is applied several times. `None` of too
/// many.
fn operands(pipeline: &Pipeline, op: BinaryOp, root: Expr) -> Option<Vec<Expr>> {
    let (mut found, mut left) = (Vec::new(), vec![root]);
    while let Some(expr) = left.pop() {
        match pipeline.exprs[expr].kind {
            ExprKind::Binary(of, a, b) if of == op => left.extend([b, a]),
            _ => found.push(expr),
        }
        if left.len() + found.len() > MOST_OPERANDS {
            return None;
        }
    }
    Some(found)
}

/// What changes nothing under an operation that is associative and commutative, whatever the order.
pub(super) fn identity(op: BinaryOp, ty: ElementType) -> Option<Literal> {
    if ty.is_float() {
        return None;
    }
    let (least, greatest) = ty.integer_range();
    let ones = if ty.is_signed() { -1 } else { greatest };
    let is_bool = ty == ElementType::Bool;
    Some(Literal::Int(match op {
        BinaryOp::Add if !is_bool => 0,
        BinaryOp::Mul if !is_bool => 1,
        BinaryOp::Min => greatest,
        BinaryOp::Max => least,
        BinaryOp::And => ones,
        BinaryOp::Or | BinaryOp::Xor => 0,
        _ => return None,
    }))
}
