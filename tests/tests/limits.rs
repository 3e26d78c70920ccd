//! Programs far beyond what a machine holds are refused before time and memory go into them.

use nbcc_tests::{command, root};

const NBCC: &str = env!("CARGO_BIN_EXE_nbcc-under-test");

#[test]
fn programs_far_beyond_the_instruction_memory() {
    let repeated = |n: usize, line: &dyn Fn(usize) -> String| (0..n).map(line).collect::<String>();
    let read = |k| format!(" + in(x + {k}, y)");
    let cases = [
        // Operations.
        format!("Func out(x, y) = in(x, y){};\n", repeated(40_000, &read)),
        // Kernels.
        format!(
            "Func out(x, y) = in(x, y);\n{}",
            repeated(20_000, &|k| { format!("out({}, y) += {k}.0f;\n", k % 8) })
        ),
        // Instructions of one kernel.
        format!("Func out(x, y) = in(x, y){};\n", " * x + y".repeat(30_000)),
        // Parameters.
        repeated(2000, &|k| format!("Param<float> p{k} = 1.0f;\n"))
            + "Func out(x, y) = in(x, y) * p7;\n",
    ];
    let folder = tempfile::tempdir().expect("a folder");
    for source in cases {
        std::fs::write(folder.path().join("large.halide"), &source).expect("a file");
        let line = "nbcc large.halide --machine ipim-vault --size 8x8 -o large.nbx";
        let outcome = command::run(command::command(NBCC, line, folder.path())).expect("nbcc runs");
        let start: String = source.chars().take(60).collect();
        assert_eq!(outcome.code, Some(1), "{start}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("[E1001] error: the p"), "{start}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("large.halide:"), "{start}: {}", outcome.stderr);
        assert!(!folder.path().join("large.nbx").exists(), "{start}");
    }
}

/// Local memory is the running threads', however many blocks there are, and costs nothing where it
/// is not written.
#[test]
fn much_local_memory_in_many_blocks() {
    let kernel = ".version 7.0\n.target sm_70\n.address_size 64\n\
        .visible .entry k(.param .u64 out)\n{\n\
        .local .align 16 .b8 g[524288];\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n\
        ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n\
        mad.lo.u32 %r3, %r1, 16000, 4;\ncvt.u64.u32 %rd2, %r3;\nmov.u64 %rd3, g;\n\
        add.s64 %rd4, %rd3, %rd2;\nst.local.u32 [%rd4], %r2;\nld.local.u32 %r4, [%rd4];\n\
        ld.local.u32 %r5, [g+524284];\nadd.u32 %r6, %r4, %r5;\n\
        mad.lo.u32 %r7, %r2, 32, %r1;\nmul.wide.u32 %rd5, %r7, 4;\nadd.s64 %rd6, %rd1, %rd5;\n\
        st.global.u32 [%rd6], %r6;\nret;\n}\n";
    let launch = "grid = 4096\nblock = 32\narg = [{ buffer = \"out\", bytes = 524288 }]\n\
                  [[read]]\nbuffer = \"out\"\nfile = \"out.bin\"\n";
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("k.ptx"), kernel).expect("a file");
    std::fs::write(folder.path().join("k.toml"), launch).expect("a file");
    let line = "nbcc run k.ptx --check";
    let outcome = command::run(command::command(NBCC, line, folder.path())).expect("nbcc runs");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let out = std::fs::read(folder.path().join("out.bin")).expect("what was read");
    let words: Vec<u8> = (0..4096_u32 * 32).flat_map(|at| (at / 32).to_le_bytes()).collect();
    assert!(out == words);
}

/// A command that has so many MiB of address space.
#[cfg(target_os = "linux")]
fn limited(folder: &std::path::Path, mebibytes: u64, line: &str) -> std::process::Command {
    let nbcc = command::command(NBCC, line, folder);
    let mut shell = std::process::Command::new("sh");
    shell
        .current_dir(folder)
        .args(["-c", &format!("ulimit -v {}; exec \"$0\" \"$@\"", mebibytes << 10)])
        .arg(NBCC)
        .args(nbcc.get_args())
        .stdin(std::process::Stdio::null());
    shell
}

/// Runs `line` in `folder` with so many MiB of address space.
#[cfg(target_os = "linux")]
fn short_of_memory(folder: &std::path::Path, mebibytes: u64, line: &str) -> command::Outcome {
    command::run(limited(folder, mebibytes, line)).expect("nbcc runs")
}

