//! What the compiler decides for SDPNM: so far, which processing element computes what in which cycle
//! (`map`), for data-flow graphs that are read from files (`read`).

pub mod codes;
pub mod map;
pub mod read;
pub mod report;
