//! The core's way to the arrays: pages, windows, homes.

use nbcc_isa::{ArrayParam, Extent, ScalarType, Signature, SignatureParam};
use nbcc_isa_sdpnm::core::arrays::{BUSY, ITERATIONS, PLACES, PRESENT, START};
use nbcc_isa_sdpnm::core::memory::DATA;
use nbcc_isa_sdpnm::core::{Area, CoreProgram, Home, Homed, I12, Inst};
use nbcc_sim_sdpnm::{Core, Fault};

use crate::support::*;

#[test]
fn pages_and_windows_hold_what_is_written() {
    let said = |address: u32, packages| {
        let text = [store(address, 0xdead_beef), load(address), give_back()].concat();
        let program = program(packages, text);
        run(&program).map(|(result, _)| result)
    };
    let any = || vec![package(0, 1, Vec::new(), Vec::new())];
    for address in [control(0, 0), control(4, 60), control(2, ITERATIONS)] {
        assert_eq!(said(address, Vec::new()), Ok(0xdead_beef), "{address:#x}");
    }
    for address in [window(0, 0), window(4, 65532), window(1, 2)] {
        assert_eq!(said(address, any()), Ok(0xdead_beef), "{address:#x}");
        // Programs without packages have no shared memories.
        assert_eq!(said(address, Vec::new()), Err(Fault::Access { at: 4, address, bytes: 4 }));
    }
    let address = window(4, 65534);
    assert_eq!(said(address, any()), Err(Fault::Access { at: 4, address, bytes: 4 }));
}

#[test]
fn what_is_no_place_is_a_fault() {
    let at_store = |address: u32| run(&program(vec![], store(address, 1))).err();
    let at_load = |address: u32| run(&program(vec![], load(address))).err();
    for address in [control(0, 64), control(0, 2), control(5, 0), control(0, 0xffc), 0, 0x0fff_fffc]
    {
        let fault = |at| Some(Fault::Access { at, address, bytes: 4 });
        assert_eq!((at_store(address), at_load(address)), (fault(4), fault(2)), "{address:#x}");
    }
    for address in [control(1, BUSY), control(1, PRESENT), control(1, PLACES)] {
        assert!(matches!(at_store(address), Some(Fault::Access { .. })));
    }
    assert!(matches!(at_load(control(1, START)), Some(Fault::Access { .. })));
    let byte =
        [set(5, control(0, 0)).to_vec(), vec![Inst::Sb { src: x(0), offset: I12(0), base: x(5) }]];
    assert!(matches!(run(&program(vec![], byte.concat())), Err(Fault::Access { bytes: 1, .. })));
}

fn param(name: &str, elements: u32, is_const: bool) -> SignatureParam {
    let array = ArrayParam { extents: vec![Extent::Fixed(elements)], is_const };
    SignatureParam {
        name: name.into(),
        ty: ScalarType::U8,
        array: Some(array),
        members: vec![],
        value: None,
    }
}

/// Three parameters: one with a home, one const with two, one whose home it does not fit.
fn with_homes() -> CoreProgram {
    let params = vec![param("a", 20, false), param("b", 12, true), param("c", 65000, false)];
    let home = |array, number| Home { array, what: Homed::Parameter(number) };
    let object = Homed::Object { from: Area { address: DATA + 8, bytes: 6 }, at: 800 };
    let mut program = program(vec![], load(control(1, PRESENT)));
    program.code.text.extend(give_back());
    program.signature = Some(Signature { name: "f".into(), params, result: None });
    program.homes =
        vec![home(1, 0), home(1, 1), home(2, 1), home(1, 2), Home { array: 1, what: object }];
    program.frame.frame.bytes = 4096;
    program.data.push(nbcc_isa::container::Data {
        name: ".data".into(),
        address: u64::from(DATA) + 8,
        bytes: b"object".to_vec(),
    });
    program.frame.frame.address = DATA + 64;
    program
}

#[test]
fn homes_are_filled_and_found() {
    let program = with_homes();
    let file = program.to_elf().unwrap();
    assert_eq!(CoreProgram::from_elf(&file).unwrap(), program);
    let mut core = Core::new(&program).unwrap();
    let [a, b, c] = [vec![1_u8; 20], vec![2; 12], vec![3; 65000]];
    // Behind the object, which ends at 806.
    assert_eq!(core.place(0, &a).unwrap(), window(1, 832));
    let in_memory = core.place(1, &b).unwrap();
    let large = core.place(2, &c).unwrap();
    assert!(in_memory > DATA && large > in_memory);
    assert_eq!(core.read(window(1, 800), 6).unwrap(), b"object");
    assert_eq!(core.read(window(1, 832), 20).unwrap(), a);
    assert_eq!(core.read(window(1, 896), 12).unwrap(), b);
    assert_eq!(core.read(window(2, 0), 12).unwrap(), b);
    assert_eq!(core.read(in_memory, 12).unwrap(), b);
    assert_eq!(core.read(large, 65000).unwrap(), c);
    // 6, 20, 12 and 12 bytes, 16 a cycle.
    assert_eq!((core.arrays.traffic.staged, core.arrays.traffic.staging_cycles), (50, 5));
    core.fetch(window(1, 832), 20);
    core.fetch(large, 65000);
    assert_eq!((core.arrays.traffic.staged, core.arrays.traffic.staging_cycles), (70, 7));
}

/// What a program reads of its homes.
#[test]
fn pages_say_which_homes_fitted_and_where() {
    for (address, want) in [
        (control(1, PRESENT), 0b10011),
        (control(2, PRESENT), 0b100),
        (control(3, PRESENT), 0),
        (control(1, PRESENT + 28), 0),
        (control(1, PLACES), 832),
        (control(1, PLACES + 4), 896),
        (control(2, PLACES + 4), 0),
        (control(1, PLACES + 16), 800),
    ] {
        let mut program = with_homes();
        program.code.text = load(address);
        program.code.text.extend(set(5, DATA + 64));
        program.code.text.push(Inst::Sw { src: x(7), offset: I12(0), base: x(5) });
        let mut core = Core::new(&program).unwrap();
        for (number, bytes) in [20, 12, 65000].into_iter().enumerate() {
            core.place(number as u32, &vec![0; bytes]).unwrap();
        }
        let progress = &mut |_| {};
        let options =
            &mut nbcc_sim_sdpnm::Options { max_cycles: 1000, trace_events: None, progress };
        assert_eq!(core.run(options), Ok(want), "{address:#x}");
    }
}
