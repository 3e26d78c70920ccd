//! Small programs on the machine.

mod control;
mod faults;
mod instructions;
mod memory;
mod page;
mod random;
mod support;
