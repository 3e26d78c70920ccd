//! Where a member lies in the structures of an array: what hosts know as one array of structures
//! is an array for each member to a program. Stated once for the IR, for the signature in a binary
//! and for the host, which takes structures apart and puts them together.

use std::fmt;
use std::str::FromStr;

/// A member of the structures of an array: scalars of one type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Member {
    /// What hosts call the array of structures.
    pub of: String,
    /// Bytes of a structure.
    pub bytes: u64,
    /// The byte in the structure where its first scalar lies.
    pub offset: u64,
    /// The names that lead to it, never none.
    pub path: Vec<Component>,
}

/// A name on the way to a member.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Component {
    /// The name.
    pub name: String,
    /// Bytes of a structure that has members of its own.
    pub bytes: Option<u64>,
    /// Elements along each dimension, the slowest first; none where it is no array.
    pub counts: Vec<u64>,
}

/// Why a text is no member.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no member of a structure: `{0}`")]
pub struct NoMember(String);

impl Member {
    /// Scalars of a structure at most.
    pub const MAX_SCALARS: u64 = 1 << 24;
    /// Bytes of a structure at most.
    pub const MAX_BYTES: u64 = 1 << 30;

    /// How many scalars it has in a structure; the most there is where they are more.
    pub fn scalars(&self) -> u64 {
        self.path.iter().map(Component::elements).fold(1, u64::saturating_mul)
    }

    /// The byte of each scalar in a structure, in the order of C; `width` is that of a scalar.
    pub fn offsets(&self, width: u64) -> Vec<u64> {
        let mut all = vec![self.offset];
        for component in &self.path {
            let each = component.bytes.unwrap_or(width);
            let count = component.elements();
            all = all.iter().flat_map(|at| (0..count).map(move |n| at + n * each)).collect();
        }
        all
    }

    /// Whether scalars of that width lie within the structure, and are not too many.
    pub fn is_sound(&self, width: u64) -> bool {
        let few =
            (1..=Member::MAX_SCALARS).contains(&self.scalars()) && self.bytes <= Member::MAX_BYTES;
        let last = self.path.iter().try_fold(self.offset, |at, component| {
            let each = component.bytes.unwrap_or(width);
            let steps = component.elements().checked_sub(1)?;
            at.checked_add(each.checked_mul(steps)?)
        });
        few && last.and_then(|at| at.checked_add(width)).is_some_and(|end| end <= self.bytes)
    }
}

impl Component {
    /// How many there are; the most there is where they are more.
    pub fn elements(&self) -> u64 {
        self.counts.iter().copied().fold(1, u64::saturating_mul)
    }
}

impl fmt::Display for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {} ", self.of, self.bytes, self.offset)?;
        for (number, Component { name, bytes, counts }) in self.path.iter().enumerate() {
            write!(f, "{}{name}", if number > 0 { "." } else { "" })?;
            if let Some(bytes) = bytes {
                write!(f, "{{{bytes}}}")?;
            }
            for count in counts {
                write!(f, "[{count}]")?;
            }
        }
        Ok(())
    }
}

impl FromStr for Member {
    type Err = NoMember;

    fn from_str(text: &str) -> Result<Member, NoMember> {
        parse(text).ok_or_else(|| NoMember(crate::lexical::shorten(text).to_string()))
    }
}

fn parse(text: &str) -> Option<Member> {
    let words: Vec<&str> = text.split(' ').collect();
    let [of, bytes, offset, path] = words[..] else { return None };
    let path = path.split('.').map(component).collect::<Option<Vec<_>>>()?;
    // Structures hold what comes behind them, and nothing else does.
    let (last, structures) = path.split_last()?;
    let nested = last.bytes.is_none() && structures.iter().all(|one| one.bytes.is_some());
    (nested && is_name(of)).then_some(())?;
    let (bytes, offset) = (bytes.parse().ok()?, offset.parse().ok()?);
    Some(Member { of: of.to_string(), bytes, offset, path })
}

fn component(text: &str) -> Option<Component> {
    let end = text.find(['{', '[']).unwrap_or(text.len());
    let (name, mut rest) = text.split_at(end);
    let mut bytes = None;
    if let Some(behind) = rest.strip_prefix('{') {
        let (number, behind) = behind.split_once('}')?;
        bytes = Some(number.parse().ok()?);
        rest = behind;
    }
    let mut counts = Vec::new();
    while let Some(behind) = rest.strip_prefix('[') {
        let (number, behind) = behind.split_once(']')?;
        counts.push(number.parse().ok()?);
        rest = behind;
    }
    (rest.is_empty() && is_name(name)).then(|| Component { name: name.to_string(), bytes, counts })
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_read_back() {
        for text in ["a 8 4 v", "cells 40 2 p{8}[2][2].re", "x 96 0 p{24}[4].q{8}.w[3]"] {
            assert_eq!(text.parse::<Member>().map(|member| member.to_string()), Ok(text.into()));
        }
        for text in
            ["", "a 8 4", "a 8 4 ", "a 8 x v", "a 8 4 p.v", "a 8 4 p{8}", "a 8 4 v[", "a 8 4 é"]
        {
            assert!(text.parse::<Member>().is_err(), "{text}");
        }
    }

    #[test]
    fn scalars_lie_where_c_puts_them() {
        let member: Member = "a 40 2 p{16}[2].w[3]".parse().unwrap();
        assert_eq!(member.offsets(2), [2, 4, 6, 18, 20, 22]);
        assert_eq!(member.scalars(), 6);
        assert!(member.is_sound(2) && !member.is_sound(16));
        assert!(!"a 40 39 w".parse::<Member>().unwrap().is_sound(2));
        assert!(!"a 40 0 w[18446744073709551615][3]".parse::<Member>().unwrap().is_sound(2));
        assert!(!"a 1099511627776 0 w".parse::<Member>().unwrap().is_sound(2));
        assert!(!"a 40 0 w[0]".parse::<Member>().unwrap().is_sound(2));
    }
}
