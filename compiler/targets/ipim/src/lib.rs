//! The iPIM backend.
