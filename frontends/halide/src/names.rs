//! The name that was probably meant: the nearest known one by edit distance.

/// Longer names are not compared.
const LONGEST: usize = 64;

/// The candidate nearest to `name`, if it is near enough to be a slip of the pen. Ties go to the
/// one that comes first.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    if name.len() > LONGEST {
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
        // Only what is nearer than the best so far is of use.
        let limit = best.map_or(limit, |(distance, _)| distance - 1);
        if let Some(distance) = distance(name.as_bytes(), candidate.as_bytes(), limit) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, name)| name)
}

/// More than the length of any candidate that is compared.
const WIDTH: usize = LONGEST + 4;

/// Insertions, deletions, replacements and swaps of neighbours that lead from one to the other
/// (the optimal string alignment distance), where these are `limit` at most.
fn distance(a: &[u8], b: &[u8], limit: usize) -> Option<usize> {
    let mut rows = [[0; WIDTH]; 3];
    for (j, cell) in rows[0].iter_mut().enumerate() {
        *cell = j;
    }
    for i in 1..=a.len() {
        let [two_before, before, row] = match i % 3 {
            0 => [1, 2, 0],
            1 => [2, 0, 1],
            _ => [0, 1, 2],
        };
        rows[row][0] = i;
        let mut least = i;
        for j in 1..=b.len() {
            let replace = rows[before][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut cell = replace.min(rows[before][j] + 1).min(rows[row][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                cell = cell.min(rows[two_before][j - 2] + 1);
            }
            rows[row][j] = cell;
            least = least.min(cell);
        }
        // A swap reaches over a row, which then has a replacement that costs no more.
        if least > limit {
            return None;
        }
    }
    Some(rows[a.len() % 3][b.len()]).filter(|&distance| distance <= limit)
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
        let names = ["abxdefgyijkz", "abcdefhgijkz", "abcdefghijk"];
        assert_eq!(nearest("abcdefghijkl", names), Some("abcdefghijk"));
        assert_eq!(nearest("abcdefghijkl", [names[0], names[1]]), Some("abcdefhgijkz"));
        assert_eq!(nearest("abcdefghijkl", [names[0]]), Some("abxdefgyijkz"));
        assert_eq!(nearest("abcdefghijkl", ["axxdefgyijkz"]), None);
        let long = "n".repeat(64);
        let longer = "n".repeat(67);
        assert_eq!(nearest(&long, [longer.as_str()]), Some(longer.as_str()));
    }
}
