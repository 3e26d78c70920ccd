//! Making the damaged file of a failing case smaller: parts of it are left out, large ones first, as
//! long as the failure stays (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing
//! input", TSE 2002).

use super::generate::{Case, seal};

/// A smaller case that still `fails`, in at most `budget` runs.
pub fn shrink(mut case: Case, mut budget: usize, fails: &mut dyn FnMut(&Case) -> bool) -> Case {
    let mut size = case.files[0].1.len().div_ceil(2);
    while size > 0 {
        let mut at = 0;
        let mut removed = false;
        while at < case.files[0].1.len() {
            if budget == 0 {
                return case;
            }
            budget -= 1;
            let mut smaller = case.clone();
            let bytes = &mut smaller.files[0].1;
            bytes.drain(at..(at + size).min(bytes.len()));
            seal(&mut smaller);
            if fails(&smaller) {
                case = smaller;
                removed = true;
            } else {
                at += size;
            }
        }
        if !removed || size > 1 {
            size /= 2;
        }
    }
    case
}

#[cfg(test)]
mod tests {
    use super::super::generate::Kind;
    use super::*;

    #[test]
    fn what_does_not_matter_goes() {
        let text = "some words before, the fault, some words behind";
        let files = vec![("a.halide".to_string(), text.as_bytes().to_vec())];
        let case = Case { kind: Kind::Halide, files, commands: Vec::new() };
        let fails = |case: &Case| String::from_utf8_lossy(&case.files[0].1).contains("fault");
        let small = shrink(case.clone(), 1000, &mut { fails });
        assert_eq!(small.files[0].1, b"fault");
        assert_eq!(shrink(case.clone(), 0, &mut { fails }).files, case.files);
    }
}
