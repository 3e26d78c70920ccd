//! Passes of the backend on functions of their own, and what checks their results.

mod checkers;
mod files;
