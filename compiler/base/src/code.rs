//! Diagnostic codes. A crate that reports diagnostics states each of its codes once, as a
//! [`CodeInfo`] constant in its `codes.rs`; `nbcc explain CODE` prints it.

/// What is known of a diagnostic code.
#[derive(Debug, PartialEq, Eq)]
pub struct CodeInfo {
    /// The code as printed, `E` or `W` and four digits.
    pub code: &'static str,
    /// A short name for the fault, in lower case without a full stop.
    pub title: &'static str,
    /// The long form: what the fault is, why it is one, what to do about it.
    pub explanation: &'static str,
    /// An input that triggers the code. The first line says how it is used, as in
    /// `// nbcc run example.halide`; tests run it. Empty where [`CodeInfo::by_test`] is set.
    pub example: &'static str,
    /// The name of the test that triggers the code where no text file can (a binary file, say).
    pub by_test: Option<&'static str>,
}
