//! Grid operations, kernels and data objects: text form and contract.

use std::str::FromStr;

use nbcc_base::{Diagnostics, SourceId, Span};
use nbcc_ir::{
    Access, ApproxOp, AtomOp, Atomic, Barrier, BarrierKind, Conversion, ConvertRounding, Direction,
    EdgeMode, FloatArith, FloatCompare, FloatFormat, FloatOp, FloatProperty, FloatTest, IntType,
    LineMark, LineMarks, LinePlace, Module, NumType, Object, Ordering, PrmtMode, ReduxOp, Rounding,
    Scope, ShflMode, Simd, SimdOp, SimtOp, Space, SpecialReg, Type, VoteMode, Width, parse_module,
    verify_module,
};

const BOOLS: [bool; 2] = [false, true];

/// Every operation with every modifier, accesses and the like at a few offsets.
fn all() -> Vec<SimtOp> {
    let mut ops = Vec::new();
    for bits in 0..32 {
        let bit = |n: u32| bits >> n & 1 == 1;
        let (ftz, sat, nan, xorsign_abs, relu) = (bit(0), bit(1), bit(2), bit(3), bit(4));
        for &op in FloatOp::ALL {
            for &format in FloatFormat::ALL {
                for &rounding in Rounding::ALL {
                    let arith =
                        FloatArith { op, format, rounding, ftz, sat, nan, xorsign_abs, relu };
                    ops.push(SimtOp::Float(arith));
                }
            }
        }
        for dst in NumType::all() {
            for src in NumType::all() {
                for &rounding in ConvertRounding::ALL {
                    ops.push(SimtOp::Convert(Conversion { dst, src, rounding, ftz, sat, relu }));
                }
            }
        }
        for &op in SimdOp::ALL {
            let (dst_signed, a_signed, b_signed, sat, add) = (ftz, sat, nan, xorsign_abs, relu);
            for (lanes, mask) in [(2, 3), (4, 10)] {
                let simd = Simd { op, lanes, dst_signed, a_signed, b_signed, sat, add, mask };
                ops.push(SimtOp::Simd(simd));
            }
        }
    }
    for &format in FloatFormat::ALL {
        ops.push(SimtOp::Copysign(format));
        for &test in FloatTest::ALL {
            ops.extend(BOOLS.map(|ftz| SimtOp::Compare(FloatCompare { test, format, ftz })));
        }
        for &op in ApproxOp::ALL {
            ops.extend(BOOLS.map(|ftz| SimtOp::Approx(op, format, ftz)));
        }
        ops.extend(FloatProperty::ALL.iter().map(|&p| SimtOp::Testp(p, format)));
    }
    for &int in IntType::ALL {
        ops.extend([SimtOp::MulHigh(int), SimtOp::IntDiv(int), SimtOp::IntRem(int)]);
        ops.extend([SimtOp::Bfind(int, false), SimtOp::Bfind(int, true), SimtOp::Bfe(int)]);
        ops.extend(ReduxOp::ALL.iter().map(|&op| SimtOp::Redux(op, int)));
    }
    for &width in Width::ALL {
        ops.extend([SimtOp::Popc(width), SimtOp::Clz(width), SimtOp::Brev(width)]);
        ops.extend([SimtOp::Bfi(width), SimtOp::Match(true, width), SimtOp::Match(false, width)]);
    }
    for &mode in EdgeMode::ALL {
        ops.extend([SimtOp::Bmsk(mode), SimtOp::Szext(true, mode), SimtOp::Szext(false, mode)]);
        ops.extend(Direction::ALL.iter().map(|&direction| SimtOp::Shf(direction, mode)));
    }
    ops.extend(PrmtMode::ALL.iter().map(|&mode| SimtOp::Prmt(mode)));
    ops.extend((0..=255).map(SimtOp::Lop3));
    for a in BOOLS {
        for b in BOOLS {
            ops.push(SimtOp::Dp4a(a, b));
            ops.extend(BOOLS.map(|high| SimtOp::Dp2a(a, b, high)));
        }
        ops.extend(ShflMode::ALL.iter().map(|&mode| SimtOp::Shfl(mode, a)));
        ops.extend(VoteMode::ALL.iter().map(|&mode| SimtOp::Vote(mode, a)));
        for &kind in BarrierKind::ALL {
            ops.extend(BOOLS.map(|aligned| SimtOp::Barrier(Barrier { kind, aligned, counted: a })));
        }
    }
    ops.extend(SpecialReg::all().map(SimtOp::Special));
    for &space in Space::ALL {
        ops.extend([SimtOp::ToGeneric(space), SimtOp::FromGeneric(space), SimtOp::IsSpace(space)]);
        for (offset, guarded) in [(0, false), (4, true), (-16, false), (i64::MIN, true)] {
            for &ordering in Ordering::ALL {
                for ty in [Type::I8, Type::F32.with_lanes(4), Type::I64] {
                    let access = Access { ty, space, offset, ordering, guarded };
                    ops.extend([SimtOp::Load(access), SimtOp::Store(access)]);
                }
            }
            for &op in AtomOp::ALL {
                for ty in NumType::all() {
                    let atomic = Atomic { op, ty, space, offset, guarded };
                    ops.extend([SimtOp::Atom(atomic), SimtOp::Red(atomic)]);
                }
            }
        }
    }
    ops.extend(Scope::ALL.iter().map(|&scope| SimtOp::Fence(scope)));
    ops.extend([SimtOp::AddSat, SimtOp::SubSat, SimtOp::MadHighSat, SimtOp::Fns]);
    ops.extend([SimtOp::Activemask, SimtOp::WarpBarrier, SimtOp::Vprintf, SimtOp::AssertFail]);
    ops.extend([SimtOp::Nanosleep, SimtOp::Brkpt, SimtOp::Address(Object::from_u32(12))]);
    ops
}