#[cfg(target_os = "linux")]
#[test]
fn memory_that_is_short_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("a file");
    };
    write("out.halide", "Func out(x, y) = in(x, y) + 0.5f;\n");
    write(
        "sum.halide",
        "Func f(x, y) = x * y;\nf.compute_root();\nFunc out(x, y) = f(x, y) + 1;\n",
    );
    let header = "{'descr': '<f4', 'fortran_order': True, 'shape': (8192, 16384)}";
    let mut array = b"\x93NUMPY\x01\x00".to_vec();
    array.extend((header.len() as u16).to_le_bytes());
    array.extend(header.as_bytes());
    std::fs::write(folder.path().join("in.npy"), array).expect("a file");
    write("in.pgm", "P5 16384 8192 255\n");
    let ptx = ".version 7.0\n.target sm_70\n.address_size 64\n";
    write("k.ptx", &format!("{ptx}.visible .entry k(.param .u64 p) {{ ret; }}\n"));
    write(
        "v.ptx",
        &format!("{ptx}.global .b8 v[2147483648];\n.visible .entry k(.param .u64 p) {{ ret; }}\n"),
    );
    // Of the second, what is given has room, and what the interpreter makes of it has none.
    write("large.c", "int f(int a[200000000]) { return a[3]; }\n");
    write("wide.c", "int f(int a[50000000]) { return a[3]; }\n");
    write("k.toml", "grid = 1\nblock = 1\narg = [{ buffer = \"x\", bytes = 1073741824 }]\n");
    for line in [
        "nbcc interp out.halide --size 16384x8192",
        "nbcc interp sum.halide --size 16384x8192",
        "nbcc interp out.halide --input in=in.npy",
        "nbcc interp out.halide --input in=in.pgm",
        "nbcc interp out.halide --input in=in.bin:16384x8192",
        "nbcc run k.ptx --launch k.toml",
        "nbcc interp k.ptx --launch k.toml",
        "nbcc run v.ptx --launch k.toml",
        "nbcc interp v.ptx --launch k.toml",
        "nbcc interp large.c",
        "nbcc run large.c",
        "nbcc interp wide.c",
    ] {
        let outcome = short_of_memory(folder.path(), 900, line);
        assert_eq!(outcome.code, Some(1), "{line}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("memory"), "{line}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("] error: "), "{line}: {}", outcome.stderr);
    }
}

/// Whatever allocation it is that fails, from the first stack to the last buffer.
#[cfg(target_os = "linux")]
#[test]
fn low_limits_end_with_a_code() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["ipim/blur.halide", "mpu/saxpy.ptx", "mpu/saxpy.toml", "mpu/saxpy.x.npy"] {
        let from = root().join("examples").join(name);
        std::fs::copy(&from, folder.path().join(from.file_name().expect("a name")))
            .expect("a copy");
    }
    let at = |mebibytes, line: &str| short_of_memory(folder.path(), mebibytes, line);
    for line in ["nbcc blur.halide -o blur.nbx --size 64x64", "nbcc saxpy.ptx -o saxpy.nbx"] {
        let outcome = at(4096, line);
        assert_eq!(outcome.code, Some(0), "{line}: {}", outcome.stderr);
    }
    let lines = [
        "nbcc run blur.halide --size 64x64",
        "nbcc interp blur.halide --size 64x64",
        "nbcc blur.halide -o out.nbx --size 64x64",
        "nbcc objdump blur.nbx",
        "nbcc run saxpy.ptx",
        "nbcc interp saxpy.ptx",
        "nbcc saxpy.ptx -o out.nbx",
        "nbcc objdump saxpy.nbx",
    ];
    let mut refused = 0;
    for line in lines {
        // 256 MiB are the stack alone.
        for mebibytes in [64, 200, 264, 272, 280, 300, 350] {
            let outcome = at(mebibytes, line);
            let said = format!("{line}, {mebibytes} MiB: {}", outcome.stderr);
            match outcome.code {
                Some(0) => assert!(mebibytes > 256, "{said}"),
                Some(1) => {
                    refused += 1;
                    assert!(outcome.stderr.contains("[E4212] error: "), "{said}");
                    assert!(!outcome.stderr.contains("internal error"), "{said}");
                }
                code => panic!("{code:?}: {said}"),
            }
        }
    }
    assert!(refused >= 3 * lines.len(), "{refused} were refused");
}

