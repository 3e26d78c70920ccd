//! Statements. Loops are tested at their end, behind a test at their start, so that the body heads
//! them; `while (f())` with a call in its test is tested at its start only.

use nbcc_base::Span;
use nbcc_ir::{Block, BlockCall, Counter, LoopInfo, SourceLoop, Terminator, Value, Wish};

use super::place::Located;
use super::state::{Lower, Val, Variable};
use crate::sema::tree::{Compare, Expr, ExprKind, Loop, Place, PlaceKind, Stmt, StmtKind};
use crate::types::Int;

impl Lower<'_> {
    pub(super) fn statements(&mut self, list: &[Stmt]) {
        for stmt in list {
            self.statement(stmt);
        }
    }

    fn statement(&mut self, stmt: &Stmt) {
        if self.too_large {
            return;
        }
        self.span = Some(stmt.span);
        match &stmt.kind {
            StmtKind::Expr(expr) => self.dropped(expr),
            StmtKind::Block(list) => {
                let outer = self.promises_here();
                self.statements(list);
                self.promises_end(outer);
            }
            StmtKind::If(condition, then, other) => {
                let [yes, end] = [(); 2].map(|()| self.new_block());
                let no = if other.is_some() { self.new_block() } else { end };
                self.branch_on(condition, yes, no);
                self.start(yes);
                self.statement(then);
                self.jump(end);
                if let Some(other) = other {
                    self.start(no);
                    self.statement(other);
                    self.jump(end);
                }
                self.start(end);
            }
            StmtKind::Loop(data) => {
                let outer = self.promises_here();
                self.loops(data, stmt.span);
                self.promises_end(outer);
            }
            StmtKind::Switch(value, cases, default, body) => {
                self.switch(value, cases, *default, body);
            }
            StmtKind::Label(label, inner) => {
                let Some(&block) = self.frame().labels.get(label) else { return };
                self.jump(block);
                self.start(block);
                self.statement(inner);
            }
            StmtKind::Break => {
                if let Some(&to) = self.frame().breaks.last() {
                    self.leave(to);
                }
            }
            StmtKind::Continue => {
                if let Some(&to) = self.frame().continues.last() {
                    self.leave(to);
                }
            }
            StmtKind::Return(value) => {
                let value = value.as_ref().map_or(Val::Void, |value| self.expr(value));
                let frame = self.frame();
                let (to, number) = (frame.returns_to, frame.function);
                let ty = self.program.functions[number].result;
                match self.frame().result.clone() {
                    Some(Variable::Values(vars)) => self.set(&Located::Values(vars), ty, &value),
                    Some(Variable::Pointer(vars)) => {
                        self.set(&Located::Pointer(vars), ty, &value);
                    }
                    Some(Variable::Memory(number)) => {
                        let to = super::place::whole(number);
                        self.store_value(to, ty, &value);
                    }
                    None => {}
                }
                self.span = Some(stmt.span);
                self.leave(to);
            }
            StmtKind::Local(local, init) => self.initialise(*local, init.as_ref()),
        }
    }

    /// Jumps away; what follows is never reached.
    fn leave(&mut self, to: Block) {
        self.jump(to);
        let after = self.new_block();
        self.start(after);
    }

    fn loops(&mut self, data: &Loop, span: Span) {
        // Of a function that is inlined several times it is one loop.
        if self.loops.insert(span) {
            let wish = |(name, value): &(String, String)| Wish {
                name: name.clone(),
                value: value.clone(),
            };
            let wishes = data.wishes.iter().map(wish).collect();
            self.module.loops.push(SourceLoop { span, wishes });
        }
        self.statements(&data.init);
        let counter = data.counter.and_then(|(local, step)| self.counted(local, step));
        let first = counter.and_then(|(var, ..)| {
            let value = self.read(var);
            self.func.splat_constant(value)
        });
        let [head, latch, exit] = [(); 3].map(|()| self.new_block());
        let condition = data.condition.as_ref();
        let at_end = condition.is_none_or(is_cheap) && !data.entered;
        self.span = Some(span);
        match condition {
            Some(condition) if !data.body_first && at_end => self.branch_on(condition, head, exit),
            _ => self.jump(head),
        }
        self.block = head;
        let number = counter.map(|(var, ..)| self.read(var));
        if let Some(condition) = condition.filter(|_| !data.body_first && !at_end) {
            let body = self.new_block();
            self.branch_on(condition, body, exit);
            self.start(body);
        }
        self.frame().loops += 1;
        self.frame().breaks.push(exit);
        self.frame().continues.push(latch);
        self.statement(&data.body);
        let frame = self.frame();
        frame.loops -= 1;
        frame.breaks.pop();
        frame.continues.pop();
        self.jump(latch);
        self.start(latch);
        if let Some(step) = &data.step {
            self.dropped(step);
        }
        self.span = Some(span);
        match condition {
            Some(condition) if data.body_first || at_end => self.branch_on(condition, head, exit),
            _ => self.jump(head),
        }
        self.ssa.seal(&mut self.func, head);
        if !data.entered {
            self.describe(
                data,
                head,
                counter.map(|(_, int, step)| (int, step)),
                number,
                first,
                at_end,
            );
        }
        self.start(exit);
    }

    /// The variable that counts a loop, its type and step, where it is a value.
    fn counted(&mut self, local: u32, step: i64) -> Option<(super::ssa::Var, Int, i64)> {
        let number = self.frame().function;
        let ty = self.program.functions[number].locals[local as usize].ty;
        let int = self.types.as_int(ty)?;
        match self.located(local) {
            Located::Values(vars) => Some((vars[0], int, step)),
            _ => None,
        }
    }

    /// Says what is known of a loop.
    fn describe(
        &mut self,
        data: &Loop,
        head: Block,
        counter: Option<(Int, i64)>,
        number: Option<Value>,
        first: Option<u64>,
        at_end: bool,
    ) {
        let is_param = number.is_some_and(|number| self.func.blocks[head].params.contains(&number));
        let name = match data.counter {
            Some((local, _)) => {
                let number = self.frame().function;
                self.names.text(self.program.functions[number].locals[local as usize].name)
            }
            None => "while",
        };
        let known = counter.zip(number).filter(|_| is_param);
        let counter = known.map(|((_, step), value)| Counter { value, step });
        let trips = match (known, first, &data.condition) {
            (Some(((int, step), _)), Some(first), Some(condition))
                if at_end && !data.body_first && !may_leave(&data.body, true) =>
            {
                data.counter.and_then(|(local, _)| trips(condition, local, int, step, first))
            }
            _ => None,
        };
        let name = name.to_string();
        self.func.blocks[head].loop_info = Some(LoopInfo { name, trips, counter });
    }

    fn switch(&mut self, value: &Expr, cases: &[(i64, u32)], default: Option<u32>, body: &Stmt) {
        let int = self.int_of(value.ty);
        let value = self.int(value);
        let exit = self.new_block();
        let mut blocks = Vec::new();
        for &(constant, label) in cases {
            let block = self.new_block();
            self.frame().labels.insert(label, block);
            blocks.push((constant, block));
        }
        let other = match default {
            Some(label) => {
                let block = self.new_block();
                self.frame().labels.insert(label, block);
                block
            }
            None => exit,
        };
        blocks.sort_unstable_by_key(|&(constant, _)| constant);
        let range = match (blocks.first(), blocks.last()) {
            (Some(first), Some(last)) => (last.0 as i128 - first.0 as i128) as u128,
            _ => 0,
        };
        let ty = self.func.ty(value);
        if blocks.len() >= 4 && range < 4 * blocks.len() as u128 {
            let least = blocks[0].0;
            let low = self.constant(ty, least);
            let number = self.binary(nbcc_ir::BinaryOp::Isub, value, low);
            let to = |block| BlockCall { block, args: vec![] };
            let mut table = vec![to(other); range as usize + 1];
            for &(constant, block) in &blocks {
                table[(constant - least) as usize] = to(block);
            }
            self.terminate(Terminator::Switch(number, table, to(other)));
        } else {
            for &(constant, block) in &blocks {
                let wanted = self.constant(ty, int.wrap(constant));
                let is = self.compare(nbcc_ir::IntCond::Eq, value, wanted);
                let next = self.new_block();
                self.branch(is, block, next);
                self.start(next);
            }
            self.jump(other);
        }
        // What stands before the first label is never reached.
        let before = self.new_block();
        self.start(before);
        self.frame().breaks.push(exit);
        self.statement(body);
        self.frame().breaks.pop();
        self.jump(exit);
        self.start(exit);
    }
}

