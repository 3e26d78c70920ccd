//! What is said of loops: decisions, remarks, the graph of their data.

pub mod ddg;
pub mod decision;
pub mod fates;
pub mod remarks;
