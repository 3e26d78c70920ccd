//! The diagnostic codes of PTX: E2001 to E2049 for syntax and declarations, E2050 to E2199 for
//! instructions. Each has an example that triggers it.

use nbcc_base::CodeInfo;

macro_rules! codes {
    ($($name:ident, $code:literal, $title:literal, $explanation:literal, $example:literal;)*) => {
        $(
            #[doc = $title]
            pub const $name: CodeInfo = CodeInfo {
                code: $code,
                title: $title,
                explanation: $explanation,
                example: concat!("// nbcc example.ptx\n", $example),
                by_test: None,
            };
        )*
    };
}

codes! {
    CHARACTER, "E2001", "unexpected character",
    "The file has a character that starts no token. PTX is ASCII; control characters mostly mean that \
     the file is not PTX at all.",
    ".version 8.0\n.target sm_80\n.address_size 64\n?\n";
}
