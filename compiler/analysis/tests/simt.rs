//! Grid arithmetic against native floats where they round the same way, the directed modes by
//! bracketing, and single cases of the manual.

use std::str::FromStr;

use nbcc_analysis::{atomic, evaluate_simt};
use nbcc_ir::{
    AtomOp, FloatArith, FloatFormat, FloatOp, IntType, NumType, Rounding, SimtOp, f16_to_f64,
    f64_to_f16,
};
use nbcc_testing::Rng;

fn eval(op: &str, args: &[u64]) -> u64 {
    let op = SimtOp::from_str(op).unwrap_or_else(|_| panic!("{op}"));
    assert_eq!(op.signature().map(|s| s.operands.len()), Ok(args.len()), "{op}");
    evaluate_simt(&op, args).unwrap()[0]
}

/// Bits of a float: often special, often near another one, else any.
fn float_bits(rng: &mut Rng, width: u32, fraction: u32) -> u64 {
    let mask = u64::MAX >> (64 - width);
    let infinity = (mask >> 1) >> fraction << fraction;
    let special = [0, 1, infinity, infinity + 1, infinity - 1, 1 << fraction, (1 << fraction) - 1];
    let one = (infinity >> (fraction + 1)) << fraction;
    let bits = match rng.below(6) {
        0 => *rng.pick(&special),
        1 => one + rng.below(1 << fraction.min(20)) - (rng.below(3) << (fraction - 2)),
        2 => one + (rng.below(40) << fraction) + (rng.below(4) << (fraction - 2)),
        3 => rng.below(1 << fraction),
        _ => rng.bits(),
    };
    (bits | if rng.one_in(2) { mask ^ mask >> 1 } else { 0 }) & mask
}

