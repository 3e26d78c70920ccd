//! docs/isa-mpu.md holds the table of instructions. `NBCC_BLESS=1` writes it.

use std::path::Path;

const BEGIN: &str = "<!-- made from the table: begin -->\n";
const END: &str = "<!-- made from the table: end -->\n";

#[test]
fn reference_page_is_in_step() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/isa-mpu.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (head, rest) = page.split_once(BEGIN).unwrap();
    let (_, tail) = rest.split_once(END).unwrap();
    let table = nbcc_isa::reference::markdown(nbcc_isa_mpu::ops::ROWS);
    let expected = format!("{head}{BEGIN}\n{table}{END}{tail}");
    if page != expected && std::env::var_os("NBCC_BLESS").is_some() {
        std::fs::write(&path, expected).unwrap();
        return;
    }
    assert!(page == expected, "docs/isa-mpu.md is out of step; NBCC_BLESS=1 writes it");
}
