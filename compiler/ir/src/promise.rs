//! Intrinsics by which a run finds out whether pointers keep a promise: while it holds, an element
//! that is reached through the pointer, or through one that was made of it, is reached by no other way,
//! unless nothing is stored to it. A frontend writes them, the interpreter answers them, no target knows
//! them.
//!
//! A pointer's *origin* is a number of 32 bits that says which promises it was made under; 0 is none.

/// The promise of the first constant holds anew from here on: what was reached before does not count.
pub const BEGIN: &str = "promise.begin";
/// The origin of a pointer that is made of one of the origin given, under the promise of the first
/// constant.
pub const ORIGIN: &str = "promise.origin";
/// An element is reached. The operands: the pointer's origin, the number of the object, that of the
/// element. The constants: 1 where it is stored to, and the promises that hold here. The memory object,
/// where there is only one that it may be.
pub const REACH: &str = "promise.reach";
