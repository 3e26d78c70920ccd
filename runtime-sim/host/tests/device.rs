//! The device runtime: memory, launches by name, and what is said of wrong calls.

use nbcc_host::device::{Arg, Config, Device, DeviceError, DevicePointer, LaunchError};
use nbcc_isa_mpu::ISA;
use nbcc_isa_simt::{Kernel, Object, ObjectSpace, Param, ParamType, Program, asm};

fn param(name: &str, offset: u32, ty: ParamType) -> Param {
    let size = ty.bytes().unwrap_or(12);
    Param { name: name.into(), offset, size, align: size.min(8).next_power_of_two(), ty }
}

/// scale(f32 *x, f32 a, f16 h, struct s): x[i] = a * x[i] + the last word of s.
fn program() -> Program {
    let text = "
.isa mpu 1
.machine mpu
.section .text
    sreg.tid_x R0
    ld64.param.weak D2, [0x0], 0
    mad_wide.u D2, R0, 4, D2
    ld.param.b32.weak R4, [0x0], 8
    ld.param.b32.weak R5, [0x0], 24
    ld.global.b32.weak R6, [D2], 0
    fma.f32.rn R6, R4, R6, R5
    st.global.b32.weak [D2], 0, R6
    exit
";
    let mut program = asm::assemble(&ISA, text).unwrap();
    program.kernels.push(Kernel {
        name: "scale".into(),
        instructions: program.code.text.len() as u32,
        registers: 8,
        param_bytes: 28,
        params: vec![
            param("x", 0, ParamType::U64),
            param("a", 8, ParamType::F32),
            param("h", 12, ParamType::B16),
            Param { align: 4, ..param("s", 16, ParamType::Bytes) },
        ],
        ..Kernel::default()
    });
    program.objects.push(Object {
        name: "table".into(),
        space: ObjectSpace::Const,
        align: 4,
        size: 8,
        initial: vec![1, 2, 3],
        relocations: Vec::new(),
    });
    program
}

fn device() -> Device {
    Device::with_memory(&ISA.built_in("mpu"), 1 << 20)
}

fn args(x: DevicePointer) -> Vec<Arg> {
    let mut structure = vec![0; 8];
    structure.extend(1.0_f32.to_le_bytes());
    vec![Arg::Pointer(x), Arg::F32(2.0), Arg::F16(0x3c00), Arg::Bytes(structure)]
}

#[test]
fn memory_launch_and_results() {
    let mut device = device();
    let module = device.load_elf(&program().to_elf().unwrap()).unwrap();
    let x = device.upload(&[1.0_f32, 2.0, 3.0]).unwrap();
    let event = device.launch(&module, "scale", Config::linear(1, 3), &args(x)).unwrap();
    assert_eq!(device.download::<f32>(x, 3).unwrap(), [3.0, 5.0, 7.0]);
    assert_eq!((event.instructions, event.cycles), (9, 9));
    assert_eq!(event.statistics.count("bytes.global_read"), 12);

    device.memset(x.offset(4), 0xff, 4).unwrap();
    assert_eq!(device.download::<u32>(x.offset(4), 1).unwrap(), [u32::MAX]);
    let (table, size) = device.symbol(&module, "table").unwrap();
    assert_eq!(size, 8);
    assert_eq!(device.download::<u8>(table, 4).unwrap(), [1, 2, 3, 0]);
    device.copy_to(table, &[9]).unwrap();
    let mut bytes = [0; 2];
    device.copy_from(table, &mut bytes).unwrap();
    assert_eq!(bytes, [9, 2]);
    device.free(x).unwrap();
}

