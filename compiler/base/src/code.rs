//! Diagnostic codes. A crate that reports diagnostics states each of its codes once, with
//! [`codes!`](crate::codes), in its `codes.rs`; `nbcc explain CODE` prints it.

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

/// States the codes of a crate: a constant for each, and one that lists them all. What begins and
/// what ends every example may be said once; a code without an example names its test.
///
/// ```
/// nbcc_base::codes! {
///     /// Every code of this language.
///     ALL, examples "// nbcc run example.halide\n" .. "";
///
///     CHARACTER = "E0100", "unexpected character",
///     "The source has a character that starts no token.",
///     "Func out(x, y) = in(x, y) @ 2.0f;\n";
///
///     FILE_SIZE = "E0109", "a file that is too large",
///     "A source file may have up to 64 MiB.",
///     by test "a_file_that_is_too_large";
/// }
/// assert_eq!(ALL, [&CHARACTER, &FILE_SIZE]);
/// assert_eq!(
///     CHARACTER.example,
///     "// nbcc run example.halide\nFunc out(x, y) = in(x, y) @ 2.0f;\n",
/// );
/// ```
#[macro_export]
macro_rules! codes {
    ($(#[$about:meta])* $all:ident; $($codes:tt)*) => {
        $crate::codes! { $(#[$about])* $all, examples "" .. ""; $($codes)* }
    };
    ($(#[$about:meta])* $all:ident, examples $begin:literal .. $end:literal;
     $($name:ident = $code:literal, $title:literal, $explanation:literal,
       $($example:literal)? $(by test $test:literal)?;)*) => {
        $(
            #[doc = $title]
            pub const $name: $crate::CodeInfo = $crate::CodeInfo {
                code: $code,
                title: $title,
                explanation: $explanation,
                example: $crate::codes!(@ "" $(, $begin, $example, $end)?),
                by_test: $crate::codes!(@ None $(, Some($test))?),
            };
        )*

        $(#[$about])*
        pub const $all: &[&$crate::CodeInfo] = &[$(&$name),*];
    };
    (@ $default:expr) => { $default };
    (@ None, $value:expr) => { $value };
    (@ "", $($part:literal),*) => { concat!($($part),*) };
}
