//! The iPIM backend: from image pipelines to SIMB programs.
//!
//! The way of a program: `plan` decides which engine keeps and computes which tile and what is
//! brought to it beforehand; `lower` writes each kernel of the plan in the shared IR; `backend`
//! turns kernels into SIMB instructions.

pub mod intrinsics;
pub mod lower;
pub mod plan;
