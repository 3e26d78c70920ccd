//! What checks the results of the backend finds fault with damaged ones.

use nbcc_base::{Diagnostics, SourceId};
use nbcc_ir::{Function, parse_module};
use nbcc_target_ipim::backend::place::{place, verify};
use nbcc_target_ipim::intrinsics;

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
