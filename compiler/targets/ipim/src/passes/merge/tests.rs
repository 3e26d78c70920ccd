use cranelift_entity::EntityRef;
use nbcc_ir::{
    BinaryOp, Builder, Constant, ExecutionModel, IntrinsicCall, Op, Type, print_function,
    verify_function,
};

use super::*;
use crate::intrinsics::{LD_RF, PASSED, ST_RF, read, write};
use crate::kernel::calls_in_order;

/// Adds `step` to `turns` times `count` atoms from `base` on, or divides by it, many times.
fn kernel(base: i32, [turns, count]: [u32; 2], step: f32, divide: bool) -> Kernel {
    let mut func = Function::new("k.test", ExecutionModel::Engines);
    let entry = func.entry();
    let mut b = Builder::at(&mut func, entry);
    b.keep_identities(true);
    b.counted_loop("m", turns, |b, m| {
        b.counted_loop("n", count, |b, n| {
            let number = b.iadd(m, n);
            let offset = b.imul_imm(number, 16);
            let address = b.iadd_imm(offset, base);
            let old = read(b, LD_RF, address, 1, Type::F32.with_lanes(4));
            let step = b.constant(Type::F32.with_lanes(4), u64::from(step.to_bits()));
            let op = if divide { BinaryOp::Fdiv } else { BinaryOp::Fadd };
            let new = (0..60).fold(old, |value, _| b.binary(op, value, step));
            write(b, ST_RF, address, new, 1);
        });
    });
    b.terminate(Terminator::Return(vec![]));
    Kernel {
        func,
        mem_base: SecondaryMap::new(),
        mask: 1,
        sync: None,
        args: None,
        step: 0,
        place: None,
        scratch: vec![],
        beside: SecondaryMap::new(),
        objects: SecondaryMap::new(),
        neighbours: SecondaryMap::new(),
    }
}

fn merged(kernels: &[Kernel], most: usize) -> (Vec<Kernel>, Vec<KernelCall>) {
    merged_but(kernels, most, 0)
}

fn merged_but(kernels: &[Kernel], most: usize, room: usize) -> (Vec<Kernel>, Vec<KernelCall>) {
    let (merged, calls) = merge(kernels.to_vec(), calls_in_order(kernels), most, room);
    for kernel in &merged {
        assert_eq!(verify_function(&kernel.func, None), []);
    }
    let mut constants = Vec::new();
    for (kernel, call) in kernels.iter().zip(&calls) {
        let [own, shared] =
            [kernel, &merged[call.kernel]].map(|k| instance(k, call, &mut constants));
        assert_eq!(own, shared, "{call:?}");
    }
    (merged, calls)
}

/// What a kernel does with the merged constants of a call in the place of what stands for them: its
/// operations, with constants as places in a list.
fn instance(kernel: &Kernel, call: &KernelCall, list: &mut Vec<(Type, Constant)>) -> Vec<String> {
    let mut func = kernel.func.clone();
    for &inst in func.layout.iter().flat_map(|&block| &func.blocks[block].insts) {
        if let Op::Intrinsic(IntrinsicCall { name: PASSED, imms, result: Some(ty), .. }) =
            &func.insts[inst].op
        {
            let bits = call.constants[imms[0] as usize][0];
            func.insts[inst].op = Op::Const(*ty, Constant::Splat(bits.into()));
        }
    }
    simplify(&mut func);
    let mut values: SecondaryMap<Value, Value> = SecondaryMap::with_default(Value::new(0));
    let mut next = 0;
    let mut count = || {
        next += 1;
        Value::new(next)
    };
    for &block in &func.layout {
        for &param in &func.blocks[block].params {
            values[param] = count();
        }
        for &inst in &func.blocks[block].insts {
            let Some(value) = func.result(inst) else { continue };
            values[value] = match func.insts[inst].op.clone() {
                Op::Const(ty, constant) => {
                    let known = list.iter().position(|known| *known == (ty, constant.clone()));
                    list.extend(known.is_none().then_some((ty, constant)));
                    Value::new(1 << 20 | known.unwrap_or(list.len() - 1))
                }
                _ => count(),
            };
        }
    }
    let mut text = Vec::new();
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            let op = func.insts[inst].op.clone();
            if !matches!(op, Op::Const(..)) {
                text.push(format!("{:?}", op.map_args(|value| values[value])));
            }
        }
        let mut terminator = func.terminator(block).clone();
        terminator.for_each_arg_mut(|value| *value = values[*value]);
        text.push(format!("{block} {terminator:?}"));
    }
    text
}

fn trips_known(kernel: &Kernel) -> Vec<Option<u64>> {
    trips_of(&kernel.func).into_iter().filter(Option::is_some).collect()
}

#[test]
fn what_differs_is_passed() {
    let (one, calls) = merged(
        &[
            kernel(0x10000, [5, 7], 1.0, false),
            kernel(0x20000, [5, 9], 1.0, false),
            kernel(0x20000, [5, 9], 2.5, false),
        ],
        8,
    );
    assert_eq!(one.len(), 1);
    assert_eq!(one[0].args, Some(vec![]));
    assert!(calls.iter().all(|call| call.constants.len() == 3), "{calls:?}");
    assert_eq!(trips_known(&one[0]), [Some(5)], "the other loop runs differently often");
}

#[test]
fn too_many_constants_make_several_kernels() {
    // The second number of trips is not linear in the first.
    let all: Vec<Kernel> =
        (0..6).map(|n| kernel(0x10000, [3 + n, 2 + n * n], 1.0, false)).collect();
    assert_eq!(merged(&all, 2).0.len(), 1);
    // Any two numbers are on a line.
    assert_eq!(merged(&all, 1).0.len(), 3);
    assert_eq!(merged(&all, 0).0.len(), 6);
}

#[test]
fn what_is_linear_is_computed_where_registers_are_few() {
    let all: Vec<Kernel> =
        (0..6).map(|n| kernel(0x10000, [3 + n, 16 + 2 * n], 1.0, false)).collect();
    for (most, passed) in [(2, 2), (1, 1)] {
        let (one, calls) = merged(&all, most);
        assert_eq!(one.len(), 1);
        assert!(calls.iter().all(|call| call.constants.len() == passed), "{calls:?}");
    }
}

#[test]
fn divisors_stay() {
    let all = [kernel(0, [5, 7], 3.0, true), kernel(0, [5, 7], 5.0, true)];
    assert_eq!(merged(&all, 8).0.len(), 2);
}

#[test]
fn loops_of_one_trip_go() {
    let (one, _) = merged(&[kernel(0, [1, 1], 3.0, false)], 8);
    let text = print_function(&one[0].func, &Default::default());
    assert!(!text.contains("branch") && !text.contains("imul"), "{text}");
}

#[test]
fn what_runs_most_stays_apart() {
    let all: Vec<Kernel> =
        [20, 90, 70, 30].into_iter().map(|n| kernel(0x10000, [5, n], 1.0, false)).collect();
    let body = all[0].func.inst_count();
    let kernels = |room| {
        let (merged, calls) = merged_but(&all, 8, room);
        let called = |call: &KernelCall| merged[call.kernel].args.is_some();
        calls.iter().map(called).collect::<Vec<_>>()
    };
    assert_eq!(kernels(0), [true, true, true, true]);
    assert_eq!(kernels(body), [true, false, true, true]);
    assert_eq!(kernels(2 * body), [true, false, false, true]);
}
