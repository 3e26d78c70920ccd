//! The name that was probably meant: the nearest known one by edit distance.

/// The candidate nearest to `name`, if it is near enough to be a slip of the pen. Ties go to the
/// one that comes first.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    if name.len() > 64 {
        return None;
    }
    let limit = match name.len() {
        0..=1 => return None,
        2..=4 => 1,
        5..=8 => 2,
        _ => 3,
    };
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        if candidate.len().abs_diff(name.len()) > limit || candidate == name {
            continue;
        }
        let distance = distance(name.as_bytes(), candidate.as_bytes());
        if distance <= limit && best.is_none_or(|(d, _)| distance < d) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, name)| name)
}

/// Insertions, deletions, replacements and swaps of neighbours that lead from one to the other
/// (the optimal string alignment distance).
fn distance(a: &[u8], b: &[u8]) -> usize {
    let width = b.len() + 1;
    let mut table = vec![0; (a.len() + 1) * width];
    for (j, cell) in table.iter_mut().enumerate().take(width) {
        *cell = j;
    }
    for i in 1..=a.len() {
        table[i * width] = i;
        for j in 1..=b.len() {
            let replace = table[(i - 1) * width + j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut cell =
                replace.min(table[(i - 1) * width + j] + 1).min(table[i * width + j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                cell = cell.min(table[(i - 2) * width + j - 2] + 1);
            }
            table[i * width + j] = cell;
        }
    }
    table[table.len() - 1]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn nearest_finds_slips_and_nothing_else() {
        let names = ["compute_root", "compute_at", "vectorize", "unroll"];
        assert_eq!(nearest("compute_rot", names), Some("compute_root"));
        assert_eq!(nearest("vectorise", names), Some("vectorize"));
        assert_eq!(nearest("unrlol", names), Some("unroll"));
        assert_eq!(nearest("parallel", names), None);
        assert_eq!(nearest("x", ["y"]), None);
    }
}
