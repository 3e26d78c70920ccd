//! Functions that hosts call: their text form, and what breaks their contract.

use nbcc_base::{Diagnostics, SourceId};
use nbcc_ir::{Counter, Module, Value, parse_module, verify_module};

const TEXT: &str = "\
object @table: const size 8 align 4 data \"0100000002000000\"

define sequential @f(v0: i32, v1: i64) -> i32 {
  mem %a: i16[4, param 0] global param
  mem %t: i32[2] const = @table
  mem %own: i32[2] local
  interface s32
  scalar %n: s32
  array %a: u16 const
  scalar %m: u64
block0:
  v2: i32 = const 0
  jump block1(v2)
block1(v3: i32): loop i, 64 trips, v3 by 2
  v4: i32 = const 2
  v5: i32 = iadd v3, v4
  v6: i1 = icmp slt v5, v0
  branch v6, block1(v5), block2
block2:
  return v3
}
";

fn read(text: &str) -> Module {
    let mut diagnostics = Diagnostics::default();
    let module = parse_module(SourceId(0), text, &[], &mut diagnostics);
    module.unwrap_or_else(|_| panic!("{diagnostics:?}\n{text}"))
}

#[test]
fn interfaces_come_back_from_their_text() {
    let module = read(TEXT);
    assert_eq!(verify_module(&module), []);
    let text = module.to_string();
    assert_eq!(read(&text).to_string(), text);
    for line in ["mem %a: i16[4, param 0] global param", "mem %t: i32[2] const = @table"] {
        assert!(text.contains(line), "{text}");
    }
    for line in ["  interface s32\n", "  array %a: u16 const\n", "  scalar %m: u64\n"] {
        assert!(text.contains(line), "{text}");
    }
    assert!(text.contains("block1(v3: i32): loop i, 64 trips, v3 by 2\n"), "{text}");
}

#[test]
fn what_breaks_the_contract_is_found() {
    for (old, new, message) in [
        ("u64", "u32", "has another type than the parameter of the entry block"),
        ("  scalar %m: u64\n", "", "has fewer scalars than the entry block has parameters"),
        ("interface s32", "interface s64", "has another result than the function"),
        ("%a: u16", "%a: s32", "is no memory object of that name and type that is given"),
        ("  array %a: u16 const\n", "", "is given by nobody"),
        ("scalar %m", "scalar %n", "is the name of another parameter, too"),
        ("param 0]", "param 7]", "has the extent param 7, no integer"),
        ("i32[2] const", "i32[3] const", "does not fit into"),
        ("i32[2] const =", "i32[2] global =", "does not fit into"),
        ("v3 by 2", "v0 by 2", "is counted by what is no integer parameter of it"),
        ("define sequential", "define engines", "belongs to a sequential function"),
    ] {
        let text = TEXT.replacen(old, new, 1);
        assert_ne!(text, TEXT, "{old}");
        let errors = verify_module(&read(&text));
        let found = errors.iter().any(|error| error.message.contains(message));
        assert!(found, "{new}: {errors:?}");
    }
}

#[test]
fn a_counter_goes_with_its_parameter() {
    let mut module = read(TEXT);
    let func = &mut module.functions[nbcc_ir::Func::from_u32(0)];
    let header = func.layout[1];
    let counter = func.blocks[header].loop_info.as_ref().and_then(|info| info.counter);
    assert_eq!(counter, Some(Counter { value: Value::from_u32(3), step: 2 }));
    func.remove_params(|param| param == Value::from_u32(3));
    assert_eq!(func.blocks[header].loop_info.as_ref().and_then(|info| info.counter), None);
}