#[test]
fn wrong_calls_are_explained() {
    let mut device = device();
    let module = device.load(program()).unwrap();
    let x = device.alloc(12).unwrap();
    let one = Config::linear(1, 3);
    let mut refuse = |kernel: &str, config: Config, args: &[Arg], expected: &str| {
        let error = device.launch(&module, kernel, config, args).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}: expected {expected}");
    };
    let good = args(x);
    refuse("scael", one, &good, "there is no kernel `scael`, there is `scale`");
    refuse(
        "scale",
        one,
        &good[..3],
        "takes 4 arguments (u64, f32, b16, a structure of 12 bytes), but 3",
    );
    let swapped = [good[1].clone(), good[0].clone(), good[2].clone(), good[3].clone()];
    refuse("scale", one, &swapped, "argument 0 of kernel `scale` is f32, but parameter `x` is u64");
    let mut short = good.clone();
    short[3] = Arg::Bytes(vec![0; 11]);
    refuse("scale", one, &short, "is 11 bytes, but parameter `s` is a structure of 12 bytes");
    refuse("scale", Config::linear(1, 2048), &good, "more than the 1024 of a core");
    refuse(
        "scale",
        Config { dynamic_shared: 70_000, ..one },
        &good,
        "70000 bytes of shared memory",
    );
    refuse("scale", Config::linear(1, 4), &good, "out of bounds load of 4 bytes");

    let message = |error: DeviceError| error.to_string();
    let copy = message(device.copy_to(x.offset(4), &[0; 16]).unwrap_err());
    assert!(copy.contains("16 bytes") && copy.contains("12 bytes, 8 from there"), "{copy}");
    assert!(message(device.download::<f64>(x, 2).unwrap_err()).contains("copy from"));
    assert!(message(device.memset(DevicePointer(0), 0, 1).unwrap_err()).contains("no buffer"));
    assert!(message(device.free(x.offset(4)).unwrap_err()).contains("not the address"));
    assert!(message(device.alloc(1 << 30).unwrap_err()).contains("only"));
    assert!(message(device.symbol(&module, "tabel").unwrap_err()).contains("`tabel`"));
    let elf = program().to_elf().unwrap();
    assert!(device.load_elf(&elf[..elf.len() / 2]).is_err());
}

#[test]
fn bounds_of_launches_are_kept() {
    let mut device = device();
    let mut program = program();
    program.kernels[0].required_block = Some([32, 1, 1]);
    let module = device.load(program.clone()).unwrap();
    let x = device.alloc(4096).unwrap();
    let error = device.launch(&module, "scale", Config::linear(1, 64), &args(x)).unwrap_err();
    assert!(matches!(error, DeviceError::Launch { error: LaunchError::Block { .. }, .. }));
    program.kernels[0].required_block = None;
    program.kernels[0].max_block = Some([16, 2, 1]);
    let module = device.load(program).unwrap();
    device.launch(&module, "scale", Config::linear(1, 32), &args(x)).unwrap();
    assert!(device.launch(&module, "scale", Config::linear(1, 33), &args(x)).is_err());
}

/// What a kernel prints is bytes, whatever their meaning, and is kept where it ends in a fault.
#[test]
fn output_is_bytes() {
    let print = "
.isa mpu 1
.machine mpu
.section .text
    mov R0, 0x0000ff41
    st.shared.b32.weak [0x0], 0, R0
    movi64 D2, x7f00000000000000
    vprintf R4, D2, D2
";
    for (end, faults) in [("exit", false), ("brkpt", true)] {
        let mut program = asm::assemble(&ISA, &format!("{print}    {end}\n")).unwrap();
        program.kernels.push(Kernel {
            name: "shout".into(),
            instructions: program.code.text.len() as u32,
            registers: 8,
            shared_bytes: 16,
            ..Kernel::default()
        });
        let mut device = device();
        let module = device.load(program).unwrap();
        let output = match device.launch(&module, "shout", Config::linear(1, 2), &[]) {
            Ok(event) if !faults => event.output,
            Err(DeviceError::Launch { error: LaunchError::Fault(_), output }) if faults => output,
            other => panic!("{other:?}"),
        };
        assert_eq!(output, b"A\xffA\xff");
    }
}

/// Every block that ends is told, with the cycles so far.
#[test]
fn launches_say_how_far_they_have_come() {
    let mut device = device();
    let module = device.load(program()).unwrap();
    let x = device.alloc(4096).unwrap();
    let mut told = Vec::new();
    let mut progress = |now: nbcc_host::Progress| told.push((now.blocks, now.cycles));
    let config = Config::linear(3, 32);
    device.launch_watched(&module, "scale", config, &args(x), &mut progress).unwrap();
    assert_eq!(told.last().map(|(blocks, _)| *blocks), Some(Some((3, 3))));
    assert!(told.is_sorted() && told.len() >= 3 && told[0].1 > 0, "{told:?}");
}
