//! File-driven tests over the whole workspace.
