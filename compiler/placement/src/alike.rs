//! Texts that say nearly the same one after another, told once: a chain of stages makes the same
//! kernel over and over, with other numbers.
//!
//! Two texts are alike where they differ in numbers only; a run is a sequence of one or more texts
//! that comes again and again, each time alike.

/// The longest sequence that is looked for.
const PERIOD: usize = 8;
/// Repetitions that are worth telling as one.
const TIMES: usize = 3;

/// Texts that follow each other: one by itself, or a sequence that repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// How many texts come before.
    pub first: usize,
    /// How often the sequence stands there.
    pub times: usize,
    /// The sequence. A number that differs from time to time is `{A..B}`: from A to B one after
    /// the other or, where they do not rise or fall throughout, between A and B.
    pub texts: Vec<String>,
}

/// The runs that texts are made of, in order; together they are all of them.
pub fn runs<T: AsRef<str>>(texts: &[T]) -> Vec<Run> {
    let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
    let parts: Vec<Parts<'_>> = texts.iter().map(|text| Parts::of(text)).collect();
    let mut runs = Vec::new();
    let mut first = 0;
    while first < texts.len() {
        let (period, times) = repetition(&parts[first..]);
        let sequence = |k: usize| match times {
            1 => texts[first + k].to_string(),
            _ => told(&parts[first..first + period * times], k, period),
        };
        runs.push(Run { first, times, texts: (0..period).map(sequence).collect() });
        first += period * times;
    }
    runs
}

/// The lines that tell texts: those of a run that repeats stand further to the right, below how
/// often it does. A text may have several lines.
pub fn lines<T: AsRef<str>>(texts: &[T]) -> Vec<String> {
    let mut lines = Vec::new();
    for run in runs(texts) {
        let indent = if run.times > 1 { "    " } else { "" };
        if run.times > 1 {
            lines.push(format!("{} times:", run.times));
        }
        let all = run.texts.iter().flat_map(|text| text.lines());
        lines.extend(all.map(|line| format!("{indent}{line}")));
    }
    lines
}

/// The length of the shortest sequence at the beginning that repeats often enough, and how often
/// it does; one text once where there is none.
fn repetition(parts: &[Parts<'_>]) -> (usize, usize) {
    for period in 1..=PERIOD.min(parts.len() / TIMES) {
        let alike = |k: usize| parts[k].between == parts[k % period].between;
        let count = (0..parts.len()).take_while(|&k| alike(k)).count();
        if count / period >= TIMES {
            return (period, count / period);
        }
    }
    (1, 1)
}

/// Text `k` of every sequence as one.
fn told(parts: &[Parts<'_>], k: usize, period: usize) -> String {
    let same: Vec<&Parts<'_>> = parts.iter().skip(k).step_by(period).collect();
    let mut text = same[0].between[0].to_string();
    for (number, after) in same[0].between[1..].iter().enumerate() {
        let values: Vec<&str> = same.iter().map(|parts| parts.numbers[number]).collect();
        text.push_str(&between(&values));
        text.push_str(after);
    }
    text
}

/// A number, or what it runs through.
fn between(values: &[&str]) -> String {
    let (first, last) = (values[0], values[values.len() - 1]);
    if values.iter().all(|value| *value == first) {
        return first.to_string();
    }
    // Numbers without leading zeros: the longer is the greater.
    let key = |value: &&str| (value.len(), value.to_string());
    let rises = values.is_sorted_by_key(key);
    let falls = values.iter().rev().is_sorted_by_key(&key);
    if rises || falls {
        return format!("{{{first}..{last}}}");
    }
    let least = values.iter().copied().min_by_key(key).unwrap_or(first);
    let most = values.iter().copied().max_by_key(key).unwrap_or(last);
    format!("{{{least}..{most}}}")
}

/// A text cut at its numbers: `between` has one more part than there are numbers.
struct Parts<'a> {
    between: Vec<&'a str>,
    numbers: Vec<&'a str>,
}

impl<'a> Parts<'a> {
    fn of(text: &'a str) -> Parts<'a> {
        let (mut between, mut numbers) = (vec![], vec![]);
        let (mut start, mut at) = (0, 0);
        let bytes = text.as_bytes();
        while at < bytes.len() {
            if !bytes[at].is_ascii_digit() {
                at += 1;
                continue;
            }
            let digits = |from: usize, is: fn(&u8) -> bool| {
                bytes[from..].iter().position(|b| !is(b)).map_or(bytes.len(), |n| from + n)
            };
            let end = match text[at..].starts_with("0x") {
                true => digits(at + 2, u8::is_ascii_hexdigit),
                false => digits(at, u8::is_ascii_digit),
            };
            between.push(&text[start..at]);
            numbers.push(&text[at..end]);
            (start, at) = (end, end);
        }
        between.push(&text[start..]);
        Parts { between, numbers }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_repeats_is_told_once_with_what_differs() {
        let texts = ["in", "s1 at 0x10, 9 rows", "s2 at 0x1f, 9 rows", "s3 at 0x2a, 9 rows", "out"];
        assert_eq!(lines(&texts), ["in", "3 times:", "    s{1..3} at {0x10..0x2a}, 9 rows", "out"]);
        assert_eq!(runs(&texts)[1].first, 1);
    }

    #[test]
    fn sequences_repeat_too_and_numbers_may_jump() {
        let texts = ["a 10", "b\n  7", "a 2", "b\n  8", "a 30", "b\n  9", "a 1"];
        let told = lines(&texts);
        assert_eq!(told, ["3 times:", "    a {2..30}", "    b", "      {7..9}", "a 1"]);
        assert_eq!(lines(&["a 3", "a 2", "a 1"]), ["3 times:", "    a {3..1}"]);
    }

    #[test]
    fn nothing_is_lost() {
        let texts = ["x1", "x2", "y", "", "7", "7", "x", "é9", "é10", "é11"];
        let runs = runs(&texts);
        assert_eq!(runs.iter().map(|r| r.times * r.texts.len()).sum::<usize>(), texts.len());
        assert_eq!(runs.last().map(|r| r.texts.clone()), Some(vec!["é{9..11}".to_string()]));
    }
}
