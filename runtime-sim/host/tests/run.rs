//! Whole programs through the host: inputs to banks, a run, outputs back.

use std::collections::BTreeMap;

use nbcc_host::{FaultKind, HostError, Image, RunOptions};
use nbcc_isa_ipim::asm::assemble;
use nbcc_isa_ipim::layout::Role;
use nbcc_isa_ipim::{Buffer, Element, Grid, Layout, Param, Program, Tiled};

fn tiled(name: &str, role: Role, extent: [u32; 2], base: u32) -> Buffer {
    let grid =
        Grid { cubes: [1, 1], vaults: [2, 2], groups: [1, 2], engines: 4, strips: 1, rows: 2 };
    let tile = [4, 2];
    Buffer {
        name: name.into(),
        role,
        element: Element::F32,
        min: vec![0, 0],
        extent: extent.to_vec(),
        part_of: vec![],
        order: vec![],
        backwards: vec![],
        layout: Layout::Tiled(Tiled {
            grid,
            tile,
            origin: [0, 0],
            ghost_columns: [0, 0],
            ghost_rows: [0, 0],
            beside: 0,
        }),
        base,
    }
}

/// out = gain * in + 1, four rows of four pixels an engine, on four vaults of a cube.
fn brighten() -> Program {
    let mut text = String::from(".isa simb 1\n.machine ipim-cube\n.section .text\n");
    text += "ld_rf [0x2000], D0, simb=0xff\n";
    text += "ld_rf [0x2010], D1, simb=0xff\n";
    for row in 0..4 {
        text += &format!("ld_rf [{:#x}], D2, simb=0xff\n", 16 * row);
        text += "comp.mul.f32.sv D3, D0, D2, vec=0xf, simb=0xff\n";
        text += "comp.add.f32.vv D3, D3, D1, vec=0xf, simb=0xff\n";
        text += &format!("st_rf [{:#x}], D3, simb=0xff\n", 0x1000 + 16 * row);
    }
    let mut program = assemble(&text).unwrap_or_else(|errors| panic!("{errors:?}"));
    program.buffers.push(tiled("in", Role::Input, [30, 15], 0));
    program.buffers.push(tiled("out", Role::Output, [30, 15], 0x1000));
    program.params.push(Param {
        name: "gain".into(),
        element: Element::F32,
        address: 0x2000,
        default: None,
    });
    program.rodata.address = 0x2010;
    program.rodata.bytes = [1.0_f32; 4].iter().flat_map(|one| one.to_le_bytes()).collect();
    program
}

fn picture() -> Image {
    let words = (0..30 * 15).map(|i| (i as f32 * 0.5).to_bits()).collect();
    Image { element: Element::F32, extent: vec![30, 15], words }
}

fn named(name: &str, image: Image) -> BTreeMap<String, Image> {
    BTreeMap::from([(name.to_owned(), image)])
}

fn gain() -> BTreeMap<String, Image> {
    named("gain", Image::scalar(Element::F32, 3.0_f32.to_bits()))
}

#[test]
fn a_picture_is_brightened_with_and_without_timing() {
    let program = brighten();
    for timing in [false, true] {
        let mut options = RunOptions { timing, ..RunOptions::default() };
        let result = nbcc_host::run(&program, &named("in", picture()), &gain(), &mut options);
        let out = &result.unwrap().outputs["out"];
        assert_eq!(out.extent, [30, 15]);
        for (word, index) in out.words.iter().zip(0..) {
            assert_eq!(f32::from_bits(*word), index as f32 * 1.5 + 1.0, "element {index}");
        }
    }
}

#[test]
fn the_program_survives_its_file() {
    let program = brighten();
    let file = program.to_elf().unwrap();
    assert_eq!(Program::from_elf(&file).unwrap(), program);
}

/// Of an image of 36 x 18 the program has the 30 x 15 from (5, 2).
#[test]
fn an_input_may_be_a_part_of_an_image() {
    let mut program = brighten();
    let input = &mut program.buffers[0];
    input.part_of = vec![36, 18];
    input.min = vec![5, 2];
    let Layout::Tiled(tiled) = &mut input.layout else { unreachable!() };
    tiled.origin = [5, 2];
    let words: Vec<u32> = (0..36 * 18).map(|i| (i as f32).to_bits()).collect();
    let whole = Image { element: Element::F32, extent: vec![36, 18], words };
    let run =
        |image| nbcc_host::run(&program, &named("in", image), &gain(), &mut RunOptions::default());
    let result = run(whole).expect("it runs");
    for (i, word) in result.outputs["out"].words.iter().enumerate() {
        let (x, y) = (i % 30 + 5, i / 30 + 2);
        assert_eq!(f32::from_bits(*word), 3.0 * (36 * y + x) as f32 + 1.0);
    }
    let expected = "`in` is 30x15, but the program was compiled for 36x18";
    assert_eq!(run(picture()).expect_err("another image").to_string(), expected);
}

