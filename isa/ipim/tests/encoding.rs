//! Encoding and text of single instructions: vectors worked out by hand from the field
//! positions in docs/isa-ipim.md, round trips of random instructions, and errors.

use nbcc_isa::asm::parse_instruction;
use nbcc_isa::table::covered_bits;
use nbcc_isa::{DecodeError, EncodeError, Imm, Instruction, MachineInstruction, Role, SyntaxError};
use nbcc_isa_ipim::ops::ROWS;
use nbcc_isa_ipim::{
    Addr, CompOp, FloatOp, Inst, IntOp, Mode, PhysReg, RegClass, SimbMask, Source, VecMask,
};
use proptest::prelude::*;

fn d(index: u16) -> PhysReg {
    PhysReg::new(RegClass::Data, index)
}

fn a(index: u16) -> PhysReg {
    PhysReg::new(RegClass::Addr, index)
}

fn c(index: u16) -> PhysReg {
    PhysReg::new(RegClass::Ctrl, index)
}

fn parse(text: &str) -> Result<Inst<PhysReg>, SyntaxError> {
    parse_instruction(text)
}

/// One of each, with the bytes as they lie in the file.
fn vectors() -> Vec<(Inst<PhysReg>, &'static str, &'static str)> {
    let all = SimbMask(0xffff_ffff);
    vec![
        (
            // op 16 + 3 = 19 = 0b10011 in bits 8..13, mode 1 in bit 13: 0x33.
            Inst::Comp {
                op: CompOp::Float(FloatOp::Mac),
                mode: Mode::Sv,
                dst: d(1),
                src1: d(2),
                src2: d(63),
                vec_mask: VecMask::ALL,
                simb_mask: all,
            },
            "comp.mac.f32.sv D1, D2, D63, vec=0xf, simb=0xffffffff",
            "01 33 0f 00 01 02 3f 00 00 00 00 00 ff ff ff ff",
        ),
        (
            Inst::Comp {
                op: CompOp::Int(IntOp::CropMsb),
                mode: Mode::Vv,
                dst: d(10),
                src1: d(11),
                src2: d(12),
                vec_mask: VecMask::new(0b0101),
                simb_mask: SimbMask(0x8000_0001),
            },
            "comp.cropmsb.i32.vv D10, D11, D12, vec=0x5, simb=0x80000001",
            "01 0b 05 00 0a 0b 0c 00 00 00 00 00 01 00 00 80",
        ),
        (
            Inst::CalcArf {
                op: IntOp::Sra,
                dst: a(4),
                src1: a(5),
                src2: a(0),
                simb_mask: SimbMask(0xf0),
            },
            "calc_arf.sra A4, A5, A0, simb=0xf0",
            "02 06 00 00 04 05 00 00 00 00 00 00 f0 00 00 00",
        ),
        (
            Inst::LdRf { dram: Addr::Direct(0x0012_3450), drf: d(7), simb_mask: all },
            "ld_rf [0x123450], D7, simb=0xffffffff",
            "10 00 00 00 07 00 00 00 50 34 12 00 ff ff ff ff",
        ),
        (
            Inst::StRf { dram: Addr::Indirect(a(9)), drf: d(7), simb_mask: all },
            "st_rf [A9], D7, simb=0xffffffff",
            "11 01 00 00 07 00 00 00 09 00 00 00 ff ff ff ff",
        ),
        (
            Inst::LdPgsm {
                dram: Addr::Indirect(a(33)),
                pgsm: Addr::Indirect(a(34)),
                simb_mask: SimbMask(1),
            },
            "ld_pgsm [A33], [A34], simb=0x1",
            "12 03 00 00 22 00 00 00 21 00 00 00 01 00 00 00",
        ),
        (
            Inst::StPgsm {
                dram: Addr::Direct(0x10),
                pgsm: Addr::Direct(0x1ffc),
                simb_mask: SimbMask(1),
            },
            "st_pgsm [0x10], [0x1ffc], simb=0x1",
            "13 00 00 00 fc 1f 00 00 10 00 00 00 01 00 00 00",
        ),
        (
            Inst::RdPgsm { pgsm: Addr::Indirect(a(4)), drf: d(5), simb_mask: all },
            "rd_pgsm [A4], D5, simb=0xffffffff",
            "14 02 00 00 05 00 00 00 04 00 00 00 ff ff ff ff",
        ),
        (
            Inst::WrPgsm { pgsm: Addr::Direct(4), drf: d(5), simb_mask: all },
            "wr_pgsm [0x4], D5, simb=0xffffffff",
            "15 00 00 00 05 00 00 00 04 00 00 00 ff ff ff ff",
        ),
        (
            Inst::RdVsm { vsm: Addr::Direct(0x3fff0), drf: d(5), simb_mask: all },
            "rd_vsm [0x3fff0], D5, simb=0xffffffff",
            "16 00 00 00 05 00 00 00 f0 ff 03 00 ff ff ff ff",
        ),
        (
            Inst::WrVsm { vsm: Addr::Indirect(a(6)), drf: d(5), simb_mask: all },
            "wr_vsm [A6], D5, simb=0xffffffff",
            "17 04 00 00 05 00 00 00 06 00 00 00 ff ff ff ff",
        ),
        (
            Inst::MovDrf { arf: a(3), drf: d(8), simb_mask: all },
            "mov_drf A3, D8, simb=0xffffffff",
            "18 00 00 00 08 03 00 00 00 00 00 00 ff ff ff ff",
        ),
        (
            Inst::MovArf { arf: a(20), drf: d(8), simb_mask: all },
            "mov_arf A20, D8, simb=0xffffffff",
            "19 00 00 00 08 14 00 00 00 00 00 00 ff ff ff ff",
        ),
        (
            Inst::SetiVsm { vsm: 0x40, imm: Imm::Value(-2) },
            "seti_vsm 64, -2",
            "1a 00 00 00 00 00 00 00 40 00 00 00 fe ff ff ff",
        ),
        (
            Inst::Reset { drf: d(63), simb_mask: all },
            "reset D63, simb=0xffffffff",
            "1b 00 00 00 3f 00 00 00 00 00 00 00 ff ff ff ff",
        ),
        (
            // Flags: chip 1, vault 2, pg 4, pe 8, dram 16, vsm 32.
            Inst::Req {
                chip: Source::Ctrl(c(4)),
                vault: Source::Imm(15),
                pg: Source::Ctrl(c(6)),
                pe: Source::Imm(3),
                dram: Source::Ctrl(c(8)),
                vsm: Source::Imm(0x1234),
            },
            "req C4, 15, C6, 3, C8, 4660",
            "20 15 04 0f 06 03 00 00 08 00 00 00 34 12 00 00",
        ),
        (Inst::Jump { target: c(5) }, "jump C5", "30 00 00 00 00 00 05 00 00 00 00 00 00 00 00 00"),
        (
            Inst::CJump { cond: c(4), target: c(5) },
            "cjump C4, C5",
            "31 00 00 00 00 04 05 00 00 00 00 00 00 00 00 00",
        ),
        (
            Inst::CalcCrf { op: IntOp::Sub, dst: c(4), src1: c(4), src2: c(6) },
            "calc_crf.sub C4, C4, C6",
            "32 01 00 00 04 04 06 00 00 00 00 00 00 00 00 00",
        ),
        (
            Inst::SetiCrf { dst: c(63), imm: Imm::Value(i32::MIN) },
            "seti_crf C63, -2147483648",
            "33 00 00 00 3f 00 00 00 00 00 00 00 00 00 00 80",
        ),
        (Inst::Sync { phase: 258 }, "sync 258", "40 00 00 00 00 00 00 00 00 00 00 00 02 01 00 00"),
    ]
}