/// The process that waits ends as the other does.
#[cfg(target_os = "linux")]
#[test]
fn under_a_limit_commands_end_as_without() {
    let folder = tempfile::tempdir().expect("a folder");
    for (line, code) in [
        ("nbcc --version", 0),
        ("nbcc run missing.halide", 1),
        ("nbcc run --no-such-option", 2),
        ("nbcc frobnicate", 2),
    ] {
        let limited = short_of_memory(folder.path(), 4096, line);
        let free = command::run(command::command(NBCC, line, folder.path())).expect("nbcc runs");
        assert_eq!(limited.code, Some(code), "{line}: {}", limited.stderr);
        assert_eq!((limited.code, limited.stdout), (free.code, free.stdout), "{line}");
        assert_eq!(limited.stderr, free.stderr, "{line}");
    }
    let limited = short_of_memory(folder.path(), 64, "nbcc --version --message-format=short");
    assert!(limited.stderr.starts_with("nbcc: error: there is no memory"), "{}", limited.stderr);
}

/// Who ends the command ends the process that does its work.
#[cfg(target_os = "linux")]
#[test]
fn under_a_limit_nothing_is_left_of_a_killed_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = "RDom r(0, 1000000);\nFunc out(x, y) = 0;\nout(x, y) += r;\n";
    std::fs::write(folder.path().join("long.halide"), source).expect("a file");
    let mut command = limited(folder.path(), 4096, "nbcc interp long.halide --size 1024x1024");
    let silent = std::process::Stdio::null;
    let mut waiting = command.stdout(silent()).stderr(silent()).spawn().expect("nbcc starts");
    let children = format!("/proc/{0}/task/{0}/children", waiting.id());
    let soon = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let until = |done: &dyn Fn() -> bool| {
        while !done() {
            assert!(std::time::Instant::now() < soon, "it takes too long");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    };
    let child = || std::fs::read_to_string(&children).unwrap_or_default().trim().to_string();
    let at_work = |child: &str| {
        let name = std::fs::read_to_string(format!("/proc/{child}/cmdline")).unwrap_or_default();
        name.starts_with("nbcc-within-limits")
    };
    until(&|| at_work(&child()));
    let child = child();
    // It says who is to end it as the first thing that it does; then it has a second thread.
    until(&|| std::fs::read_dir(format!("/proc/{child}/task")).is_ok_and(|all| all.count() > 1));
    waiting.kill().expect("it runs");
    waiting.wait().expect("it ends");
    until(&|| !at_work(&child));
}

/// A buffer of zeros takes address space once, and memory where it is touched.
#[cfg(target_os = "linux")]
#[test]
fn large_buffers_are_there_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let ptx = ".version 7.0\n.target sm_70\n.address_size 64\n\
               .visible .entry k(.param .u64 p) { ret; }\n";
    std::fs::write(folder.path().join("k.ptx"), ptx).expect("a file");
    let launch = "grid = 1\nblock = 1\narg = [{ buffer = \"x\", bytes = 4294967296 }]\n";
    std::fs::write(folder.path().join("k.toml"), launch).expect("a file");
    let outcome = short_of_memory(folder.path(), 6144, "nbcc run k.ptx --fast");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let launch = launch.replace("4294967296", "4294967297");
    std::fs::write(folder.path().join("k.toml"), launch).expect("a file");
    let outcome = short_of_memory(folder.path(), 6144, "nbcc run k.ptx --fast");
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
}

/// Loops of which only those around say how often they run stand one behind the other as long as that is
/// little: six of them are 16^6 iterations.
#[test]
fn stages_of_stages_of_stages() {
    let source = "void f(int x[4096])\n{\n\
        for (int a = 0; a < 16; a++)\nfor (int b = 0; b < (a | 15) + 1; b++)\n\
        for (int c = 0; c < (b | 15) + 1; c++)\nfor (int d = 0; d < (c | 15) + 1; d++)\n\
        for (int e = 0; e < d + 1; e++)\nfor (int k = 0; k < e + 3; k++)\n\
        x[k + d] += x[e + a] * c;\n}\n";
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("f.c"), source).expect("a file");
    let line = "nbcc f.c -o f.nbx";
    let outcome = command::run(command::command(NBCC, line, folder.path())).expect("nbcc runs");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let size = std::fs::metadata(folder.path().join("f.nbx")).expect("a binary").len();
    assert!(size < 200_000, "{size} bytes");
}
