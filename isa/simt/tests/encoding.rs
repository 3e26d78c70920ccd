//! Encoding and text of single instructions: vectors worked out by hand from the field
//! positions in docs/isa-simt.md, round trips of random encodings of every row, and errors.

use nbcc_isa::asm::parse_instruction;
use nbcc_isa::table::covered_bits;
use nbcc_isa::{DecodeError, Imm, Instruction, MachineInstruction, Role, SyntaxError};
use nbcc_isa_simt::inst::COMMON_BITS;
use nbcc_isa_simt::operands::{
    Access, Alignment, AtomOp, AtomType, Base, Bits64, ConvertMods, ConvertRounding, FloatMods,
    FloatOp, Format, IntOp, NumType, Offset, Order, Rounding, ShflMode, Source, Space, SyncMode,
};
use nbcc_isa_simt::ops::ROWS;
use nbcc_isa_simt::{Hint, Inst, Op, PhysReg, RegClass};

fn r(index: u16) -> PhysReg {
    PhysReg::new(RegClass::Word, index)
}

fn d(index: u16) -> PhysReg {
    PhysReg::new(RegClass::Wide, index)
}

fn p(index: u16) -> PhysReg {
    PhysReg::new(RegClass::Pred, index)
}

fn parse(text: &str) -> Result<Inst<PhysReg>, SyntaxError> {
    parse_instruction(text)
}

/// Instructions with the bytes as they lie in the file.
fn vectors() -> Vec<(Inst<PhysReg>, &'static str, &'static str)> {
    vec![
        (
            // No guard: 7 in bits 8..11; the source is a register: bit 14. 0x47.
            Op::Int { op: IntOp::Add, dst: r(1), a: r(2), b: Source::Reg(r(3)) }.into(),
            "int.add R1, R2, R3",
            "01 47 00 00 01 02 00 00 00 00 00 00 03 00 00 00",
        ),
        (
            // Guard 2, complement 8, hint 1 in bits 12..14: 0x1a.
            Inst {
                hint: Hint::Near,
                ..Inst::guarded(
                    Op::Int { op: IntOp::Sub, dst: r(10), a: r(11), b: Source::Imm(5) },
                    p(2),
                    true,
                )
            },
            "if !P2 near int.sub R10, R11, 5",
            "01 1a 01 00 0a 0b 00 00 00 00 00 00 05 00 00 00",
        ),
        (
            Inst::guarded(
                Op::Bra { target: Imm::Value(64), reconverge: Imm::Value(128) },
                p(0),
                false,
            ),
            "if P0 bra 64, 128",
            "90 00 00 00 00 00 00 00 80 00 00 00 40 00 00 00",
        ),
        (
            Op::Bra { target: Imm::Value(64), reconverge: Imm::Value(-1) }.into(),
            "bra 64, -1",
            "90 07 00 00 00 00 00 00 ff ff ff ff 40 00 00 00",
        ),
        (
            // Space 1 in 16..19, access 4 in 19..22: 0x21.
            Op::Ld {
                space: Space::Global,
                access: Access::B32,
                order: Order::Weak,
                dst: r(5),
                base: Base::Reg(d(2)),
                offset: Offset(16),
            }
            .into(),
            "ld.global.b32.weak R5, [D2], 16",
            "50 47 21 05 00 00 00 00 00 00 00 02 10 00 00 00",
        ),
        (
            Op::St {
                space: Space::Shared,
                access: Access::U8,
                order: Order::Volatile,
                base: Base::Imm(0),
                offset: Offset(-4),
                src: r(9),
            }
            .into(),
            "st.shared.u8.volatile [0x0], -4, R9",
            "58 07 02 09 00 00 00 00 00 00 01 00 fc ff ff ff",
        ),
        (
            // Rounding 1, flush 4, saturation 8 in 24..32: 0x0d.
            Op::Float {
                op: FloatOp::Add,
                format: Format::F32,
                mods: FloatMods { ftz: true, sat: true, ..FloatMods::plain(Rounding::Rz) },
                dst: r(1),
                a: r(2),
                b: Source::Reg(r(3)),
            }
            .into(),
            "float.add.f32.rz.ftz.sat R1, R2, R3",
            "30 47 00 0d 01 02 00 00 00 00 00 00 03 00 00 00",
        ),
        (
            Op::Fma {
                format: Format::F16x2,
                mods: FloatMods { relu: true, ..FloatMods::plain(Rounding::Rn) },
                dst: r(1),
                a: r(2),
                b: r(3),
                c: Source::Reg(r(4)),
            }
            .into(),
            "fma.f16x2.rn.relu R1, R2, R3, R4",
            "32 47 30 10 01 02 03 00 00 00 00 00 04 00 00 00",
        ),
        (
            // Types 5 and 10: 0xa5; rounding 7, saturation 0x20.
            Op::Cvt {
                to: NumType::S32,
                from: NumType::F32,
                mods: ConvertMods { sat: true, ..ConvertMods::plain(ConvertRounding::Rzi) },
                dst: r(1),
                src: r(2),
            }
            .into(),
            "cvt.s32.f32.rzi.sat R1, R2",
            "40 07 a5 27 01 02 00 00 00 00 00 00 00 00 00 00",
        ),
        (
            Op::Shfl {
                mode: ShflMode::Bfly,
                sync: SyncMode::Sync,
                dst: r(1),
                valid: p(0),
                src: r(2),
                lane: Source::Imm(16),
                clamp: Source::Imm(31),
                mask: Source::Imm(u32::MAX),
            }
            .into(),
            "shfl.bfly.sync R1, P0, R2, 16, 31, 4294967295",
            "70 07 02 01 00 02 10 1f 00 00 00 00 ff ff ff ff",
        ),
        (
            // Space 1 in 24..27, order 2 in 27..30: 0x11.
            Op::Atom {
                op: AtomOp::Add,
                ty: AtomType::U32,
                space: Space::Global,
                order: Order::Relaxed,
                dst: r(1),
                base: Base::Reg(d(4)),
                offset: Offset(0),
                src: r(3),
            }
            .into(),
            "atom.add.u32.global.relaxed R1, [D4], 0, R3",
            "60 47 04 11 01 03 00 00 00 00 00 04 00 00 00 00",
        ),
        (
            Op::MovBits { dst: d(6), bits: Bits64(0x0123_4567_89ab_cdef) }.into(),
            "movi64 D6, x0123456789abcdef",
            "1a 07 00 00 06 00 00 00 ef cd ab 89 67 45 23 01",
        ),
        (
            Op::Lop3 { dst: r(1), a: r(2), b: r(3), c: Source::Reg(r(4)), table: 0x96 }.into(),
            "lop3 R1, R2, R3, R4, 150",
            "10 47 96 00 01 02 03 00 00 00 00 00 04 00 00 00",
        ),
        (
            // Hint 2 in bits 12..14.
            Inst {
                hint: Hint::Far,
                ..Op::Bar {
                    alignment: Alignment::Aligned,
                    id: Source::Imm(3),
                    count: Source::Imm(64),
                }
                .into()
            },
            "far bar.aligned 3, 64",
            "80 27 01 00 00 03 00 00 00 00 00 00 40 00 00 00",
        ),
        (Op::Exit {}.into(), "exit", "91 07 00 00 00 00 00 00 00 00 00 00 00 00 00 00"),
    ]
}