/// The program finds the picture from its last element on, along one dimension or both.
#[test]
fn an_input_may_lie_backwards() {
    for dims in [vec![0], vec![1], vec![0, 1]] {
        let mut program = brighten();
        program.buffers[0].backwards = dims.clone();
        let mut options = RunOptions::default();
        let result = nbcc_host::run(&program, &named("in", picture()), &gain(), &mut options);
        let result = result.expect("it runs");
        for (i, word) in result.outputs["out"].words.iter().enumerate() {
            let (mut x, mut y) = (i % 30, i / 30);
            if dims.contains(&0) {
                x = 29 - x;
            }
            if dims.contains(&1) {
                y = 14 - y;
            }
            assert_eq!(f32::from_bits(*word), (30 * y + x) as f32 * 1.5 + 1.0, "{dims:?}, {i}");
        }
    }
    for (buffer, dims) in [(0, vec![1, 0]), (0, vec![0, 0]), (0, vec![2]), (1, vec![0])] {
        let mut program = brighten();
        program.buffers[buffer].backwards = dims.clone();
        let mut options = RunOptions::default();
        let error = nbcc_host::run(&program, &named("in", picture()), &gain(), &mut options);
        let error = error.expect_err("a list that is none").to_string();
        assert!(error.contains("dimensions lie backwards"), "{dims:?}: {error}");
    }
}

#[test]
fn names_extents_and_types_are_checked() {
    let program = brighten();
    let error = |inputs: &BTreeMap<String, Image>, params: &BTreeMap<String, Image>| {
        let error = nbcc_host::run(&program, inputs, params, &mut RunOptions::default());
        error.unwrap_err().to_string()
    };
    let given = named("in", picture());
    assert_eq!(error(&BTreeMap::new(), &gain()), "the input `in` is not given");
    assert_eq!(error(&given, &BTreeMap::new()), "the parameter `gain` is not given");
    let mut both = given.clone();
    both.insert("im".into(), picture());
    assert_eq!(error(&both, &gain()), "the program has no input `im`, it has `in`");
    let narrow = named("in", Image::zeroed(Element::F32, &[15, 30]));
    assert_eq!(error(&narrow, &gain()), "`in` is 15x30, but the program was compiled for 30x15");
    let bytes = named("in", Image::zeroed(Element::U8, &[30, 15]));
    assert_eq!(error(&bytes, &gain()), "`in` holds u8, but the program was compiled for f32");
    let mut short = picture();
    short.words.pop();
    assert_eq!(
        error(&named("in", short), &gain()),
        "`in` has 449 words, not the 450 of its extents"
    );
}

#[test]
fn faults_name_vault_and_place() {
    let text = ".isa simb 1\n.machine ipim-vault\n.section .text\n.file 1 \"a.halide\"\n\
                reset D1, simb=0x1\n.loc 1 7 3\nld_rf [8], D0, simb=0x1\n";
    let program = assemble(text).unwrap_or_else(|errors| panic!("{errors:?}"));
    for timing in [false, true] {
        let mut options = RunOptions { timing, ..RunOptions::default() };
        let none = BTreeMap::new();
        let error = nbcc_host::run(&program, &none, &none, &mut options).unwrap_err();
        let HostError::Fault { fault, line } = &error else { panic!("{error}") };
        assert_eq!((fault.vault, fault.pc, fault.cycle.is_some()), (0, 16, timing));
        assert!(matches!(fault.kind, FaultKind::Misaligned { address: 8, .. }));
        let line = line.as_ref().unwrap();
        assert_eq!((line.0.as_str(), line.1.line), ("a.halide", 7));
    }
}

#[test]
fn profile_trace_statistics_and_progress_come_along() {
    let text = ".isa simb 1\n.machine ipim-vault\n.section .text\n.file 1 \"a.halide\"\n\
                .type k0, @function\n.size k0, 48\nk0:\n.loc 1 3 1\nld_rf [0], D0, simb=0x1\n.loc 1 2 1\nreset D1, simb=0x1\n\
                .loc 1 3 1\ncomp.add.f32.vv D0, D0, D1, vec=0xf, simb=0x1\n.loc 1 0 0\nreset D0, simb=0x1";
    let program = assemble(text).unwrap_or_else(|errors| panic!("{errors:?}"));
    let none = BTreeMap::new();
    let mut calls = 0;
    let mut progress = |_: nbcc_host::Progress| calls += 1;
    let mut options = RunOptions {
        trace_events: Some(1000),
        progress: Some(&mut progress),
        ..RunOptions::default()
    };
    let result = nbcc_host::run(&program, &none, &none, &mut options).unwrap();
    let lines: Vec<(Option<(&str, u32)>, u64)> = result
        .profile
        .lines
        .iter()
        .map(|line| {
            let place = line.place.as_ref().map(|(file, number)| (file.as_str(), *number));
            (place, line.cost.issued + line.cost.stalled)
        })
        .collect();
    // The load takes 0 to 34, the addition issues at 34 and takes until 40, the last
    // reset waits from 35 to 40 and takes until 42.
    let at = |number| Some(("a.halide", number));
    assert_eq!(lines, [(None, 5 + 1 + 1), (at(2), 1), (at(3), 1 + 32 + 1)]);
    let functions = result.profile.functions.iter();
    let functions = functions.map(|f| (f.name.as_deref(), f.cost.issued + f.cost.stalled));
    assert_eq!(functions.collect::<Vec<_>>(), [(None, 5 + 1 + 1), (Some("k0"), 1 + 1 + 32 + 1)]);
    assert_eq!(result.cycles, 42);
    assert_eq!(result.instructions, 4);
    assert_eq!(result.statistics.unwrap().count("cycles"), 42);

    let trace = result.trace.unwrap();
    let mut json = Vec::new();
    trace.write(&mut json, 1.0).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let events = json["traceEvents"].as_array().unwrap();
    let named = |name: &str| events.iter().filter(|event| event["name"] == name).count();
    assert_eq!([named("ACT"), named("RD"), named("comp"), named("true_dependence")], [1, 1, 2, 1]);
    assert!(calls > 0);
}
