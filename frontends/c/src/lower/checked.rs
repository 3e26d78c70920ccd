//! Checked programs: each variable and each element of an array that starts without a value has a
//! truth value beside it, whether something was written to it. A read of what was not ends the run.
//! Copies of structures carry the truth values along, since members may be without values.

use nbcc_ir::{Block, Effect, IntrinsicCall, MemData, Op, Space, Terminator, Type, Value};

use super::pointers;
use super::ssa::Var;
use super::state::{Lower, Pointer, Which};

impl Lower<'_> {
    /// Makes the truth values of an object of the function.
    pub(super) fn track(&mut self, number: u32) {
        let Some(mem) = self.mem_of(number) else { return };
        let MemData { name, extents, .. } = self.func.mems[mem].clone();
        let name = self.mem_name(&format!("{name}.written"));
        if let Some(written) = &mut self.written {
            let data =
                MemData { extents, ..MemData::new(name, Type::I8.scalar, &[], Space::Local) };
            written.objects.insert(number, self.func.mems.push(data));
        }
    }

    /// Says that a variable holds a value from here on, or none.
    pub(super) fn mark_variable(&mut self, var: Var, is_written: bool) {
        let Some(written) = &mut self.written else { return };
        let truth = match (written.variables.get(&var), is_written) {
            (Some(&truth), _) => truth,
            (None, true) => return,
            (None, false) => {
                let truth = self.ssa.variable(Type::I1);
                written.variables.insert(var, truth);
                truth
            }
        };
        let value = self.constant(Type::I1, is_written.into());
        self.ssa.write(self.block, truth, value);
    }

    /// Says that the elements of an object hold no values.
    pub(super) fn forget(&mut self, number: u32, numbers: u32) {
        for number in number..number + numbers {
            let Some(mem) = self.written.as_ref().and_then(|w| w.objects.get(&number)) else {
                continue;
            };
            let mem = *mem;
            let extents = self.func.mems[mem].fixed_extents().unwrap_or_default();
            let count = self.i32(extents.iter().map(|&n| i64::from(n)).product());
            self.each("forget", count, |lower, number| {
                let zero = lower.constant(Type::I8, 0);
                lower.op(Op::Store(mem, vec![number], zero));
            });
        }
    }

    /// Ends the run where nothing was written to a variable.
    pub(super) fn check_variable(&mut self, var: Var) {
        let truth = self.written.as_ref().and_then(|written| written.variables.get(&var));
        let Some(&truth) = truth else { return };
        let truth = self.read(truth);
        self.ends_unless(truth, "a variable is read that nothing was written to".to_string());
    }

    /// Ends the run where nothing was written to an element.
    pub(super) fn check_element(&mut self, from: Pointer) {
        let Some(truth) = self.element_written(from) else { return };
        let of = match from.object {
            Which::Known(number) => self.mem_of(number),
            Which::Value(_) => None,
        };
        let message = match of {
            Some(mem) => {
                let name = &self.func.mems[mem].name;
                format!("an element of `{name}` is read that nothing was written to")
            }
            None => "an element is read that nothing was written to".to_string(),
        };
        let truth = self.is_set(truth);
        self.ends_unless(truth, message);
    }

    fn ends_unless(&mut self, truth: Value, message: String) {
        let [there, not]: [Block; 2] = [(); 2].map(|()| self.new_block());
        self.branch(truth, there, not);
        self.start(not);
        self.terminate(Terminator::Trap(message));
        self.start(there);
    }

    /// Whether something was written to an element; `None` where that is known.
    pub(super) fn element_written(&mut self, from: Pointer) -> Option<Value> {
        let written = self.written.as_ref()?;
        match from.object {
            Which::Known(number) => {
                let mem = *written.objects.get(&number)?;
                let at = self.offset_value(from.at);
                Some(self.value(Op::Load(Type::I8, mem, vec![at])))
            }
            Which::Value(object) => {
                let at = self.offset_value(from.at);
                Some(self.value(Op::Intrinsic(IntrinsicCall {
                    name: pointers::LOAD_WRITTEN,
                    effect: Effect::Write,
                    args: vec![object, at],
                    mems: vec![],
                    imms: vec![],
                    result: Some(Type::I8),
                })))
            }
        }
    }

    /// Says whether something was written to an element.
    pub(super) fn mark_element(&mut self, to: Pointer, truth: Option<Value>) {
        let Some(written) = &self.written else { return };
        let mem = match to.object {
            Which::Known(number) => match written.objects.get(&number) {
                Some(&mem) => Some(mem),
                None => return,
            },
            Which::Value(_) => None,
        };
        let truth = truth.unwrap_or_else(|| self.constant(Type::I8, 1));
        let at = self.offset_value(to.at);
        match (mem, to.object) {
            (Some(mem), _) => {
                self.op(Op::Store(mem, vec![at], truth));
            }
            (None, Which::Value(object)) => {
                self.op(Op::Intrinsic(IntrinsicCall {
                    name: pointers::STORE_WRITTEN,
                    effect: Effect::Write,
                    args: vec![object, at, truth],
                    mems: vec![],
                    imms: vec![],
                    result: None,
                }));
            }
            (None, Which::Known(_)) => {}
        }
    }

    /// Copies a scalar that may be without a value.
    pub(super) fn transfer(&mut self, to: Pointer, from: Pointer, ty: Type) {
        let value = self.load_any(from, ty);
        let truth = self.element_written(from);
        self.store_any(to, value);
        self.mark_element(to, truth);
    }
}
