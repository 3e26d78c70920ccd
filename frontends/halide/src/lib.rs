//! The Halide-like image language.
