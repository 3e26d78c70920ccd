//! Single instructions with expected bits, by hand from the manual: that each means what its name
//! says, with its operands in their order.

use crate::support::{Bench, stored};

/// Runs instructions for one thread; R10 is the result.
fn eval(text: &str) -> u32 {
    let mut bench = Bench::new(&stored(text));
    bench.run(1, 1);
    bench.words(1)[0]
}

fn check(table: &[(&str, u32)]) {
    for (text, expected) in table {
        let text = format!("mov R20, 0\nmov R21, 0\n{}", text.replace(';', "\n"));
        let found = eval(&text);
        assert_eq!(found, *expected, "{text}\n  gives {found:#x}");
    }
}

/// R20 and R21 hold operands, D20 both.
fn with(a: u32, b: u32, text: &str) -> String {
    format!("mov R20, {a}; mov R21, {b}; {text}")
}

#[test]
fn integers() {
    let minus = |n: i32| (-n) as u32;
    for (a, b, text, expected) in [
        (7, 5, "int.sub R10, R20, R21", 2),
        (7, 5, "int.mul R10, R20, R21", 35),
        (0x8000_0000, 2, "int.mulhi_s R10, R20, R21", minus(1)),
        (0x8000_0000, 2, "int.mulhi_u R10, R20, R21", 1),
        (minus(1), 1, "int.min_s R10, R20, R21", minus(1)),
        (minus(1), 1, "int.min_u R10, R20, R21", 1),
        (minus(1), 1, "int.max_s R10, R20, R21", 1),
        (0xf0, 0x3c, "int.and R10, R20, R21", 0x30),
        (0xf0, 0x3c, "int.or R10, R20, R21", 0xfc),
        (0xf0, 0x3c, "int.xor R10, R20, R21", 0xcc),
        (1, 31, "int.shl R10, R20, R21", 0x8000_0000),
        (1, 32, "int.shl R10, R20, R21", 0),
        (0x8000_0000, 33, "int.shr R10, R20, R21", 0),
        (0x8000_0000, 99, "int.sra R10, R20, R21", minus(1)),
        (minus(7), 2, "int.div_s R10, R20, R21", minus(3)),
        (minus(7), 2, "int.div_u R10, R20, R21", 0x7fff_fffc),
        (minus(7), 2, "int.rem_s R10, R20, R21", minus(1)),
        (7, 0, "int.div_u R10, R20, R21", u32::MAX),
        (7, 0, "int.rem_u R10, R20, R21", !0),
        (0x7fff_ffff, 1, "int.addsat R10, R20, R21", 0x7fff_ffff),
        (0x8000_0000, 1, "int.subsat R10, R20, R21", 0x8000_0000),
        (4, 8, "int.bmsk_clamp R10, R20, R21", 0xff0),
        (0x80, 8, "int.szext_clamp_s R10, R20, R21", 0xffff_ff80),
        (5, 0, "int1.not R10, R20", !5),
        (5, 0, "int1.neg R10, R20", minus(5)),
        (minus(5), 0, "int1.abs R10, R20", 5),
        (1, 0, "int1.brev R10, R20", 0x8000_0000),
        (0x180, 0, "int1.sext8 R10, R20", 0xffff_ff80),
        (0x1_8000, 0, "int1.sext16 R10, R20", 0xffff_8000),
        (0x1ff, 0, "int1.zext8 R10, R20", 0xff),
        (0xff, 0, "count.popc R10, R20", 8),
        (0xff, 0, "count.clz R10, R20", 24),
        (minus(3), 0, "count.bfind_s R10, R20", 1),
        (0, 1, "count64.popc R10, D20", 1),
        (1, 0, "count64.clz R10, D20", 63),
        (3, 4, "int3.mad R10, R20, R21, 5", 17),
        (3, 10, "int3.sad_u R10, R20, R21, 100", 107),
        (0xabcd, 4, "int3.bfe_u R10, R20, 4, 8", 0xbc),
        (0x0302_0100, 0x0706_0504, "int3.prmt_idx R10, R20, R21, 0x7531", 0x0705_0301),
        (0x8000_0000, 1, "int3.shf_l_wrap R10, R20, R21, 1", 3),
        (0x8000_0000, 1, "int3.shf_r_wrap R10, R20, R21, 31", 3),
        (0x0101_0101, 0x0102_0304, "int3.dp4a_uu R10, R20, R21, 1", 11),
        (0xcc, 0xaa, "lop3 R10, R20, R21, 0xf0, 0xe8", 0xe8),
        (0xff, 0x1234_5678, "bfi R10, R20, R21, 8, 8", 0x1234_ff78),
        (0x0a0b_0c0d, 0x0d0c_0b0a, "mov R22, 1; simd.absdiff.add R10, R20, R21, R22, 15", 9),
        (7, 0, "sel R10, R20, 9, P6", 9),
        (7, 0, "pset P6, 1; sel R10, R20, 9, P6", 7),
        (minus(1), 1, "cmp.lt_s P1, R20, R21; p2r R10, P1", 1),
        (minus(1), 1, "cmp.lt_u P1, R20, R21; p2r R10, P1", 0),
    ] {
        check(&[(&with(a, b, text), expected)]);
    }
}

