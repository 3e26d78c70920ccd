//! Runs legal functions of one block quickly: each operation on many elements at once, by the
//! machine's own rules. It knows no other operations than those of the machine.

use std::collections::HashMap;

use nbcc_analysis::Lanes;
use nbcc_ir::{BinaryOp, Constant, ConvertOp, Function, Op, Terminator, Value};

use super::{F32, I32, operands};

/// Elements that run together.
pub const CHUNK: usize = 1024;

/// A straight-line program over registers of [`CHUNK`] elements.
pub struct Program {
    steps: Vec<(Step, usize)>,
    registers: Vec<Vec<u32>>,
    params: usize,
    result: usize,
}

enum Step {
    Binary(BinaryOp, usize, usize),
    MulAdd(usize, usize, usize),
    Copy(usize),
}

impl Program {
    /// The program of a legal function of vectors. Panics on what the machine has not.
    pub fn new(func: &Function) -> Program {
        let mut registers: Vec<Vec<u32>> = Vec::new();
        let mut of: HashMap<Value, usize> = HashMap::new();
        let block = &func.blocks[func.entry()];
        for &param in &block.params {
            of.insert(param, registers.len());
            registers.push(vec![0; CHUNK]);
        }
        let mut steps = Vec::new();
        for &inst in &block.insts {
            let out = registers.len();
            registers.push(vec![0; CHUNK]);
            let step = match &func.insts[inst].op {
                Op::Const(_, Constant::Splat(bits)) => {
                    registers[out].fill(*bits as u32);
                    None
                }
                Op::Binary(op, a, b) => Some(Step::Binary(*op, of[a], of[b])),
                Op::MulAdd(a, b, c) => Some(Step::MulAdd(of[a], of[b], of[c])),
                Op::Convert(ConvertOp::Bitcast, a, _) => Some(Step::Copy(of[a])),
                op => panic!("{op:?} is not legal"),
            };
            if let Some(result) = func.result(inst) {
                of.insert(result, out);
            }
            steps.extend(step.map(|step| (step, out)));
        }
        let Terminator::Return(results) = func.terminator(func.entry()) else {
            panic!("a block that returns")
        };
        let result = of[&results[0]];
        Program { steps, params: block.params.len(), registers, result }
    }

    /// The results for operands of up to [`CHUNK`] elements.
    pub fn run(&mut self, args: &[&[u32]]) -> &[u32] {
        assert_eq!(args.len(), self.params);
        for (register, arg) in self.registers.iter_mut().zip(args) {
            register[..arg.len()].copy_from_slice(arg);
        }
        for (step, out) in &self.steps {
            let mut result = std::mem::take(&mut self.registers[*out]);
            let get = |n: usize| self.registers[n].as_slice();
            match *step {
                Step::Binary(op, a, b) => binary(op, get(a), get(b), &mut result),
                Step::MulAdd(a, b, c) => {
                    let sources = get(a).iter().zip(get(b)).zip(get(c));
                    for (out, ((&a, &b), &c)) in result.iter_mut().zip(sources) {
                        let product = f32::from_bits(a) * f32::from_bits(b);
                        *out = canonical(product + f32::from_bits(c));
                    }
                }
                Step::Copy(a) => result.copy_from_slice(get(a)),
            }
            self.registers[*out] = result;
        }
        &self.registers[self.result][..args.first().map_or(CHUNK, |a| a.len())]
    }
}

fn canonical(x: f32) -> u32 {
    if x.is_nan() { 0x7fc0_0000 } else { x.to_bits() }
}

fn binary(op: BinaryOp, a: &[u32], b: &[u32], out: &mut [u32]) {
    fn each(a: &[u32], b: &[u32], out: &mut [u32], f: impl Fn(u32, u32) -> u32) {
        for (out, (&a, &b)) in out.iter_mut().zip(a.iter().zip(b)) {
            *out = f(a, b);
        }
    }
    let float = |f: fn(f32, f32) -> f32| {
        move |a: u32, b: u32| canonical(f(f32::from_bits(a), f32::from_bits(b)))
    };
    match op {
        BinaryOp::Iadd => each(a, b, out, u32::wrapping_add),
        BinaryOp::Isub => each(a, b, out, u32::wrapping_sub),
        BinaryOp::Imul => each(a, b, out, u32::wrapping_mul),
        BinaryOp::And => each(a, b, out, |a, b| a & b),
        BinaryOp::Or => each(a, b, out, |a, b| a | b),
        BinaryOp::Xor => each(a, b, out, |a, b| a ^ b),
        BinaryOp::Shl => each(a, b, out, |a, b| a.checked_shl(b).unwrap_or(0)),
        BinaryOp::Lshr => each(a, b, out, |a, b| a.checked_shr(b).unwrap_or(0)),
        BinaryOp::Ashr => each(a, b, out, |a, b| ((a as i32) >> b.min(31)) as u32),
        BinaryOp::Fadd => each(a, b, out, float(|a, b| a + b)),
        BinaryOp::Fsub => each(a, b, out, float(|a, b| a - b)),
        BinaryOp::Fmul => each(a, b, out, float(|a, b| a * b)),
        _ => panic!("{op:?} is not legal"),
    }
}

/// Every operation that the machine has gives what the IR says it does.
#[test]
fn programs_run_as_the_interpreter_runs_functions() {
    use BinaryOp::*;
    for op in [Iadd, Isub, Imul, And, Or, Xor, Shl, Lshr, Ashr, Fadd, Fsub, Fmul] {
        let ty = if op.is_float() { F32 } else { I32 };
        let func = super::operation(&[ty, ty], |v| Op::Binary(op, v[0], v[1]));
        let mut program = Program::new(&func);
        let all = operands(&[ty, ty], 1000, 5);
        for at in (0..all[0].len()).step_by(16) {
            let args: Vec<&[u32]> = all.iter().map(|list| &list[at..at + 16]).collect();
            let lanes: Vec<Lanes> =
                args.iter().map(|a| Lanes::from_fn(ty, |n| u64::from(a[n]))).collect();
            let expected = nbcc_interp::function::eval(&func, &lanes).unwrap();
            let got = program.run(&args);
            let got = Lanes::from_fn(ty, |n| u64::from(got[n]));
            assert!(got.same(&expected[0]), "{op:?} {lanes:?}: {got}");
        }
    }
}
