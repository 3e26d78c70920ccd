//! The runtime that a host program sees.
