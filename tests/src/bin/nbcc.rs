//! The nbcc command, built with this package so that its tests find it.

fn main() -> std::process::ExitCode {
    nbcc::main()
}