#[test]
fn wide_integers() {
    check(&[
        ("movi64 D20, x00000001ffffffff; int64.add D22, D20, 1; high R10, D22", 2),
        ("movi64 D20, x0000000000000000; int64.sub D22, D20, 1; high R10, D22", u32::MAX),
        (
            "movi64 D20, x0000000100000000; int64.mul D22, D20, 0xfffffffd; high R10, D22",
            -3_i32 as u32,
        ),
        ("movi64 D20, x8000000000000000; shift64.sra D22, D20, 63; low R10, D22", u32::MAX),
        ("movi64 D20, x8000000000000000; shift64.shr D22, D20, 64; low R10, D22", 0),
        ("mov R20, 0xfffffffe; mul_wide.s D22, R20, 3; high R10, D22", u32::MAX),
        ("mov R20, 0xfffffffe; mul_wide.u D22, R20, 3; high R10, D22", 2),
        (
            "movi64 D24, x0000000500000000; mov R20, 3; mad_wide.u D22, R20, 4, D24; high R10, D22",
            5,
        ),
        (
            "movi64 D24, x0000000500000000; mov R20, 3; mad_wide.u D22, R20, 4, D24; low R10, D22",
            12,
        ),
        ("mov R20, 6; pack D22, R20, 9; high R10, D22", 9),
        ("movi64 D20, x000000ff00000000; bfe64.u D22, D20, 32, 4; low R10, D22", 15),
        ("movi64 D20, xffffffffffffffff; cmp64.lt_s P1, D20, 0; p2r R10, P1", 1),
        (
            "movi64 D20, x0000000000000010; movi64 D22, x0000000000000003; int64.div_u D24, D20, D22; low R10, D24",
            5,
        ),
    ]);
}

#[test]
fn predicates() {
    for (op, expected) in [
        ("and", 0),
        ("or", 1),
        ("xor", 1),
        ("andnot", 1),
        ("ornot", 1),
        ("xnor", 0),
        ("nand", 1),
        ("nor", 0),
    ] {
        let text = format!("pset P1, 1; pset P2, 0; pred.{op} P3, P1, P2; p2r R10, P3");
        check(&[(&text, expected)]);
    }
    check(&[
        ("pset P1, 1; pset P2, 0; psel P3, P2, P1, P1; p2r R10, P3", 0),
        ("pset P1, 1; pnot P3, P1; pmov P4, P3; p2r R10, P4", 0),
        ("mov R10, 5; pset P1, 0; if P1 mov R10, 6", 5),
        ("mov R10, 5; pset P1, 0; if !P1 mov R10, 6", 6),
    ]);
}