#[test]
fn hand_written_vectors() {
    let mut opcodes = Vec::new();
    for (inst, text, hex) in vectors() {
        let word = inst.encode().unwrap();
        let bytes: Vec<String> = word.to_le_bytes().iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(bytes.join(" "), hex, "{text}");
        assert_eq!(Inst::decode(word).unwrap(), inst, "{text}");
        assert_eq!(inst.to_string(), text);
        assert_eq!(parse(text).unwrap(), inst, "{text}");
        opcodes.push(u32::from(inst.opcode()));
    }
    for row in ROWS {
        assert!(opcodes.contains(&row.opcode), "no vector for `{}`", row.mnemonic);
    }
}

/// Every bit outside of the fields, in every row.
#[test]
fn reserved_bits_are_checked() {
    for row in ROWS {
        Inst::<PhysReg>::decode(row.opcode.into()).unwrap();
        for bit in 8..128 {
            let word = u128::from(row.opcode) | 1 << bit;
            if covered_bits(row) >> bit & 1 == 0 {
                let mnemonic = row.mnemonic;
                let error = DecodeError::Reserved { mnemonic, bits: 1 << bit };
                assert_eq!(Inst::<PhysReg>::decode(word), Err(error));
            }
        }
    }
    for opcode in 0..=255_u8 {
        if !ROWS.iter().any(|row| row.opcode == u32::from(opcode)) {
            let error = Err(DecodeError::UnknownOpcode(opcode));
            assert_eq!(Inst::<PhysReg>::decode(opcode.into()), error);
        }
    }
    // Operation 12 does not exist; nor does operation 20 of `comp`.
    assert!(matches!(
        Inst::<PhysReg>::decode(0x0c02),
        Err(DecodeError::BadField { mnemonic: "calc_arf", field: "op", value: 12 })
    ));
    assert!(Inst::<PhysReg>::decode(0x1401).is_err());
}

