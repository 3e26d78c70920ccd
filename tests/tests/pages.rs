//! The tables of docs/ that are made of code: instructions of the rows of each instruction set,
//! statistics of the definitions of each machine. `NBCC_BLESS=1` writes them.

use nbcc_isa::reference;
use nbcc_sim_engine::statistics;
use nbcc_tests::root;

/// What stands on a page between the marks of that name is the table.
fn check(page: &str, mark: &str, table: &str) {
    let path = root().join("docs").join(page);
    let text = std::fs::read_to_string(&path).expect(page);
    let [begin, end] = ["begin", "end"].map(|side| format!("<!-- {mark}: {side} -->\n"));
    let split = text.split_once(&begin).and_then(|(head, rest)| {
        let (_, tail) = rest.split_once(&end)?;
        Some((head, tail))
    });
    let (head, tail) = split.unwrap_or_else(|| panic!("{page} has no marks `{mark}`"));
    let expected = format!("{head}{begin}\n{table}{end}{tail}");
    if text != expected && std::env::var_os("NBCC_BLESS").is_some() {
        std::fs::write(&path, expected).expect(page);
        return;
    }
    assert!(text == expected, "docs/{page} is out of step; NBCC_BLESS=1 writes it");
}

#[test]
fn instructions_are_those_of_the_tables() {
    let pages = [
        ("isa-ipim.md", nbcc_isa_ipim::ops::ROWS),
        ("isa-simt.md", nbcc_isa_simt::ops::ROWS),
        ("isa-sdpnm.md", nbcc_isa_sdpnm::core::ROWS),
    ];
    for (page, rows) in pages {
        check(page, "made from the table", &reference::markdown(rows));
    }
}

#[test]
fn statistics_are_those_of_the_machines() {
    let machines = [
        ("ipim", nbcc_sim_ipim::statistics::DEFINITIONS),
        ("mpu", nbcc_sim_mpu::DEFINITIONS),
        ("tom", nbcc_sim_tom::DEFINITIONS),
        ("simt", nbcc_sim_simt::DEFINITIONS),
        ("sdpnm", nbcc_sim_sdpnm::DEFINITIONS),
    ];
    for (machine, definitions) in machines {
        let table = statistics::markdown(definitions) + "\n";
        check("statistics.md", &format!("{machine}, made from the definitions"), &table);
    }
}
