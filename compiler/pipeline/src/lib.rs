//! Pass descriptions, the runner, and the Target and Frontend traits.