fn word(bytes: &str) -> u128 {
    bytes.split(' ').rev().fold(0, |word, b| word << 8 | u128::from_str_radix(b, 16).unwrap())
}

#[test]
fn vectors_encode_decode_print_and_parse() {
    for (inst, text, bytes) in vectors() {
        assert_eq!(inst.encode().unwrap(), word(bytes), "{text}");
        assert_eq!(Inst::decode(word(bytes)).unwrap(), inst, "{text}");
        assert_eq!(inst.to_string(), text);
        assert_eq!(parse(text).unwrap(), inst);
    }
}

/// Every row: random bits in its fields decode to an instruction that encodes to them, and whose
/// text reads as itself.
#[test]
fn every_row_round_trips() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for row in ROWS {
        let mut found = 0;
        for _ in 0..4000 {
            let bits = u128::from(random()) << 64 | u128::from(random());
            let mut word = bits & (covered_bits(row) & !0xff | COMMON_BITS);
            word |= u128::from(row.opcode);
            let Ok(inst) = Inst::decode(word) else { continue };
            found += 1;
            assert_eq!(inst.encode().unwrap(), word, "{inst}");
            let text = inst.to_string();
            assert_eq!(parse(&text).unwrap(), inst, "{text}");
        }
        assert!(found >= 5, "{} decodes {found} times only", row.mnemonic);
    }
}

#[test]
fn reserved_bits_and_meaningless_fields_are_errors() {
    let add = word(vectors()[0].2);
    assert!(matches!(
        Inst::decode(add | 1 << 24),
        Err(DecodeError::Reserved { mnemonic: "int", .. })
    ));
    assert_eq!(Inst::decode(0xff), Err(DecodeError::UnknownOpcode(0xff)));
    // The complement of no guard, and the fourth hint.
    for bit in [1 << 11, 3 << 12] {
        assert!(matches!(Inst::decode(add | bit), Err(DecodeError::BadField { .. })));
    }
    assert!(matches!(
        Inst::decode(add | 0xff << 16),
        Err(DecodeError::BadField { field: "op", .. })
    ));
}

#[test]
fn guarded_destinations_are_read() {
    let op = Op::Int { op: IntOp::Add, dst: r(1), a: r(2), b: Source::Imm(1) };
    let roles = |inst: Inst<PhysReg>| {
        let mut out = Vec::new();
        inst.for_each_operand(|operand| out.push((operand.role, *operand.reg)));
        out
    };
    assert_eq!(roles(op.into()), [(Role::Def, r(1)), (Role::Use, r(2))]);
    let guarded = roles(Inst::guarded(op, p(3), false));
    assert_eq!(guarded, [(Role::Use, p(3)), (Role::UseDef, r(1)), (Role::Use, r(2))]);
}

#[test]
fn texts_that_are_no_instructions() {
    for (text, message) in [
        ("int.ad R1, R2, R3", "unknown integer operation `ad`"),
        ("if P7 exit", "P7 is out of range"),
        ("if R1 exit", "expected a register of Pred, found `R1`"),
        ("int.add R1, R2", "expected `,`, found the end of the line"),
        ("int.add R1, R2, D4", "expected a register of Word, found `D4`"),
        ("movi64 D2, 5", "expected 64 bits in hexadecimal, found `5`"),
        ("adc R1, R2", "unknown instruction `adc`"),
        ("shfl.bfly.sync R1, P0, R2, 256, 31, 0", "lane 256 is out of range"),
        ("float.add.f32.rz.sat.ftz R1, R2, R3", "expected a register of Word, found `.`"),
    ] {
        assert_eq!(parse(text).unwrap_err().message, message, "{text}");
    }
}

#[test]
fn immediates_that_do_not_fit_have_no_encoding() {
    let op = Op::Ternary {
        op: nbcc_isa_simt::operands::TernaryOp::Mad,
        dst: r(1),
        a: r(2),
        b: Source::Imm(0x1_0000),
        c: Source::Imm(0),
    };
    assert!(Inst::from(op).encode().is_err());
}
