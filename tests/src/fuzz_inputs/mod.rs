//! Mutation fuzzing of everything that the command reads: sources, launch and machine files,
//! binaries behind a right digest, assembly, pictures, traces, options. Files of this repository
//! are damaged and given to a command of their kind, which runs under limits in a folder of its own
//! and has to end with a result or with a diagnostic. The method is that of black-box mutation
//! fuzzers (Miller et al., "An empirical study of the reliability of UNIX utilities", CACM 1990, and
//! its descendants) with knowledge of lines, tokens, numbers and digests.

pub mod corpus;
pub mod generate;
mod mutate;
pub mod run;
pub mod shrink;