/// Whether a condition may be computed at two places.
fn is_cheap(expr: &Expr) -> bool {
    fn cost(expr: &Expr) -> u32 {
        match &expr.kind {
            ExprKind::Const(_) | ExprKind::Null => 0,
            ExprKind::Value(place) | ExprKind::Address(place) => place_cost(place),
            ExprKind::Not(a)
            | ExprKind::Negate(a)
            | ExprKind::Complement(a)
            | ExprKind::Convert(a)
            | ExprKind::Repoint(a)
            | ExprKind::IsSet(a) => 1 + cost(a),
            ExprKind::Arith(_, a, b)
            | ExprKind::Compare(_, a, b)
            | ExprKind::ComparePointers(_, a, b)
            | ExprKind::And(a, b)
            | ExprKind::Or(a, b)
            | ExprKind::Offset(a, b, _)
            | ExprKind::Distance(a, b) => 1 + cost(a) + cost(b),
            ExprKind::Update { place, by, .. } | ExprKind::Move { place, by, .. } => {
                2 + place_cost(place) + cost(by)
            }
            _ => 1000,
        }
    }
    fn place_cost(place: &Place) -> u32 {
        match &place.kind {
            PlaceKind::Local(_) | PlaceKind::Global(_) => 1,
            PlaceKind::Deref(pointer) => 1 + cost(pointer),
            PlaceKind::Index(inner, index) => 1 + place_cost(inner) + cost(index),
            PlaceKind::Member(inner, _) => place_cost(inner),
            _ => 1000,
        }
    }
    cost(expr) < 24
}

