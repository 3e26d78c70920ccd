//! The text form: what is printed is read back, and any text ends in a module or a diagnostic.

use nbcc_base::{Diagnostics, Failed, SourceId};
use nbcc_ir::{
    Locations, Module, PrintOptions, codes, parse_module, print_function, print_module,
    verify_module,
};
use nbcc_testing::{INTRINSICS, Rng, graph_function, structured_function};

fn parse(text: &str) -> (Result<Module, Failed>, Diagnostics) {
    let mut diagnostics = Diagnostics::default();
    let module = parse_module(SourceId(0), text, INTRINSICS, &mut diagnostics);
    (module, diagnostics)
}

#[test]
fn random_functions_verify_and_come_back_from_their_text() {
    let options = PrintOptions { locations: Locations::Bytes, ..PrintOptions::default() };
    for seed in 0..1000 {
        let mut module = Module::default();
        module.functions.push(structured_function(seed));
        module.functions.push(graph_function(seed));
        module.functions[nbcc_ir::Func::from_u32(1)].name = "graph".to_string();
        for func in module.functions.values_mut() {
            func.blocks.values_mut().step_by(3).for_each(|block| block.cold = true);
        }
        assert_eq!(verify_module(&module), [], "seed {seed}\n{module}");
        let text = print_module(&module, &options);
        let (again, diagnostics) = parse(&text);
        let Ok(again) = again else { panic!("seed {seed}: {diagnostics:?}\n{text}") };
        assert_eq!(print_module(&again, &options), text, "seed {seed}");
        assert_eq!(verify_module(&again), [], "seed {seed}");
    }
}

#[test]
fn no_line_of_a_dump_confuses_its_readers() {
    let mut module = Module::default();
    let mut func = structured_function(1);
    func.name = "a name #7".to_string();
    func.mems[nbcc_ir::Mem::from_u32(0)].name = "}\n}".to_string();
    module.functions.push(func);
    let text = print_module(&module, &PrintOptions::default());
    for line in text.lines() {
        let tail = line.trim_end_matches(|c: char| c.is_ascii_digit());
        assert!(tail == line || !tail.ends_with('#'), "{line}");
    }
    assert_eq!(text.lines().filter(|line| line.trim() == "}").count(), 1);
    assert_eq!(print_module(&parse(&text).0.unwrap(), &PrintOptions::default()), text);
}

#[test]
fn annotations_are_shown_and_skipped_when_read() {
    let func = structured_function(3);
    let place = |value: nbcc_ir::Value| {
        let name = if value.as_u32().is_multiple_of(3) { "near" } else { "pe(1, 2)" };
        value.as_u32().is_multiple_of(2).then(|| name.to_string())
    };
    let options = PrintOptions { annotations: &[&place], ..PrintOptions::default() };
    let text = print_function(&func, &options);
    assert!(text.contains("v0: i32 @near, v1: i32, v2: f32 @\"pe(1, 2)\""), "{text}");
    let again = parse(&text).0.unwrap();
    assert_eq!(again.to_string(), func.to_string());
}

#[test]
fn every_code_of_the_text_form_is_reported() {
    let body =
        |line: &str| format!("define grid @f(v0: i32) {{\nblock0:\n  {line}\n  return\n}}\n");
    let cases = [
        (&codes::SYNTAX, body("v1: i32 = iadd v0 v0")),
        (&codes::UNKNOWN_WORD, body("v1: i32 = plus v0, v0")),
        (&codes::UNDEFINED, body("v1: i32 = iadd v0, v7")),
        (&codes::REDEFINED, body("v0: i32 = iadd v0, v0")),
        (&codes::NUMBER, body("v1: i32 = const 4294967296")),
        (&codes::UNKNOWN_INTRINSIC, body("intrinsic \"no.such\"() pure")),
    ];
    assert_eq!(cases.len(), codes::ALL.len());
    for (code, text) in cases {
        let (module, diagnostics) = parse(&text);
        assert!(module.is_err());
        let found: Vec<_> = diagnostics.iter().map(|d| d.code.code).collect();
        assert_eq!(found, [code.code], "{text}");
        assert!(diagnostics.iter().all(|d| d.span.is_some()));
    }
}

#[test]
fn broken_texts_end_in_a_module_or_a_diagnostic() {
    for seed in 0..1500 {
        let mut rng = Rng::new(seed);
        let options = PrintOptions { locations: Locations::Bytes, ..PrintOptions::default() };
        let mut bytes = print_function(&structured_function(seed % 50), &options).into_bytes();
        bytes.truncate(6000);
        for _ in 0..=rng.below(4) {
            let at = rng.below(bytes.len() as u64) as usize;
            match rng.below(4) {
                0 => bytes[at] = rng.bits() as u8,
                1 => drop(bytes.drain(at..(at + rng.below(20) as usize).min(bytes.len() - 1))),
                2 => bytes.insert(at, *rng.pick(b"\"@%(){}[],:=-+!0v \n")),
                _ => {
                    let from = rng.below(bytes.len() as u64) as usize;
                    let piece = bytes[from..(from + 12).min(bytes.len())].to_vec();
                    bytes.splice(at..at, piece);
                }
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        let (module, diagnostics) = parse(&text);
        assert_eq!(module.is_err(), diagnostics.has_errors(), "seed {seed}");
        if let Ok(module) = module {
            // Well-formed references: printing and verifying work.
            let _ = (print_module(&module, &options), verify_module(&module));
        }
    }
}

#[test]
fn hostile_numbers_are_refused() {
    for text in [
        "define grid @f(v4294967295: i32) {\nblock0:\n  return\n}\n",
        "define grid @f() {\nblock4294967294:\n  return\n}\n",
        "define grid @f() {\nblock99999999999999999999:\n  return\n}\n",
        "define grid @f() {\n  mem %a: i32[99999999999] local\nblock0:\n  return\n}\n",
        "define grid @f() {\nblock0:\n  v0: i32 = call fn9()\n  return\n}\n",
        "define grid @f() {\nblock0:\n  v0: f32x999 = const 1\n  return\n}\n",
    ] {
        assert!(parse(text).0.is_err(), "{text}");
    }
}
