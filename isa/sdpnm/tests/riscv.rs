//! The core's encodings against another disassembler's: `riscv.txt` has random words with the text
//! that llvm-objdump gives them, or `-` where they are no instructions of RV32IM (`riscv.py` made it).

use nbcc_isa::asm::parse_instruction;
use nbcc_isa::{EncodeError, Imm, MachineInstruction, PhysReg};
use nbcc_isa_sdpnm::core::{Class, I12, Inst, ROWS};

type CoreInst = Inst<PhysReg<Class>>;

#[test]
fn words_mean_what_they_mean_to_others() {
    let mut seen = std::collections::BTreeSet::new();
    for line in include_str!("riscv.txt").lines() {
        let (word, text) = line.split_once(' ').expect("a word and a text");
        let word = u128::from_str_radix(word, 16).expect("a word");
        let decoded = CoreInst::decode(word);
        if text == "-" {
            assert!(decoded.is_err(), "{line}: {decoded:?}");
            continue;
        }
        let inst = decoded.unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!(inst.to_string(), text, "{line}");
        assert_eq!(inst.encode(), Ok(word), "{line}");
        assert_eq!(parse_instruction::<CoreInst>(text).as_ref(), Ok(&inst), "{line}");
        seen.insert(text.split(' ').next().unwrap_or_default());
    }
    let missing: Vec<&str> =
        ROWS.iter().map(|row| row.mnemonic).filter(|name| !seen.contains(name)).collect();
    assert_eq!(missing, ["fence"]);
}

#[test]
fn what_does_not_fit_is_refused() {
    let x = |index| PhysReg::new(Class::X, index);
    let [a, b] = [x(1), x(2)];
    let wide = Inst::Addi { dst: a, a: b, imm: I12(2048) };
    assert!(matches!(wide.encode(), Err(EncodeError::DoesNotFit { .. })));
    for (distance, fits) in [(-4096, true), (4094, true), (4096, false), (-4098, false), (3, false)]
    {
        let branch = Inst::Beq { a, b, to: Imm::Value(distance) };
        assert_eq!(branch.encode().is_ok(), fits, "{distance}");
    }
    for (distance, fits) in [(-(1 << 20), true), ((1 << 20) - 2, true), (1 << 20, false)] {
        let jump = Inst::Jal { dst: a, to: Imm::Value(distance) };
        assert_eq!(jump.encode().is_ok(), fits, "{distance}");
    }
    let shift = Inst::Slli { dst: a, a: b, amount: 32 };
    assert!(shift.encode().is_err());
}