fn f32_of(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

#[test]
fn arithmetic_to_nearest_is_the_native_one() {
    let mut rng = Rng::new(1);
    for _ in 0..40_000 {
        let [a, b, c] = [0; 3].map(|_| float_bits(&mut rng, 32, 23));
        let [x, y, z] = [a, b, c].map(f32_of);
        let cases = [
            (FloatOp::Add, x + y),
            (FloatOp::Sub, x - y),
            (FloatOp::Mul, x * y),
            (FloatOp::Fma, x.mul_add(y, z)),
            (FloatOp::Div, x / y),
            (FloatOp::Rcp, 1.0 / x),
            (FloatOp::Sqrt, x.sqrt()),
        ];
        for (op, wanted) in cases {
            let op = SimtOp::Float(FloatArith::new(op, FloatFormat::F32));
            let wanted = if wanted.is_nan() { 0x7fff_ffff } else { wanted.to_bits() };
            let found = evaluate_simt(&op, &[a, b, c]).unwrap()[0];
            assert_eq!(found, u64::from(wanted), "{op} {a:#x} {b:#x} {c:#x}");
        }
        let [a, b, c] = [0; 3].map(|_| float_bits(&mut rng, 64, 52));
        let [x, y, z] = [a, b, c].map(f64::from_bits);
        let cases = [
            (FloatOp::Add, x + y),
            (FloatOp::Mul, x * y),
            (FloatOp::Fma, x.mul_add(y, z)),
            (FloatOp::Div, x / y),
            (FloatOp::Sqrt, x.sqrt()),
        ];
        for (op, wanted) in cases {
            let op = SimtOp::Float(FloatArith::new(op, FloatFormat::F64));
            let wanted = if wanted.is_nan() { 0x7ff8 << 48 } else { wanted.to_bits() };
            let found = evaluate_simt(&op, &[a, b, c]).unwrap()[0];
            assert_eq!(found, wanted, "{op} {a:#x} {b:#x} {c:#x}");
        }
        let [a, b] = [0; 2].map(|_| float_bits(&mut rng, 16, 10));
        let [x, y] = [a, b].map(|bits| f16_to_f64(bits as u16));
        for (op, wanted) in [("add.rn.f16", x + y), ("mul.rn.f16", x * y)] {
            let wanted = if wanted.is_nan() { 0x7fff } else { f64_to_f16(wanted) };
            assert_eq!(eval(op, &[a, b]), u64::from(wanted), "{op} {a:#x} {b:#x}");
        }
    }
}

/// The next float above, -0 and +0 being one.
fn above(bits: u64, sign: u64) -> u64 {
    match bits {
        _ if bits == sign => 1,
        _ if bits & sign != 0 => bits - 1,
        _ => bits + 1,
    }
}

#[test]
fn directed_results_enclose_the_nearest() {
    let mut rng = Rng::new(2);
    let ops = [FloatOp::Add, FloatOp::Mul, FloatOp::Fma, FloatOp::Div, FloatOp::Sqrt];
    for _ in 0..40_000 {
        let (format, width, fraction) =
            *rng.pick(&[(FloatFormat::F32, 32, 23), (FloatFormat::F64, 64, 52)]);
        let sign = 1u64 << (width - 1);
        let args = [0; 3].map(|_| float_bits(&mut rng, width, fraction));
        let &op = rng.pick(&ops);
        let eval = |rounding| {
            let op = SimtOp::Float(FloatArith { rounding, ..FloatArith::new(op, format) });
            evaluate_simt(&op, &args).unwrap()[0]
        };
        let [rn, rz, rm, rp] = [Rounding::Rn, Rounding::Rz, Rounding::Rm, Rounding::Rp].map(eval);
        let zero = |bits: u64| bits & !sign == 0;
        let what = format!("{op:?} {args:x?}: {rn:#x} {rz:#x} {rm:#x} {rp:#x}");
        if rm == rp || (zero(rm) && zero(rp)) {
            assert!(rn == rp && rz == rp, "{what}");
        } else {
            assert!(above(rm, sign) == rp || (rm == sign | 1 && zero(rp)), "{what}");
            assert!(rn == rm || rn == rp, "{what}");
            let toward_zero = if rm & sign != 0 { rp } else { rm };
            assert!(rz == toward_zero, "{what}");
        }
    }
}

#[test]
fn conversions_follow_native_ones() {
    let mut rng = Rng::new(3);
    for _ in 0..40_000 {
        let a = float_bits(&mut rng, 32, 23);
        let x = f32_of(a);
        let wide = if x.is_nan() { 0x7ff8 << 48 } else { f64::from(x).to_bits() };
        assert_eq!(eval("cvt.exact.f64.f32", &[a]), wide, "{a:#x}");
        let half = if x.is_nan() { 0x7fff } else { f64_to_f16(f64::from(x)) };
        assert_eq!(eval("cvt.rn.f16.f32", &[a]), u64::from(half), "{a:#x}");
        let bf16 = match x.is_nan() {
            true => 0x7fff,
            false => (a + 0x7fff + (a >> 16 & 1)) >> 16,
        };
        assert_eq!(eval("cvt.rn.bf16.f32", &[a]), bf16, "{a:#x}");
        assert_eq!(eval("cvt.rzi.s32.f32", &[a]), u64::from(x as i32 as u32), "{a:#x}");
        assert_eq!(eval("cvt.rzi.u8.f32", &[a]), u64::from(x as u8), "{a:#x}");
        let floor = if x.is_nan() { i64::MIN } else { x.floor() as i64 };
        assert_eq!(eval("cvt.rmi.s64.f32", &[a]), floor as u64, "{a:#x}");
        let nearest = if x.is_nan() { 0x7fff_ffff } else { x.round_ties_even().to_bits() };
        assert_eq!(eval("cvt.rni.f32.f32", &[a]), u64::from(nearest), "{a:#x}");
        let d = float_bits(&mut rng, 64, 52);
        let y = f64::from_bits(d);
        let narrow = if y.is_nan() { 0x7fff_ffff } else { (y as f32).to_bits() };
        assert_eq!(eval("cvt.rn.f32.f64", &[d]), u64::from(narrow), "{d:#x}");
        let up = if y.is_nan() { 1 << 31 } else { y.ceil() as u32 };
        assert_eq!(eval("cvt.rpi.u32.f64", &[d]), u64::from(up), "{d:#x}");
        let n = rng.bits() >> rng.below(64);
        assert_eq!(eval("cvt.rn.f32.u64", &[n]), u64::from((n as f32).to_bits()));
        assert_eq!(eval("cvt.rn.f64.s64", &[n]), (n as i64 as f64).to_bits());
        let clamped = (n as i64).clamp(-128, 127) as u8;
        assert_eq!(eval("cvt.exact.sat.s8.s64", &[n]), u64::from(clamped));
    }
}

#[test]
fn single_cases_of_the_manual() {
    let f = |x: f32| u64::from(x.to_bits());
    let (inf, nan) = (f(f32::INFINITY), 0x7fff_ffff);
    let cases: &[(&str, &[u64], u64)] = &[
        // Flushing and saturation.
        ("add.rn.ftz.f32", &[1, 1], 0),
        ("add.rn.f32", &[1, 1], 2),
        ("mul.rn.ftz.f32", &[f(-1.0e-30), f(1.0e-10)], 1 << 31),
        // What is flushed is less than 2^-126 where its last bit has a place.
        ("mul.rn.f32", &[0x0080_0000, 0x3f7f_ffff], 0x0080_0000),
        ("mul.rn.ftz.f32", &[0x0080_0000, 0x3f7f_ffff], 0),
        ("mul.rn.ftz.f32", &[0x2c86_c2b9, 0x1373_2835], 0x0080_0000),
        ("mul.rp.ftz.f32", &[0x0c8f_48f2, 0x3364_b0ef], 0),
        ("mul.rp.ftz.f32", &[0x1545_ecf0, 0x2aa5_8ea5], 0x0080_0000),
        ("mul.rn.ftz.f16", &[0x13c5, 0x2c1e], 0),
        ("mul.rn.ftz.f16", &[0x1863, 0x274b], 0x400),
        ("cvt.rn.ftz.f32.f64", &[0x380f_ffff_efff_ffff], 0),
        ("cvt.rn.ftz.f32.f64", &[0xb80f_ffff_f000_0001], 0x8080_0000),
        ("add.rn.sat.f32", &[f(0.75), f(0.75)], f(1.0)),
        ("add.rn.sat.f32", &[nan, f(1.0)], 0),
        ("mul.rn.sat.f32", &[f(-0.0), f(1.0)], 0),
        ("fma.rn.relu.f16", &[0xbc00, 0x3c00, 0], 0),
        ("add.rm.f32", &[f(1.0), f(-1.0)], 1 << 31),
        ("abs.ftz.f32", &[0x8000_0001], 0),
        ("neg.f32", &[nan], 0xffff_ffff),
        // Zeros and NaNs of minimum and maximum.
        ("min.f32", &[f(0.0), f(-0.0)], f(-0.0)),
        ("max.f32", &[f(-0.0), f(0.0)], f(0.0)),
        ("min.f32", &[nan, f(2.0)], f(2.0)),
        ("min.nan.f32", &[nan, f(2.0)], nan),
        ("max.f32", &[0xffc0_0001, 0x7fc0_0001], nan),
        ("min.xorsign.f32", &[f(-3.0), f(2.0)], f(-2.0)),
        ("max.f16x2", &[0x3c00_8000, 0xbc00_0000], 0x3c00_0000),
        // Approximate functions.
        ("adiv.f32", &[f(1.0), f(1.5e38)], 0),
        ("adiv.f32", &[inf, f(-1.5e38)], nan),
        ("divfull.f32", &[f(1.0), f(1.5e38)], f(1.0 / 1.5e38)),
        ("adiv.f32", &[f(1.0), inf], 0),
        ("rsqrt.f32", &[f(4.0)], f(0.5)),
        ("rsqrt.f64", &[9.0f64.to_bits()], (1.0f64 / 3.0).to_bits()),
        ("rsqrt.ftz.f64", &[9.0f64.to_bits()], (1.0f64 / 3.0).to_bits() >> 32 << 32),
        ("rsqrt.f32", &[f(-0.0)], f(f32::NEG_INFINITY)),
        ("lg2.ftz.f32", &[1], f(f32::NEG_INFINITY)),
        ("lg2.f32", &[1], f(-149.0)),
        ("ex2.f16x2", &[0x4000_bc00], 0x4400_3800),
        ("arcp.ftz.f64", &[3.0f64.to_bits()], (1.0f64 / 3.0).to_bits() >> 32 << 32),
        // Comparisons.
        ("setp.ltu.f32", &[nan, 0], 1),
        ("setp.ne.f32", &[nan, 0], 0),
        ("setp.neu.f32", &[nan, 0], 1),
        ("setp.eq.f32", &[f(-0.0), 0], 1),
        ("setp.gt.ftz.f32", &[1, 0], 0),
        ("setp.num.f64", &[0x7ff8 << 48, 0], 0),
        ("testp.subnormal.f32", &[1], 1),
        ("testp.normal.f32", &[0], 1),
        ("testp.normal.f64", &[1 << 63], 1),
        ("testp.normal.f32", &[1], 0),
        ("copysign.f32", &[f(-0.0), f(2.0)], f(-2.0)),
        // Conversions.
        ("cvt.rzi.s32.f32", &[nan], 0),
        ("cvt.rzi.s64.f32", &[nan], 1 << 63),
        ("cvt.rpi.ftz.s32.f32", &[1], 0),
        ("cvt.rpi.s32.f32", &[1], 1),
        ("cvt.rn.sat.f32.f64", &[2.0f64.to_bits()], f(1.0)),
        ("cvt.rn.f16x2.f32", &[f(1.0), f(2.0)], 0x3c00_4000),
        ("cvt.rz.f16.f32", &[f(65519.9)], 0x7bff),
        ("cvt.rn.relu.bf16.f32", &[f(-1.0)], 0),
        ("cvt.rm.f32.s32", &[0x7fff_ffff], f(2147483520.0)),
        ("cvt.rp.f32.u64", &[u64::MAX], f(18446744073709551616.0)),
        ("cvt.exact.sat.u8.s32", &[0xffff_ffff], 0),
        ("cvt.exact.s8.s32", &[0x1ff], 0xff),
        ("cvt.rmi.f32.f32", &[f(-0.5)], f(-1.0)),
        ("cvt.rpi.f32.f32", &[f(-0.5)], f(-0.0)),
        // Integers.
        ("mulhi.s32", &[0x8000_0000, 2], 0xffff_ffff),
        ("mulhi.u64", &[u64::MAX, u64::MAX], u64::MAX - 1),
        ("idiv.s32", &[0x8000_0000, 0xffff_ffff], 0x8000_0000),
        ("irem.s32", &[0x8000_0000, 0xffff_ffff], 0),
        ("idiv.u32", &[7, 0], 0xffff_ffff),
        ("irem.s64", &[7, 0], u64::MAX),
        ("irem.u16", &[7, 0], 0xffff),
        ("addsat", &[0x7fff_ffff, 1], 0x7fff_ffff),
        ("subsat", &[0x8000_0000, 1], 0x8000_0000),
        ("madhisat", &[0x7fff_ffff, 0x7fff_ffff, 0x7fff_ffff], 0x7fff_ffff),
        ("clz.b32", &[0], 32),
        ("popc.b64", &[u64::MAX], 64),
        ("bfind.s32", &[0xffff_ffff], 0xffff_ffff),
        ("bfind.s32", &[0xffff_fffe], 0),
        ("bfind.shiftamt.u32", &[1], 31),
        ("brev.b32", &[1], 1 << 31),
        ("fns", &[0b1010, 1, 2], 3),
        ("fns", &[0b1010, 3, 0xffff_fffe], 1),
        ("fns", &[0b1010, 2, 0], 0xffff_ffff),
        ("fns", &[0b1010, 33, 1], 0xffff_ffff),
        // Bit fields at and beyond the end.
        ("bfe.u32", &[0xf000_0000, 28, 8], 0xf),
        ("bfe.s32", &[0xf000_0000, 28, 8], 0xffff_ffff),
        ("bfe.s32", &[0x8000_0000, 32, 1], 0xffff_ffff),
        ("bfe.u32", &[0x8000_0000, 200, 1], 0),
        ("bfe.s32", &[0x8000_0000, 0, 256], 0),
        ("bfe.u64", &[u64::MAX, 0, 64], u64::MAX),
        ("bfe.s64", &[1 << 63, 60, 255], 0xffff_ffff_ffff_fff8),
        ("bfi.b32", &[0xff, 0, 28, 8], 0xf000_0000),
        ("bfi.b32", &[0xff, 7, 32, 8], 7),
        ("bmsk.clamp", &[4, 40], 0xffff_fff0),
        ("bmsk.wrap", &[36, 8], 0xff0),
        ("szext.clamp.s", &[0xff, 8], 0xffff_ffff),
        ("szext.wrap.u", &[0xff, 36], 0xf),
        ("prmt.idx", &[0x8001_0203, 0x0405_0607, 0xb740], 0xff04_0703),
        ("prmt.b4e", &[0x0302_0100, 0x0706_0504, 1], 0x0607_0001),
        ("prmt.ecl", &[0x0302_0100, 0, 2], 0x0302_0202),
        ("lop3.150", &[0b1100, 0b1010, 0b0110], 0),
        ("lop3.232", &[0b1100, 0b1010, 0b0110], 0b1110),
        ("shf.l.wrap", &[0x8000_0000, 1, 33], 3),
        ("shf.l.clamp", &[0x1234, 1, 40], 0x1234),
        ("shf.r.clamp", &[0x1234, 1, 32], 1),
        ("dp4a.s.u", &[0xff01_ff01, 0x0202_0202, 5], 5),
        ("dp2a.hi.s.u", &[0x0001_ffff, 0x0302_0000, 0], 1),
        ("vabsdiff.x4.u.u.u.add.15", &[0x0a0b_0c0d, 0x0d0c_0b0a, 1], 9),
        // Sums take lanes as they are before they are cut.
        ("vadd.x4.u.u.u.add.15", &[0xff00_00ff, 0xff00_0001, 0], 0x2fe),
        ("vsub.x2.u.s.s.add.3", &[0, 1, 0], 0xffff_ffff),
        ("vadd.x2.s.s.s.sat.3", &[0x7fff_0001, 0x0001_0001, 0], 0x7fff_0002),
        ("vavrg.x4.u.u.u.1", &[3, 4, 0xaabb_cc00], 0xaabb_cc04),
    ];
    for &(op, args, wanted) in cases {
        let found = eval(op, args);
        assert_eq!(found, wanted, "{op} {args:x?} is {found:#x}, not {wanted:#x}");
    }
}

#[test]
fn atomics_compute_what_memory_holds() {
    let s32 = NumType::Int(IntType::S32);
    let u32 = NumType::Int(IntType::U32);
    let f32 = NumType::Float(FloatFormat::F32);
    let cases = [
        (AtomOp::Inc, u32, 5, [5, 0], 0),
        (AtomOp::Inc, u32, 4, [5, 0], 5),
        (AtomOp::Dec, u32, 0, [5, 0], 5),
        (AtomOp::Dec, u32, 9, [5, 0], 5),
        (AtomOp::Min, s32, 3, [0xffff_ffff, 0], 0xffff_ffff),
        (AtomOp::Min, u32, 3, [0xffff_ffff, 0], 3),
        (AtomOp::Add, u32, 0xffff_ffff, [2, 0], 1),
        (AtomOp::Cas, u32, 7, [7, 1], 1),
        (AtomOp::Cas, u32, 8, [7, 1], 8),
    ];
    for (op, ty, old, operands, wanted) in cases {
        assert_eq!(atomic(op, ty, true, old, operands), wanted, "{op:?}");
    }
    assert_eq!(atomic(AtomOp::Add, f32, true, 1, [1, 0]), 0);
    assert_eq!(atomic(AtomOp::Add, f32, false, 1, [1, 0]), 2);
}
