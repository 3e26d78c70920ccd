//! The diagnostic codes of this crate: bounds and schedules.
