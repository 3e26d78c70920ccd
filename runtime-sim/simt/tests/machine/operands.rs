//! What timing models ask of an instruction's registers.

use nbcc_isa_mpu::ISA;
use nbcc_isa_simt::PREDICATES;
use nbcc_isa_simt::asm::assemble;
use nbcc_sim_simt::timing::operands::{Operands, reads};

fn of(line: &str) -> Operands {
    let text = format!(".isa mpu 1\n.machine mpu\n.section .text\n{line}\nexit\n");
    let program = assemble(&ISA, &text).unwrap_or_else(|e| panic!("{}", e[0]));
    Operands::new(&program.code.text[0])
}

#[test]
fn registers_have_numbers() {
    let p = PREDICATES;
    let store = of("if P2 st.global.b32.weak [D4], 0, R7");
    assert_eq!((&store.sources[..], store.address), (&[p + 4, p + 5, p + 7][..], 2));
    assert_eq!(
        (&store.waits[..], &store.destinations[..]),
        (&[p + 4, p + 5, p + 7, 2][..], &[][..])
    );
    let add = of("int3.mad R0, R1, R1, R17");
    assert_eq!((&add.sources[..], &add.destinations[..]), (&[p + 1, p + 17][..], &[p][..]));
    assert_eq!((reads(&add.sources, 16), reads(&add.sources, 8), add.lines()), (2, 2, [2, 1]));
    assert_eq!(reads(&of("mov R0, 1").sources, 16), 1);
}
