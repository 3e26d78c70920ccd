//! Small programs on the machine.

mod control;
mod faults;
mod instructions;
mod memory;
mod operands;
mod random;
mod statistics;
mod support;
mod threads;