#[test]
fn floats() {
    let f = |x: f32| x.to_bits();
    let table = [
        (f(1.5), f(2.0), "float.add.f32.rn R10, R20, R21", f(3.5)),
        (f(1.5), f(2.0), "float.sub.f32.rn R10, R20, R21", f(-0.5)),
        (f(1.5), f(2.0), "float.mul.f32.rn R10, R20, R21", f(3.0)),
        (f(1.0), f(3.0), "float.div.f32.rz R10, R20, R21", 0x3eaa_aaaa),
        (f(1.0), f(3.0), "float.div.f32.rp R10, R20, R21", 0x3eaa_aaab),
        (f(1.5), f(2.0), "float.min.f32.rn R10, R20, R21", f(1.5)),
        (f(1.5), f(2.0), "float.max.f32.rn R10, R20, R21", f(2.0)),
        (1, 1, "float.add.f32.rn.ftz R10, R20, R21", 0),
        (f(5.0), f(2.0), "float.add.f32.rn.sat R10, R20, R21", f(1.0)),
        (f(2.0), f(3.0), "fma.f32.rn R10, R20, R21, 0x3f800000", f(7.0)),
        (f(4.0), 0, "float1.sqrt.f32.rn R10, R20", f(2.0)),
        (f(4.0), 0, "float1.rcp.f32.rn R10, R20", f(0.25)),
        (f(4.0), 0, "float1.neg.f32.rn R10, R20", f(-4.0)),
        (0x3c00_4000, 0x3c00_3c00, "float.add.f16x2.rn R10, R20, R21", 0x4000_4200),
        (0x4000, 0x3c00, "float.mul.f16.rn R10, R20, R21", 0x4000),
        (0x3f80, 0x4000, "float.add.bf16.rn R10, R20, R21", 0x4040),
        (f(2.0), 0, "approx.ex2.f32 R10, R20", f(4.0)),
        (f(8.0), 0, "approx.lg2.f32 R10, R20", f(3.0)),
        (f(0.0), 0, "approx.cos.f32 R10, R20", f(1.0)),
        (f(0.0), 0, "approx.sin.f32 R10, R20", f(0.0)),
        (f(4.0), 0, "approx.rsqrt.f32 R10, R20", f(0.5)),
        (f(9.0), f(3.0), "div.full.f32 R10, R20, R21", f(3.0)),
        (f(1.0), 0x7fc0_0000, "fcmp.ltu.f32 P1, R20, R21; p2r R10, P1", 1),
        (f(1.0), 0x7fc0_0000, "fcmp.lt.f32 P1, R20, R21; p2r R10, P1", 0),
        (f(1.0), f(2.0), "fcmp.gt.f32 P1, R20, R21; p2r R10, P1", 0),
        (0x3c00_4000, 0x4000_3c00, "fcmp2.lt.f16x2 P1, P2, R20, R21; p2r R10, P1", 0),
        (0x3c00_4000, 0x4000_3c00, "fcmp2.lt.f16x2 P1, P2, R20, R21; p2r R10, P2", 1),
        (f(-1.0), f(2.0), "copysign R10, R20, R21", f(-2.0)),
        (1, 0, "testp.subnormal P1, R20; p2r R10, P1", 1),
        (f(2.5), 0, "cvt.s32.f32.rni R10, R20", 2),
        (f(-2.5), 0, "cvt.s32.f32.rmi R10, R20", -3_i32 as u32),
        (-3_i32 as u32, 0, "cvt.f32.s32.rn R10, R20", f(-3.0)),
        (0xffff_ff80, 0, "cvt.u8.s32.exact.sat R10, R20", 0),
        (f(1.0), 0, "cvt.f16.f32.rn R10, R20", 0x3c00),
        (0x3c00, 0, "cvt.f32.f16.exact R10, R20", f(1.0)),
        (f(1.0), f(2.0), "cvt_pack.f16x2.rn R10, R20, R21", 0x3c00_4000),
        (f(1.0), f(2.0), "cvt_pack.bf16x2.rn R10, R20, R21", 0x3f80_4000),
        (f(1.5), 0, "cvt_widen.f64.f32.exact D22, R20; high R10, D22", 0x3ff8_0000),
        (0, 0x3ff8_0000, "cvt_narrow.f32.f64.rn R10, D20", f(1.5)),
        (0, 0x3ff0_0000, "float64.add.rn D22, D20, 0x40000000; high R10, D22", 0x4008_0000),
        (0, 0x4000_0000, "fma64.rn D22, D20, D20, 0x3ff00000; high R10, D22", 0x4014_0000),
        (0, 0x4010_0000, "float1_64.sqrt.rn D22, D20; high R10, D22", 0x4000_0000),
        (0, 0x4000_0000, "approx64.rcp.f32.ftz D22, D20; high R10, D22", 0x3fe0_0000),
        (0, 0x4000_0000, "fcmp64.ge P1, D20, 0x40000000; p2r R10, P1", 1),
        (0, 0x4000_0000, "cvt_wide.s64.f64.rzi D22, D20; low R10, D22", 2),
    ];
    for (a, b, text, expected) in table {
        check(&[(&with(a, b, text), expected)]);
    }
}

#[test]
fn special_registers() {
    let read = |name: &str, grid, block| {
        let mut bench = Bench::new(&stored(&format!("sreg.{name} R10")));
        bench.run(grid, block);
        bench.words((grid * block) as usize)
    };
    assert_eq!(read("tid_x", 2, 40)[45], 5);
    assert_eq!(read("ntid_x", 2, 40)[45], 40);
    assert_eq!(read("ctaid_x", 2, 40)[45], 1);
    assert_eq!(read("nctaid_x", 2, 40)[45], 2);
    assert_eq!(read("laneid", 2, 40)[39], 7);
    assert_eq!(read("warpid", 2, 40)[39], 1);
    assert_eq!(read("smid", 130, 1)[129], 1);
    assert_eq!(read("nsmid", 1, 1)[0], 128);
    assert_eq!(read("lanemask_lt", 1, 32)[4], 0xf);
    assert_eq!(read("lanemask_ge", 1, 32)[31], 0x8000_0000);
    assert_eq!(read("lanemask_gt", 1, 32)[31], 0);
    assert_eq!(read("lanemask_le", 1, 32)[31], u32::MAX);
    assert_eq!(read("total_smem_size", 1, 1)[0], 1024);
}
