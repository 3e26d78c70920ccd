//! The name that was probably meant: the nearest known one by edit distance.

/// Longer names are not compared.
const LONGEST: usize = 64;

/// The candidate nearest to `name`, if it is near enough to be a slip of the pen: by insertions,
/// deletions, replacements and swaps of neighbours, whatever the case of letters. Ties go to the
/// one that comes first.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let mut limit = match name.len() {
        0..=1 => return None,
        2..=4 => 1,
        5..=8 => 2,
        9..=LONGEST => 3,
        _ => return None,
    };
    let folded = name.to_ascii_lowercase();
    let mut best = None;
    for candidate in candidates {
        if candidate.len().abs_diff(name.len()) > limit || candidate == name {
            continue;
        }
        let distance = strsim::osa_distance(&folded, &candidate.to_ascii_lowercase());
        if distance == 0 {
            return Some(candidate);
        }
        // From now on only what is nearer is of use.
        if distance <= limit {
            best = Some(candidate);
            limit = distance - 1;
        }
    }
    best
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
        assert_eq!(nearest("UNROLL", names), Some("unroll"));
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
