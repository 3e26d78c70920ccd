//! The nbcc command. All of it is in the library, so that tests can link it too.

fn main() -> std::process::ExitCode {
    nbcc::main()
}
