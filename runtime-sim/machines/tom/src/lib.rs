//! The simulated machine of TOM. What is here so far is the analyzer that chooses where pages go;
//! kernels run on the functional machine that SIMT targets share (`runtime-sim/simt`).

pub mod analyzer;
pub mod trace;
