//! Traces of the accesses of instances: a line `INSTANCE R|W ADDRESS` each. Blank lines and what
//! stands behind `#` are skipped; spaces and tabs part the words.

use std::ops::Range;

/// A line that is no access.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TraceError {
    /// Where, in bytes of the trace.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
}

/// Calls `access` with instance and address of each access, in order.
///
/// # Errors
/// The first line that is none, or a trace without any.
pub fn read(bytes: &[u8], mut access: impl FnMut(u64, u64)) -> Result<(), TraceError> {
    let mut start = 0;
    let mut count = 0u64;
    for line in bytes.split(|&byte| byte == b'\n') {
        let end = start + line.len();
        let fault =
            |message: &str| Err(TraceError { span: start..end, message: message.to_string() });
        let Ok(text) = std::str::from_utf8(line) else { return fault("this is no text") };
        let text = text.split('#').next().unwrap_or("").trim_end_matches('\r');
        let mut words = text.split([' ', '\t']).filter(|word| !word.is_empty());
        if let Some(instance) = words.next() {
            let (kind, address, more) = (words.next(), words.next(), words.next());
            let Some(instance) = decimal(instance) else {
                return fault("an access begins with an instance, an integer below 2^64");
            };
            if !matches!(kind, Some("R" | "W")) {
                return fault("behind the instance stands R or W");
            }
            let Some(address) = address.and_then(number) else {
                return fault(
                    "an access ends with an address, decimal or 0x-hexadecimal, below 2^64",
                );
            };
            if more.is_some() {
                return fault("there is something behind the address");
            }
            access(instance, address);
            count += 1;
        }
        start = end + 1;
    }
    if count == 0 {
        let message = "the trace has no accesses".to_string();
        return Err(TraceError { span: 0..0, message });
    }
    Ok(())
}

/// Digits only: no sign.
fn decimal(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            u64::from_str_radix(digits, 16).ok()
        }
        Some(_) => None,
        None => decimal(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Result<Vec<(u64, u64)>, String> {
        let mut list = Vec::new();
        read(text.as_bytes(), |instance, address| list.push((instance, address)))
            .map(|()| list)
            .map_err(|error| format!("{:?} {error}", error.span))
    }

    #[test]
    fn lines_are_accesses() {
        let text = "# begin\n1 R 0x80\n\n18446744073709551615 W 128 # end\r\n";
        assert_eq!(all(text).unwrap(), [(1, 128), (u64::MAX, 128)]);
        for (line, what) in [
            ("x R 1", "integer below 2^64"),
            ("+1 R 1", "integer below 2^64"),
            ("18446744073709551616 R 1", "integer below 2^64"),
            ("1 r 1", "R or W"),
            ("1 R", "address"),
            ("1 R 0x", "address"),
            ("1 R 0X80", "address"),
            ("1\u{a0}R 128", "integer below 2^64"),
            ("1 R -1", "address"),
            ("1 R 1 2", "behind the address"),
            ("", "no accesses"),
        ] {
            let error = all(line).unwrap_err();
            assert!(error.contains(what), "{line}: {error}");
        }
        assert!(all("1 R 1\n2 Q 1\n").unwrap_err().starts_with("6..11"));
    }
}
