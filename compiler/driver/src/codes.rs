//! The diagnostic codes of this crate (E40 the command line and files, E41 data, E42 running),
//! and the list of all codes.

use nbcc_base::CodeInfo;

use crate::registry;

/// Every code that can be reported, sorted.
pub fn all() -> Vec<&'static CodeInfo> {
    let mut codes: Vec<&'static CodeInfo> = ALL.to_vec();
    codes.extend(nbcc_stages::codes::ALL);
    codes.extend(registry::arrays::codes::ALL);
    codes.extend(registry::get().codes());
    codes.sort_by_key(|info| info.code);
    // A target also reports what the stages find.
    codes.dedup_by(|a, b| a == b);
    codes
}

nbcc_base::codes! {
    /// The codes of this crate.
    ALL;

    COMMAND_LINE = "E4001", "a mistake in the command line",
    "An option, or the value of one, is not known: a target, machine, pass, parameter, input or \
     output of that name does not exist, or a value cannot be read as what it should be. nbcc \
     exits with 2. `nbcc --help` lists the commands, `nbcc COMMAND --help` their options, \
     `nbcc targets` what targets offer and `nbcc --print-passes` the passes.",
    "// nbcc interp example.halide --input picture=in.png\nImageParam in(Float(32), 2);\n\
     Func out(x, y) = in(x, y);\n";

    CANNOT_READ = "E4002", "a file cannot be read",
    "A file that the command line names does not exist, is a folder, or may not be read. Paths \
     are relative to the current folder.",
    "// nbcc interp missing.halide\n";

    CANNOT_WRITE = "E4003", "a file cannot be written",
     "The folder of an output does not exist, may not be written to, or has no room. An output has \
      its name only when it and all others of the command are whole, so that nothing half-written is left, \
      nor some of them. Text for standard output \
      or standard error that cannot be written is lost; a reader that closes its end of a pipe is no \
      error.",
    "// nbcc interp example.halide --output out=no/such/folder/out.png\n\
     Func out(x, y) = in(x, y) * 0.5f;\n";

    UNKNOWN_KIND = "E4004", "not a kind of file that is known",
    "The extension says what a file holds: `.halide` and `.ptx` are programs, `.npy`, `.png`, \
     `.pgm`, `.ppm` and `.bin:WxH` are images. `-x LANGUAGE` says it of a program that is called \
     otherwise, or comes from standard input; binaries and assembly are known by what stands in \
     them. `nbcc targets` lists the languages.",
    "// nbcc interp example.txt\n";

    NOT_TEXT = "E4005", "not a text file",
    "Source files are UTF-8 text. The message names the first byte that is not. A binary made by \
     nbcc is run with `nbcc run` and shown with `nbcc objdump`.",
    "// nbcc interp fixtures/not-text.halide\n";

    BROKEN_MACHINE = "E4007", "a machine description is wrong",
    "A machine file is TOML. Each parameter must be there, with a value in its range; a key that \
     is not known is an error, and nothing has a silent default. `nbcc targets --machine NAME` \
     prints one that is complete.",
    "// nbcc targets --machine example.toml\n# no parameters at all\n";

    SAME_FILE = "E4008", "one file for two things",
    "An output would overwrite a file that the command reads, such as its source, an input or the \
     launch file, or two outputs have the same place, stdout included. Files are the same whatever way they are \
     named: by another path, a symbolic link or a hard link. Nothing is run then.",
    "// nbcc run example.halide --stats example.halide\n\
     Func out(x, y) = in(x, y) * 0.5f;\n";

    LEFT_OUT = "W4009", "parameters that a machine file leaves out",
    "A file for `nbcc memtrace` may leave out how the controller works and what most devices do not \
     have. The message says what is taken instead: what the reference machine of docs/dram.md has.",
    by test "a_file_of_timing_alone_is_a_machine";

    NO_INPUT_DATA = "E4101", "no data for an input",
    "An input that the command line does not give is looked for beside the source, as \
     `STEM.INPUT.png` and with the other extensions; an image of two or three dimensions gets a \
     picture that comes with nbcc. Other inputs must be given with `--input NAME=FILE`.",
    "// nbcc interp example.halide\nImageParam signal(Float(32), 1);\n\
     Func out(x) = signal(x);\nout.bound(x, 0, 4);\n";

    BROKEN_DATA = "E4102", "a data file is damaged",
    "A picture or array file does not hold what its format says it must: it is cut short, or its \
     header makes no sense. The message has the reader's own words.",
    "// nbcc interp example.halide --input in=fixtures/cut.png\n\
     Func out(x, y) = in(x, y) * 0.5f;\n";

    WRONG_TYPE = "E4103", "elements of the wrong type",
    "The elements of a `.npy` file must have the input's type; in Python, \
     `array.astype(numpy.float32)` converts. A picture fits a float input (scaled to 0..1) and \
     integer inputs that can hold its values.",
    "// nbcc interp example.halide --input in=fixtures/double.npy\n\
     Func out(x, y) = in(x, y) * 0.5f;\n";

    WRONG_SHAPE = "E4104", "an image of the wrong shape",
    "An image has another number of dimensions than the input, or other extents than the binary \
     was compiled for. A `.npy` file has shape [H, W] for dimensions (x, y), [C, H, W] for \
     (x, y, c) and [W] for one. Raw data must have exactly as many bytes as `:WxH` says.",
    "// nbcc interp example.halide --input signal=fixtures/grey.png\nImageParam signal(Float(32), 1);\n\
     Func out(x) = signal(x);\nout.bound(x, 0, 4);\n";

    TOO_LARGE = "E4105", "an image that is too large",
    "An image may have up to 2^27 elements, and a data file 1 GiB.",
    "// nbcc interp example.halide --input in=in.bin:100000x100000\n\
     Func out(x, y) = in(x, y) * 0.5f;\n";

    NO_PICTURE = "E4106", "an output that is no picture",
    "A picture has two dimensions, or a third of 1, 3 or 4 channels (PGM 1, PPM 3), and elements \
     of type float, uint8, uint16 or bool. Anything can be written as `.npy` or `.bin`.",
    "// nbcc interp example.halide --output out=out.png\n\
     Func out(x) = x;\nout.bound(x, 0, 16);\n";

    READ_AS_LUMA = "W4107", "a colour picture read as luma",
    "A colour picture given to an input of two dimensions is read as its brightness: 0.299 R + \
     0.587 G + 0.114 B (ITU-R BT.601), rounded to the picture's integer type.",
    "// nbcc interp example.halide --input in=fixtures/colour.png\n\
     Func out(x, y) = in(x, y) * 0.5f;\n";

    BUNDLED_PICTURE = "W4108", "a bundled picture stands in for an input",
    "No data was given for an input and none lies beside the source, so a picture that comes with \
     nbcc is used: 512x384, repeated where the input is larger.",
    "// nbcc interp example.halide\nFunc out(x, y) = picture(x, y) * 0.5f;\n";

    WIDENED = "W4109", "a picture of a narrower type",
    "The picture has 8 bits a channel and the input has more; the values are taken as they are, \
     without scaling.",
    "// nbcc interp example.halide --input in=fixtures/grey.png\n\
     ImageParam in(UInt(16), 2);\nFunc out(x, y) = in(x, y);\n";

    NO_PARAM = "E4110", "a parameter without a value",
    "A scalar parameter that is declared without a default must be set on the command line with \
     `--param NAME=VALUE`, or be given a default in the source, as in `Param<float> alpha = 1.5f;`.",
    "// nbcc interp example.halide\nParam<float> alpha;\n\
     Func out(x, y) = in(x, y) * alpha;\n";

    DEFAULT_EXTENT = "W4111", "extents that nothing fixes",
    "A program is compiled for fixed extents: what the source says with `bound`, else `--size`, \
     else those of the inputs given, else `set_estimate`. Where none of these gives one, inputs \
     are taken to be 1024x1024, with 3 channels. The binary runs on images of that size only.",
    "// nbcc compile example.halide --emit stages\nFunc out(x, y) = in(x, y) * 0.5f;\n";

    SIZE_UNUSED = "W4112", "a size that is not followed",
    "What the source says with `bound` fixes an output's extent; `--size` is for the dimensions \
     that it leaves open, and outputs may have fewer than it names.",
    "// nbcc interp example.halide --size 8x8\n\
     Func out(x, y) = x + y;\nout.bound(x, 0, 4);\n";

    BROKEN_BINARY = "E4201", "a binary is damaged",
    "A `.nbx` file does not hold what its header, digest or sections say. The message names the \
     section and offset. Compile the source again.",
    "// nbcc objdump fixtures/grey.png\n";

    FAULT = "E4202", "the simulated machine stopped",
    "The program did something the machine cannot do, such as an access outside a memory, or its \
     vaults wait for each other. The message names the instruction, its source line and the unit. \
     An image pipeline that nbcc compiled never does this: there it is a fault of nbcc. A kernel \
     may: by an address outside of its buffers, a failed assertion, or a barrier that not all of \
     its threads reach; the message names kernel, line, block and thread.",
    by test "a_program_that_faults";

    OUT_OF_CYCLES = "E4203", "the run was stopped",
    "The program had not ended after the number of cycles that `--max-cycles` allows (1e9 where it \
     is not given), or the interpreter not after the steps that it may take: those of `--max-steps`, \
     and for `run --check` 65536 for each cycle of `--max-cycles`. A step is an instruction of a \
     thread, or an operation on an element of an image. Outputs are not written.",
    "// nbcc run example.halide --size 64x64 --max-cycles 10\nFunc out(x, y) = in(x, y) * 0.5f;\n";

    CHECK_FAILED = "E4204", "the check failed",
    "The outputs of the simulated machine differ from those of the reference interpreter by more \
     than the target states. The message has the first differing element. This is a fault of \
     nbcc: please report it with the program. But for kernels whose results depend on the order in \
     which threads run, as what an atomic operation returns does: there the machine and the \
     interpreter may differ and both be right. Lines that kernels print may come in any order.",
    by test "a_wrong_element_fails_the_check";

    TRAP = "E4205", "the interpreter stopped",
    "The program does something that has no meaning, such as reading an input outside its \
     extents.",
    "// nbcc interp example.halide --size 4x4\nFunc table(i) = i;\n\
     Func out(x, y) = table(cast<int>(clamp(sqrt(-1.0f - x), 5.0f, 9.0f)));\n\
     table.compute_root();\n";

    PROMISE = "E4214", "a broken promise of `restrict`",
    "A `restrict` pointer promises that, as long as its block runs, an element that is reached \
     through it and stored to, through it or otherwise, is reached only by it and by pointers made \
     of it. A compiler may rely on that; --check finds out whether it is true.",
    "// nbcc run example.c --entry f --param n=3 --check\n\
     static void next(int n, int *restrict a, const int *restrict b) {\n\
     for (int i = 0; i < n; i++) a[i + 1] = b[i] + 1;\n}\n\
     void f(int n, int x[n + 1]) { next(n, x, x); }\n";

    BROKEN_ASSEMBLY = "E4206", "a mistake in assembly",
    "A line is no instruction, label or directive of the target's assembly, or names something \
     that is not there. `nbcc objdump` prints the form that is read.",
    "// nbcc as example.s\n    fly  D1, D2\n";

    BROKEN_TRACE = "E4207", "a mistake in a DRAM trace",
    "A trace has a request a line: `R` or `W`, bank, row and column, separated by spaces, all \
     inside the device that the machine file describes.",
    "// nbcc memtrace example.txt --machine machines/reference.toml\nR 0 17 4\nread 0 17 5\n";

    BROKEN_PROFILE = "E4213", "a file that is no profile",
    "`--profile-use` reads what `nbcc run PROGRAM --profile-out FILE.json` writes: JSON with \
     `schema_version` and a list of `lines`, each with its `file` and `line` and with `executed`, \
     how often its most executed instruction was issued.",
    "// nbcc compile example.ptx --profile-use example.ptx\n.version 8.0\n.target sm_80\n\
     .address_size 64\n.visible .entry k() { ret; }\n";

    OTHER_PROFILE = "W4215", "a profile of another program",
    "No line that the profile given with `--profile-use` lists is in the program that is compiled, so it is \
     that of another program, or of one that had another name. The program is compiled as without it.",
    "// nbcc compile example.ptx --profile-use fixtures/profile.json\n.version 8.0\n.target sm_80\n\
     .address_size 64\n.visible .entry k() { ret; }\n";

    REFUSED = "E4208", "a program that the simulator does not take",
    "The program, its machine or its data need more memory than the simulator takes, or the data \
     is not what the program was compiled for.",
    "// nbcc run example.halide --size 65536x8192\nOutput<Buffer<int, 2>> a, b, c;\n\
     a(x, y) = x;\nb(x, y) = y;\nc(x, y) = x + y;\n";

    NO_LAUNCH = "E4209", "no launch file",
    "Kernels run on a grid that a launch file describes: kernel, grid, block and arguments, and \
     the buffers that are copied back. Name it with `--launch FILE.toml`, or give it the \
     program's name with the extension `.toml`. docs/launch.md describes the format.",
    "// nbcc run example.ptx\n.version 7.0\n.target sm_70\n.address_size 64\n\
     .visible .entry k() { ret; }\n";

    BROKEN_LAUNCH = "E4210", "a mistake in a launch file",
    "A launch file is TOML with the tables `symbol`, `launch` (each with `arg`s) and `read`. A key \
     that is not known, a value of the wrong type or range, a buffer without a size, or a shape \
     that does not fit its buffer is an error. docs/launch.md describes the format.",
    "// nbcc run fixtures/empty.ptx --launch example.toml\ngrid = [1, 1, 1]\nblok = [32, 1, 1]\n";

    WRONG_LAUNCH = "E4211", "a launch that does not fit its kernel",
    "The kernel does not exist, takes another number of arguments or arguments of other sizes, or \
     the grid, its blocks or their shared memory are larger than there may be. A struct passed by value is given \
     as `hex`.",
    "// nbcc run fixtures/empty.ptx --launch example.toml\ngrid = [1, 1, 1]\n\
     block = [32, 32, 32]\n";

    NO_MEMORY = "E4212", "memory is short",
    "The system gives less memory than the program's images or buffers, or nbcc itself, take: the \
     machine has less, or a limit such as `ulimit -v` is set. The message says what took how much \
     where that is known. nbcc takes 300 MB of address space before it reads anything, and 32 MB for \
     each thread, mostly for stacks that are touched as far as programs nest.",
    by test "memory_that_is_short_is_said";

    BROKEN_SUITE = "E4230", "a mistake in a suite of benchmarks",
    "A suite is TOML with a title, a target, [[program]]s, [[variant]]s and [[figure]]s. A key that is not \
     known, a name that nothing has, a formula that cannot be read, or a statistic that the target does not \
     count is an error. docs/bench.md describes the format.",
    "// nbcc bench example.toml\ntitle = \"t\"\ntarget = \"ipim\"\nprogam = []\n";

    FAILED_WORKLOAD = "E4231", "a workload that gives no figures",
    "A program of a suite does not compile, does not run to its end, or leaves other outputs under one variant \
     than under the first. The diagnostics before say why. The other programs are run nevertheless; rows of \
     figures that need this one say that it failed.",
    by test "a_workload_that_fails_has_rows_that_say_so";

    NO_TRANSLATOR = "E4220", "no compiler for a language",
    "CUDA C++ is compiled to PTX by a compiler that is installed: the program that the environment variable \
     NBCC_CUDA names, which gets the file and writes PTX to its standard output, else `nvcc`, else NVRTC \
     where `python3` finds it, else `clang++`. None was found. docs/language-ptx.md says how to get PTX.",
    by test "cuda_needs_a_compiler";

    TRANSLATOR_FAILED = "E4221", "another compiler's error",
    "The compiler that turns the source into PTX ended with an error; the message holds what it said.",
    by test "cuda_needs_a_compiler";
}