#[test]
fn every_operation_comes_back_from_its_text() {
    let mut sound = 0;
    for op in all() {
        // Modifiers that an operation has not are not written.
        if op.signature().is_ok() {
            assert_eq!(SimtOp::from_str(&op.to_string()), Ok(op), "{op}");
            sound += 1;
        }
    }
    assert!(sound > 3000, "{sound}");
    for text in ["", "add", "add.f32", "add.rn.f32.", "add.rn.sat.ftz.f32", "lop3.01", "lop3.256"] {
        assert!(SimtOp::from_str(text).is_err(), "{text}");
    }
    for text in ["load.weak.global.i32+0", "load.weak.global.i32+-4", "vset.x4.u.u.u.1", "popc"] {
        assert!(SimtOp::from_str(text).is_err(), "{text}");
    }
}

const KERNEL: &str = "\
object @table: global size 24 align 8 data \"00ff\" generic(@table + 4, 0, 8, 8) function(@helper, 8, 1, 16)
object @\"scratch 1\": shared dynamic size 0 align 16
object @frame: local size 12 align 4

define grid @main() {
  kernel max(256, 1, 1) required(32, 2, 1) blocks(2)
  param %n: u32 size 4 align 4 at 0
  param %s: bytes size 12 align 8 at 8
block0:
  v0: i64 = const 0
  v1: i32 = load param [v0]
  v2: i32 = simt \"special.tid_x\"()
  v3: i1 = icmp slt v2, v1
  v4: i64 = address @table
  v5: i32 = simt \"load.weak.guarded.global.i32+4\"(v4, v3, v2)
  v6: i32, v7: i1 = simt \"shfl.old.bfly\"(v5, v2, v1)
  simt \"store.volatile.global.i32\"(v4, v6)
  branch v7, block1, block2
block1:
  exit
block2:
  return
}

define grid @helper(v0: f32, v1: f32) -> f32 {
block0:
  v2: f32 = simt \"fma.rz.ftz.f32\"(v0, v1, v1)
  return v2
}
";

fn read(text: &str) -> Module {
    let mut diagnostics = Diagnostics::default();
    let module = parse_module(SourceId(0), text, &[], &mut diagnostics);
    module.unwrap_or_else(|_| panic!("{diagnostics:?}\n{text}"))
}

