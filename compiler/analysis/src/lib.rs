//! Facts about IR functions.
