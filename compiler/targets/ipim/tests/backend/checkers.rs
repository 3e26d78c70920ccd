//! What checks the results of the backend finds fault with damaged ones.

use cranelift_entity::SecondaryMap;
use nbcc_base::{Diagnostics, SourceId};
use nbcc_ir::{Function, parse_module};
use nbcc_isa_ipim::Machine;
use nbcc_mach::regalloc::Policy;
use nbcc_target_ipim::backend::code::LiteralPool;
use nbcc_target_ipim::backend::regalloc::{allocate, check};
use nbcc_target_ipim::backend::select::select;
use nbcc_target_ipim::intrinsics;
use nbcc_target_ipim::kernel::Kernel;
use nbcc_target_ipim::memory;
use nbcc_target_ipim::passes::place::{place, verify};

fn functions(text: &str) -> Vec<Function> {
    let mut diagnostics = Diagnostics::default();
    let module = parse_module(SourceId(0), text, intrinsics::ALL, &mut diagnostics);
    let module = module.unwrap_or_else(|_| panic!("{diagnostics:?}\n{text}"));
    module.functions.into_iter().map(|(_, func)| func).collect()
}

/// The places of the first function, checked against the second, which has the same values.
fn places_of_another(first: &str, second: &str) -> Result<(), String> {
    let [first, second] = [first, second].map(|body| {
        let text = format!(
            "define engines @k() {{
block0:
  v0: i32 = intrinsic \"ipim.pe\"() pure
  v1: i32 = intrinsic \"ipim.vault\"() pure
  v2: i32 = const 16
  v3: i32 = imul v0, v2
  v4: i32 = iadd v1, v2
  v5: i32x4 = const 7
{body}
}}
"
        );
        functions(&text).remove(0)
    });
    let places = place(&first);
    assert_eq!(verify(&first, &places), Ok(()));
    verify(&second, &places)
}

#[test]
fn an_operand_without_a_register_in_the_file_that_is_read_is_found() {
    let store = "  intrinsic \"ipim.st_rf\"(v3, v5) imms(1) write\n";
    let found = |first: &str, second: &str| {
        places_of_another(&format!("{store}{first}"), &format!("{store}{second}"))
    };
    assert_eq!(found("  return", "  return"), Ok(()));
    // The copy from AddrRF to DataRF is missing.
    let splat =
        "  v6: i32x4 = splat v3\n  intrinsic \"ipim.st_rf\"(v2, v6) imms(1) write\n  return";
    assert_eq!(found(splat, splat), Ok(()));
    let said = found("  return", "  intrinsic \"ipim.st_rf\"(v3, v3) imms(1) write\n  return");
    assert!(
        said.as_ref().is_err_and(|s| s.contains("reads v3 in data, where it is not")),
        "{said:?}"
    );
    // The control core's own value is missing.
    let branch = "  v7: i1 = icmp ne v4, v2\n  branch v7, block1, block2\nblock1:\n  return\n\
                  block2:\n  return";
    assert_eq!(found(branch, branch), Ok(()));
    let said = found("  return", branch);
    assert!(
        said.as_ref().is_err_and(|s| s.contains("reads v4 in ctrl, where it is not")),
        "{said:?}"
    );
    // The address is missing.
    let read = "  v8: i32x4 = intrinsic \"ipim.ld_rf\"(v4) imms(1) read\n  return";
    assert_eq!(found(read, read), Ok(()));
    let said = found("  return", read);
    assert!(
        said.as_ref().is_err_and(|s| s.contains("reads v4 in addr, where it is not")),
        "{said:?}"
    );
    // So is that of an argument of a block.
    let jump = |value: &str| {
        format!(
            "  jump block1({value})\nblock1(v9: i32):\n  intrinsic \"ipim.wr_pgsm\"(v9, v5) \
             imms(1) write\n  return"
        )
    };
    assert_eq!(found(&jump("v3"), &jump("v3")), Ok(()));
    let said = found(&jump("v3"), &jump("v4"));
    assert!(
        said.as_ref().is_err_and(|s| s.contains("reads v4 in addr, where it is not")),
        "{said:?}"
    );
}

/// A parameter lies behind the slots of spilled values. It does not change either.
#[test]
fn a_parameter_that_is_rematerialised_is_right() {
    let parameter = memory::param(0);
    let values = (3..9).map(|n| format!("  v{n}: f32x4 = const {n}\n")).collect::<String>();
    // The parameter is read first and last, and cheapest to do without in between.
    let sum = |n: u32| {
        let (last, other) =
            (if n == 0 { 1 } else { n + 19 }, if n.is_multiple_of(29) { 2 } else { 3 + n % 6 });
        format!("  v{}: f32x4 = fadd v{last}, v{other}\n", n + 20)
    };
    let sums: String = (0..30).map(sum).collect();
    let text = format!(
        "define engines @k() {{
block0:
  v0: i32 = const 131072
  v1: f32x4 = intrinsic \"ipim.ld_rf\"(v0) imms(1) read
  v2: f32x4 = intrinsic \"ipim.ld_const\"() imms({parameter}) pure
{values}{sums}  intrinsic \"ipim.st_rf\"(v0, v49) imms(1) write
  return
}}
"
    );
    let mut machine = Machine::built_in("ipim-vault");
    machine.registers.data = 4;
    let kernel = Kernel {
        func: functions(&text).remove(0),
        mem_base: SecondaryMap::new(),
        mask: machine.full_mask(),
        sync: None,
        args: None,
        step: 0,
        place: None,
        scratch: vec![],
        beside: SecondaryMap::new(),
        objects: SecondaryMap::new(),
        neighbours: SecondaryMap::new(),
    };
    let places = place(&kernel.func);
    let mut code = select(&kernel, places, &mut LiteralPool::default());
    let before = code.func.clone();
    let done = allocate(&mut code, &machine, Policy::Spread, memory::slots(1)).expect("they fit");
    assert!(done.rematerialised > 0);
    let loads = code.func.text(|v| done.entries[v]).matches("[0xfff0]").count();
    assert!(loads > 1, "the parameter is loaded {loads} times");
    assert_eq!(check(&before, &code, &done, &machine, memory::slots(1)), Ok(()));
}
