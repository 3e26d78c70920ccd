//! Expected text with wildcards: `[..]` stands for any text in a line, a line `...` for any number
//! of lines.

/// Whether a text is what a pattern asks for. Blanks at the ends of lines do not count.
pub fn matches(pattern: &str, text: &str) -> bool {
    let pattern: Vec<&str> = pattern.lines().map(str::trim_end).collect();
    let text: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines_match(&pattern, &text)
}

fn lines_match(pattern: &[&str], text: &[&str]) -> bool {
    // Backtracking to the last `...` only: an earlier one need never be longer.
    let (mut p, mut t) = (0, 0);
    let mut retry = None;
    loop {
        if pattern.get(p) == Some(&"...") {
            retry = Some((p + 1, t));
            p += 1;
        } else if t == text.len() {
            return p == pattern.len();
        } else if p < pattern.len() && line_matches(pattern[p], text[t]) {
            (p, t) = (p + 1, t + 1);
        } else if let Some((after, from)) = retry {
            retry = Some((after, from + 1));
            (p, t) = (after, from + 1);
        } else {
            return false;
        }
    }
}

/// Whether a line is what a line of a pattern asks for.
fn line_matches(pattern: &str, line: &str) -> bool {
    let mut parts = pattern.split("[..]");
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.len() >= last.len() && rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_stand_for_text_and_lines() {
        assert!(matches("a[..]c\n", "abbc  \n"));
        assert!(matches("a[..]c[..]", "ac"));
        assert!(!matches("a[..]c", "ab"));
        assert!(!matches("a[..]aa", "aa"));
        assert!(matches("a\n...\nb\n", "a\nb\n"));
        assert!(matches("...\nb\n...\nd", "a\nb\nc\nb\nd"));
        assert!(!matches("a\n...\nb\n", "a\nb\nc"));
        assert!(matches("", ""));
        assert!(!matches("", "a"));
    }
}