/// Whether a loop may be left from within its body.
fn may_leave(stmt: &Stmt, in_loop: bool) -> bool {
    match &stmt.kind {
        StmtKind::Break => in_loop,
        StmtKind::Return(_) => true,
        StmtKind::Block(list) => list.iter().any(|stmt| may_leave(stmt, in_loop)),
        StmtKind::If(_, then, other) => {
            may_leave(then, in_loop)
                || other.as_ref().is_some_and(|other| may_leave(other, in_loop))
        }
        StmtKind::Label(_, inner) => may_leave(inner, in_loop),
        StmtKind::Switch(.., body) => may_leave(body, false),
        StmtKind::Loop(data) => may_leave(&data.body, false),
        StmtKind::Expr(_) | StmtKind::Continue | StmtKind::Local(..) => false,
    }
}

/// How often the body of a loop runs that is entered, where the condition compares its counter with
/// a constant.
fn trips(condition: &Expr, local: u32, int: Int, step: i64, first: u64) -> Option<u64> {
    let ExprKind::Compare(op, a, b) = &condition.kind else { return None };
    let mut counter = &**a;
    while let ExprKind::Convert(inner) = &counter.kind {
        counter = inner;
    }
    let is_counter = matches!(&counter.kind, ExprKind::Value(place)
        if matches!(place.kind, PlaceKind::Local(of) if of == local));
    let ExprKind::Const(bound) = b.kind else { return None };
    if !is_counter {
        return None;
    }
    let (first, bound, step) =
        (i128::from(int.wrap(first as i64)), i128::from(bound), i128::from(step));
    let distance = match (op, step.signum()) {
        (Compare::Lt, 1) => bound - first,
        (Compare::Le, 1) => bound + 1 - first,
        (Compare::Gt, -1) => first - bound,
        (Compare::Ge, -1) => first + 1 - bound,
        (Compare::Ne, 1) if (bound - first) % step == 0 => bound - first,
        (Compare::Ne, -1) if (first - bound) % step == 0 => first - bound,
        _ => return None,
    };
    let count = (distance + step.abs() - 1).div_euclid(step.abs());
    // A counter that wraps on the way to its bound goes on.
    let last = first + count * step;
    let fits = int.wrap(last as i64) as i128 == last;
    (count > 0 && fits).then(|| u64::try_from(count).ok()).flatten()
}
