//! What the tests of the frontend share: reading a text as far as names are resolved.

use nbcc_base::{Diagnostics, SourceFile, SourceId};
use nbcc_frontend_ptx::read;

/// What is reported of a text.
pub fn diagnose(file: &SourceFile) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    let result = read(SourceId(0), file, &mut diagnostics);
    assert_eq!(
        result.is_err(),
        diagnostics.has_errors(),
        "{}: refused without an error",
        file.name
    );
    diagnostics
}
