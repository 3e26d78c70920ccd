//! The nbcc command with the smallest frontend and target, and none of ours.

fn main() -> std::process::ExitCode {
    nbcc::main_with(&nbcc_tests::minimal::REGISTRY)
}