#[test]
fn kernels_and_objects_come_back_from_their_text() {
    let module = read(KERNEL);
    assert_eq!(module.to_string(), KERNEL);
    assert_eq!(verify_module(&module), []);
    let main = &module.functions.values().next().unwrap();
    assert_eq!(main.kernel.as_ref().map(|kernel| kernel.params_size()), Some(20));
}

#[test]
fn what_breaks_the_contract_of_grids_is_found() {
    let cases = [
        ("define grid @main", "define sequential @main", "another model than grid"),
        ("define grid @main", "define sequential @main", "no function of the model grid"),
        ("define grid @main", "define sequential @main", "ends a thread where there are none"),
        ("fma.rz.ftz.f32\"(v0, v1, v1)", "fma.rz.ftz.f32\"(v0, v1)", "has operands [f32, f32]"),
        ("fma.rz.ftz.f32", "fma.rz.ftz.f64", "never flushed"),
        ("fma.rz.ftz.f32", "div.rz.sat.f32", "no `sat`"),
        ("v6: i32, v7: i1 =", "v6: i32, v7: i32 =", "not [i32, i1]"),
        ("required(32, 2, 1)", "required(32, 0, 1)", "bound to no threads"),
        ("align 8 at 8", "align 8 at 12", "is not aligned"),
        ("align 8 at 8", "align 1 at 3", "begins before the end"),
        ("u32 size 4 align 4", "u64 size 4 align 4", "another size than its type"),
        ("%s: bytes", "%n: bytes", "is the name of another parameter"),
        ("shared dynamic", "local dynamic", "dynamic but not shared"),
        ("@table: global", "@table: shared", "not initialised"),
        ("@table: global", "@table: param", "holds no objects"),
        ("size 24", "size 1", "more contents than its size"),
        ("size 24", "size 16", "behind its end"),
        ("8, 1, 16)", "8, 1, 15)", "overlap"),
        ("8, 1, 16)", "8, 3, 16)", "wrong width"),
        ("align 16", "align 12", "no power of two"),
        ("@frame:", "@table.:", ""),
    ];
    for (from, to, message) in cases {
        assert!(KERNEL.contains(from), "{from}");
        let errors = verify_module(&read(&KERNEL.replacen(from, to, 1)));
        let found = errors.iter().any(|error| error.to_string().contains(message));
        assert!(found || (message.is_empty() && errors.is_empty()), "{from} -> {to}: {errors:?}");
    }
}

#[test]
fn names_that_nothing_has_are_reported() {
    for (from, to, message) in [
        ("address @table", "address @tables", "@tables is not defined"),
        ("generic(@table", "generic(@helper", "@helper is not defined"),
        ("function(@helper", "function(@table", "@table is not defined"),
        ("object @frame", "object @table", "object @table is defined twice"),
        ("fma.rz.ftz.f32", "fma.rq.ftz.f32", "no grid operation"),
        ("\"00ff\"", "\"00f\"", "pairs of hexadecimal digits"),
    ] {
        assert!(KERNEL.contains(from), "{from}");
        let mut diagnostics = Diagnostics::default();
        let text = KERNEL.replacen(from, to, 1);
        assert!(parse_module(SourceId(0), &text, &[], &mut diagnostics).is_err(), "{to}");
        let messages: Vec<_> = diagnostics.iter().map(|d| d.message.clone()).collect();
        assert!(messages.iter().any(|m| m.contains(message)), "{messages:?}");
    }
}

#[test]
fn a_mark_is_good_up_to_the_next() {
    let mut lines = LineMarks::default();
    let place = |line| Some(LinePlace { file: 0, line, column: 1, function: None });
    for (start, place) in [(10, place(1)), (20, place(2)), (30, None)] {
        lines.push(LineMark { source: SourceId(1), start, place });
    }
    let find = |source, start| {
        lines.find(Span::new(SourceId(source), start, start + 1)).map(|place| place.line)
    };
    assert_eq!(
        [9, 10, 19, 20, 29, 30].map(|at| find(1, at)),
        [None, Some(1), Some(1), Some(2), Some(2), None]
    );
    assert_eq!((find(0, 15), find(2, 15)), (None, None));
}
