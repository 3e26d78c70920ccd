//! TSVs, meshes and serial links.
