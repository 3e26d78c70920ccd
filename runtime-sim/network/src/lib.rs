//! What connects units: the TSVs of a vault, the mesh of vaults in a cube, the serial
//! links between cubes. Knows no machine and no instruction.

pub mod mesh;
pub mod tsv;
mod wheel;

pub use mesh::{Delivery, MeshConfig, Network, NetworkStats, Packet};
pub use tsv::{Grant, Transfer, TsvArbiter, TsvStats};