#[test]
fn what_does_not_fit_is_not_encoded() {
    let req = |chip| Inst::Req {
        chip,
        vault: Source::Imm(0),
        pg: Source::Imm(0),
        pe: Source::Imm(0),
        dram: Source::Imm(0),
        vsm: Source::Imm(0),
    };
    assert!(matches!(
        req(Source::Imm(256)).encode(),
        Err(EncodeError::DoesNotFit { field: "chip", bits: 8, value: 256, .. })
    ));
    assert!(matches!(
        req(Source::Ctrl(d(1))).encode(),
        Err(EncodeError::WrongClass { field: "chip", .. })
    ));
    assert!(matches!(Inst::Jump { target: c(256) }.encode(), Err(EncodeError::DoesNotFit { .. })));
    assert!(matches!(
        Inst::SetiCrf { dst: c(1), imm: Imm::Label(3) }.encode(),
        Err(EncodeError::Unresolved { field: "imm", .. })
    ));
}

#[test]
fn roles_follow_from_fields() {
    let roles = |text: &str| {
        let inst = parse(text).unwrap();
        let mut roles = Vec::new();
        inst.for_each_operand(|o| roles.push((o.role, o.reg.to_string())));
        roles
    };
    let of = |role, name: &str| (role, name.to_owned());
    let full = [of(Role::Def, "D1"), of(Role::Use, "D2"), of(Role::Use, "D3")];
    let tied = [of(Role::UseDef, "D1"), of(Role::Use, "D2"), of(Role::Use, "D3")];
    assert_eq!(roles("comp.add.f32.vv D1, D2, D3, vec=0xf, simb=0x1"), full);
    assert_eq!(roles("comp.add.f32.vv D1, D2, D3, vec=0x7, simb=0x1"), tied);
    assert_eq!(roles("comp.mac.i32.vv D1, D2, D3, vec=0xf, simb=0x1"), tied);
    assert_eq!(roles("calc_crf.mac C1, C2, C3")[0].0, Role::UseDef);
    assert_eq!(roles("calc_arf.xor A9, A2, A3, simb=0x1")[0].0, Role::Def);
    assert_eq!(roles("st_rf [A7], D1, simb=0x1"), [of(Role::Use, "A7"), of(Role::Use, "D1")]);
    assert_eq!(roles("st_rf [0x0], D1, simb=0x1"), [of(Role::Use, "D1")]);
    assert_eq!(roles("req 0, C1, 0, C2, C3, 0").len(), 3);
}

/// Where the error is, and what it says.
#[test]
fn syntax_errors_have_places() {
    for (text, at, message) in [
        ("compp.add.f32.vv D1, D2, D3, vec=0xf, simb=0x1", 0..5, "unknown instruction `compp`"),
        ("comp.ad.f32.vv D1, D2, D3, vec=0xf, simb=0x1", 5..7, "unknown float operation `ad`"),
        ("comp.shl.f32.vv D1, D2, D3, vec=0xf, simb=0x1", 5..8, "unknown float operation `shl`"),
        ("comp.add.f16.vv D1, D2, D3, vec=0xf, simb=0x1", 9..12, "unknown type `f16`"),
        ("comp.add.f32.vs D1, D2, D3, vec=0xf, simb=0x1", 13..15, "unknown mode `vs`"),
        ("comp.add.f32 D1, D2, D3, vec=0xf, simb=0x1", 13..15, "expected `.` and mode, found `D1`"),
        (
            "comp.add.f32.vv A1, D2, D3, vec=0xf, simb=0x1",
            16..18,
            "expected a register of DataRF, found `A1`",
        ),
        (
            "comp.add.f32.vv D01, D2, D3, vec=0xf, simb=0x1",
            16..19,
            "expected a register of DataRF, found `D01`",
        ),
        ("comp.add.f32.vv D1 D2, D3, vec=0xf, simb=0x1", 19..21, "expected `,`, found `D2`"),
        (
            "comp.add.f32.vv D1, D2, D3, vec=0x10, simb=0x1",
            32..36,
            "the lane mask 16 is out of range",
        ),
        ("reset D256, simb=0x1", 6..10, "DataRF 256 is out of range"),
        ("reset D1", 8..8, "expected `,`, found the end of the line"),
        ("ld_rf 16, D1, simb=0x1", 6..8, "expected `[`, found `16`"),
        ("ld_rf [-16], D1, simb=0x1", 7..10, "dram -16 is out of range"),
        ("req 0, 256, 0, 0, 0, 0", 7..10, "vault 256 is out of range"),
        ("sync zero", 5..9, "expected a number, found `zero`"),
    ] {
        let error = parse(text).unwrap_err();
        assert_eq!((error.span, error.message.as_str()), (at, message), "{text}");
    }
    let error = parse("ld_pgs [0x0], [0x0], simb=0x1").unwrap_err();
    assert_eq!(error.help.as_deref(), Some("did you mean `ld_pgsm`?"));
}

