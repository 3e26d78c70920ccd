//! Copies that happen at once, as a sequence: what no other copy reads any more is written first,
//! and a cycle is opened with a register more (Boissinot, Darte, Rastello, Dupont de Dinechin,
//! Guillon, "Revisiting Out-of-SSA Translation", CGO 2009, algorithm 1).

use std::collections::BTreeMap;

use crate::VReg;

/// The sequence for copies `(to, from)`, with all targets different. `fresh` makes a register like
/// another one.
pub fn sequence(copies: &[(VReg, VReg)], mut fresh: impl FnMut(VReg) -> VReg) -> Vec<(VReg, VReg)> {
    let mut from_of: BTreeMap<VReg, VReg> = copies.iter().copied().collect();
    from_of.retain(|to, from| to != from);
    let mut readers: BTreeMap<VReg, u32> = BTreeMap::new();
    for from in from_of.values() {
        *readers.entry(*from).or_default() += 1;
    }
    let mut out = Vec::with_capacity(from_of.len());
    let unread = |readers: &BTreeMap<VReg, u32>, to: &VReg| readers.get(to).is_none_or(|&n| n == 0);
    let mut ready: Vec<VReg> = from_of.keys().copied().filter(|to| unread(&readers, to)).collect();
    loop {
        while let Some(to) = ready.pop() {
            let Some(from) = from_of.remove(&to) else { continue };
            out.push((to, from));
            if let Some(n) = readers.get_mut(&from) {
                *n -= 1;
                if *n == 0 && from_of.contains_key(&from) {
                    ready.push(from);
                }
            }
        }
        // Only cycles are left: the value of one target is kept, so that it may be written.
        let Some((&to, _)) = from_of.first_key_value() else { return out };
        let kept = fresh(to);
        out.push((kept, to));
        let mut moved = 0;
        for from in from_of.values_mut().filter(|from| **from == to) {
            *from = kept;
            moved += 1;
        }
        readers.insert(to, 0);
        readers.insert(kept, moved);
        ready.push(to);
    }
}

#[cfg(test)]
mod tests {
    use nbcc_testing::Rng;

    use super::*;

    #[test]
    fn sequences_do_what_copies_at_once_do() {
        for seed in 0..2000 {
            let mut rng = Rng::new(seed);
            let count = 1 + rng.below(8) as u32;
            let mut copies = Vec::new();
            for to in 0..count {
                if !rng.one_in(4) {
                    let from = rng.below(u64::from(count) + 2) as u32;
                    copies.push((VReg::from_u32(to), VReg::from_u32(from)));
                }
            }
            let mut next = 100;
            let done = sequence(&copies, |_| {
                next += 1;
                VReg::from_u32(next)
            });
            let mut values: BTreeMap<VReg, u32> =
                (0..count + 2).map(|n| (VReg::from_u32(n), n)).collect();
            for (to, from) in done {
                let value = values[&from];
                values.insert(to, value);
            }
            let wanted: BTreeMap<VReg, VReg> = copies.into_iter().collect();
            for n in 0..count + 2 {
                let reg = VReg::from_u32(n);
                assert_eq!(values[&reg], wanted.get(&reg).map_or(n, |from| from.as_u32()));
            }
        }
    }
}