/// The same instruction over other registers, through `map_regs` and in place.
#[test]
fn registers_are_replaced() {
    for (inst, ..) in vectors() {
        let mut count = 0;
        let virtual_regs = inst.map_regs(|operand| {
            count += 1;
            (operand.role, operand.class, *operand.reg)
        });
        let mut seen = 0;
        virtual_regs.for_each_operand(|operand| {
            seen += 1;
            assert_eq!((operand.role, operand.class), (operand.reg.0, operand.reg.1));
        });
        assert_eq!(count, seen);
        assert_eq!(virtual_regs.map_regs(|operand| operand.reg.2), inst);
        let mut moved = inst;
        moved.for_each_operand_mut(|operand| operand.reg.index += 1);
        let expected = inst.map_regs(|o| PhysReg::new(o.class, o.reg.index + 1));
        assert_eq!(moved, expected);
        assert_eq!(moved == inst, count == 0);
    }
}

/// Random bits in the fields of a random row; `either` fields with a register get an
/// index of 8 bits.
fn words() -> impl Strategy<Value = u128> {
    (0..ROWS.len(), any::<u128>()).prop_map(|(row, bits)| {
        let row = &ROWS[row];
        let mut word = bits & covered_bits(row) & !0xff | u128::from(row.opcode);
        for field in row.fields {
            if field.flag.is_some_and(|flag| word >> flag & 1 == 1) {
                for bit in field.low + 8..field.high {
                    word &= !(1 << bit);
                }
            }
        }
        word
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn encoding_and_text_round_trip(word in words()) {
        // Some operations do not exist.
        let decoded = Inst::<PhysReg>::decode(word);
        prop_assume!(decoded.is_ok());
        let inst = decoded.unwrap();
        prop_assert_eq!(inst.encode().unwrap(), word);
        let text = inst.to_string();
        prop_assert_eq!(parse(&text).unwrap(), inst, "{}", text);
    }

    /// Any bits are an instruction that encodes to the same bits, or an error.
    #[test]
    fn decoding_never_panics(word in any::<u128>(), row in 0..ROWS.len()) {
        for word in [word, word & !0xff | u128::from(ROWS[row].opcode)] {
            if let Ok(inst) = Inst::<PhysReg>::decode(word) {
                prop_assert_eq!(inst.encode().unwrap(), word);
            }
        }
    }

    /// Any text is an instruction or an error inside of the text.
    #[test]
    fn parsing_never_panics(text in "[a-z_]{0,8}[.a-z0-9]{0,12} [DAC0-9x,= \\[\\]é\"-]{0,20}") {
        if let Err(error) = parse(&text) {
            prop_assert!(text.get(error.span).is_some());
        }
    }

    /// Texts that differ in one character from a right one.
    #[test]
    fn damaged_texts_never_panic(
        index in 0..21_usize,
        at in any::<prop::sample::Index>(),
        new in prop::sample::select(vec!['0', '9', 'f', 'x', ' ', ',', '.', '-', '[', 'é']),
    ) {
        let vectors = vectors();
        let mut text: Vec<char> = vectors[index % vectors.len()].1.chars().collect();
        let at = at.index(text.len());
        text[at] = new;
        let text: String = text.into_iter().collect();
        match parse(&text) {
            Ok(inst) => prop_assert_eq!(parse(&inst.to_string()).unwrap(), inst),
            Err(error) => prop_assert!(text.get(error.span).is_some()),
        }
    }
}
