//! Where the threads of a warp are: paths that part at branches and meet again at the immediate
//! post-dominator, as on a SIMT stack (paper, section V-B; Fung et al., MICRO 2007). Unlike on a
//! stack any path may go ahead: where one waits for others of its warp, those are run first, and
//! threads that wait at a meeting point for one that waits for them are let go.

use smallvec::{SmallVec, smallvec};

use crate::Mask;

/// No meeting point.
pub const NEVER: u32 = u32::MAX;

const ROOT: u32 = u32::MAX;

/// Threads that are at one instruction together; or a meeting point, where they are expected.
#[derive(Clone, Copy, Debug)]
struct Path {
    /// The next instruction.
    pc: u32,
    /// The threads that are there.
    mask: Mask,
    /// Where they meet those of `parent`.
    reconverge: u32,
    /// The meeting point.
    parent: u32,
    /// Of a meeting point: the paths that have not come yet.
    expected: u32,
}

/// The paths of a warp.
#[derive(Clone, Debug)]
pub struct Paths {
    /// Most warps have few at a time: those stay with the warp.
    slots: SmallVec<[Path; 3]>,
    free: Vec<u32>,
    /// Paths that can go on; the last one is the current one.
    ready: SmallVec<[u32; 4]>,
    /// Paths that wait for something.
    blocked: Vec<u32>,
    live: Mask,
    changes: u64,
    /// Whether the current path is kept where it is.
    held: bool,
    /// Threads that were woken meanwhile.
    woken: Mask,
}

impl Paths {
    /// All threads of `mask` at `entry`.
    pub fn new(entry: u32, mask: Mask) -> Paths {
        let root = Path { pc: entry, mask, reconverge: NEVER, parent: ROOT, expected: 0 };
        Paths {
            slots: smallvec![root],
            free: Vec::new(),
            ready: if mask == 0 { SmallVec::new() } else { smallvec![0] },
            blocked: Vec::new(),
            live: mask,
            changes: 0,
            held: false,
            woken: 0,
        }
    }

    /// How often threads have parted, met, ended, waited or been woken.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Threads that have not ended.
    #[inline]
    pub fn live(&self) -> Mask {
        self.live
    }

    /// The current path: its next instruction, its threads, and its meeting point.
    #[inline]
    pub fn current(&self) -> Option<(u32, Mask, u32)> {
        let path = &self.slots[*self.ready.last()? as usize];
        Some((path.pc, path.mask, path.reconverge))
    }

    /// The waiting paths: next instruction and threads.
    pub fn waiting(&self) -> impl Iterator<Item = (u32, Mask)> + '_ {
        self.blocked.iter().map(|slot| {
            let path = &self.slots[*slot as usize];
            (path.pc, path.mask)
        })
    }

    #[inline]
    fn top(&mut self) -> &mut Path {
        let slot = *self.ready.last().expect("a warp has a path while it runs");
        &mut self.slots[slot as usize]
    }

    fn add(&mut self, path: Path) -> u32 {
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = path;
                slot
            }
            None => {
                self.slots.push(path);
                self.slots.len() as u32 - 1
            }
        }
    }

    /// The current path goes on at `pc`, which may be its meeting point.
    #[inline]
    pub fn go(&mut self, pc: u32) {
        self.top().pc = pc;
        self.settle();
    }

    /// Ends paths that have come to their meeting point, until the current one has not.
    #[inline]
    fn settle(&mut self) {
        while let Some(&slot) = self.ready.last() {
            let path = self.slots[slot as usize];
            if path.pc != path.reconverge || path.parent == ROOT {
                return;
            }
            self.ready.pop();
            self.slots[path.parent as usize].mask |= path.mask;
            self.leave(slot);
        }
    }

    /// A path is no more: its meeting point expects one less.
    fn leave(&mut self, slot: u32) {
        self.changes += 1;
        let mut slot = slot;
        loop {
            let parent = self.slots[slot as usize].parent;
            self.free.push(slot);
            if parent == ROOT {
                return;
            }
            let point = &mut self.slots[parent as usize];
            point.expected -= 1;
            if point.expected > 0 {
                return;
            }
            if point.mask != 0 {
                self.ready.push(parent);
                return;
            }
            slot = parent;
        }
    }

    /// The threads `taken` of the current path go on at `target`, the others at `next`; they meet
    /// at `reconverge`.
    pub fn branch(&mut self, taken: Mask, target: u32, next: u32, reconverge: u32) {
        let slot = *self.ready.last().expect("a warp has a path while it runs");
        let path = self.slots[slot as usize];
        let rest = path.mask & !taken;
        if rest == 0 || taken == 0 {
            return self.go(if rest == 0 { target } else { next });
        }
        self.changes += 1;
        self.ready.pop();
        let (parent, reconverge) = if reconverge == NEVER || reconverge == path.reconverge {
            // Both keep the meeting point of the path, which expects one more.
            self.free.push(slot);
            if path.parent != ROOT {
                self.slots[path.parent as usize].expected -= 1;
            }
            (path.parent, path.reconverge)
        } else {
            let point = &mut self.slots[slot as usize];
            (point.pc, point.mask, point.expected) = (reconverge, 0, 0);
            (slot, reconverge)
        };
        for (pc, mask) in [(next, rest), (target, taken)] {
            if parent != ROOT && pc == reconverge {
                self.slots[parent as usize].mask |= mask;
                continue;
            }
            if parent != ROOT {
                self.slots[parent as usize].expected += 1;
            }
            let slot = self.add(Path { pc, mask, reconverge, parent, expected: 0 });
            self.ready.push(slot);
        }
        if parent != ROOT && self.slots[parent as usize].expected == 0 {
            self.ready.push(parent);
        }
        self.settle();
    }

    /// Leaves `keep` of the current path; the other threads are a path of their own at `pc`.
    pub fn split(&mut self, keep: Mask, pc: u32) {
        let path = *self.top();
        let rest = path.mask & !keep;
        if rest == 0 {
            return;
        }
        self.top().mask = keep;
        if path.parent != ROOT {
            self.slots[path.parent as usize].expected += 1;
        }
        let slot = self.add(Path { pc, mask: rest, ..path });
        let below = self.ready.len() - 1;
        self.ready.insert(below, slot);
    }

    /// Threads of the current path end.
    pub fn exit(&mut self, lanes: Mask) {
        self.live &= !lanes;
        let path = self.top();
        path.mask &= !lanes;
        if path.mask == 0
            && let Some(slot) = self.ready.pop()
        {
            self.leave(slot);
            self.settle();
        }
    }

    /// The current path waits; it goes on at `pc` once it is woken.
    pub fn block(&mut self, pc: u32) {
        self.changes += 1;
        self.top().pc = pc;
        if let Some(slot) = self.ready.pop() {
            self.blocked.push(slot);
        }
        self.settle();
    }

    /// The current path stays the current one, with all that it becomes, until it is let go: others
    /// that are woken wait as long.
    pub fn hold(&mut self) {
        self.held = true;
    }

    /// Whether the current path is held.
    pub fn is_held(&self) -> bool {
        self.held
    }

    /// Ends what [`Paths::hold`] began.
    pub fn let_go(&mut self) {
        self.held = false;
        let woken = std::mem::take(&mut self.woken);
        if woken != 0 {
            self.wake(woken);
        }
    }

    /// All is as it was when `saved` was copied, except that what was woken since then is woken once
    /// the path is let go.
    pub fn restore(&mut self, saved: Paths) {
        let woken = self.woken;
        *self = Paths { held: true, woken, ..saved };
    }

    /// Paths with threads of `lanes` wait no longer.
    pub fn wake(&mut self, lanes: Mask) {
        if self.held {
            self.woken |= lanes;
            return;
        }
        let mut index = 0;
        while index < self.blocked.len() {
            let slot = self.blocked[index];
            if self.slots[slot as usize].mask & lanes != 0 {
                self.changes += 1;
                self.blocked.remove(index);
                self.ready.push(slot);
            } else {
                index += 1;
            }
        }
        self.settle();
    }

    /// Another path of the warp becomes the current one; threads that wait at a meeting point are
    /// let go where there is no other. Tells whether there was one.
    pub fn yield_to_others(&mut self) -> bool {
        if self.ready.len() > 1 {
            self.ready.rotate_right(1);
            self.settle();
            return true;
        }
        self.release()
    }

    /// Lets threads go that wait at a meeting point for others of their warp: the most recent
    /// ones. Tells whether there were any.
    pub fn release(&mut self) -> bool {
        // Only points that paths which run or wait lead to are in use.
        let mut point = None;
        for slot in self.ready.iter().chain(&self.blocked) {
            let mut at = self.slots[*slot as usize].parent;
            while at != ROOT {
                let path = &self.slots[at as usize];
                if path.mask != 0 {
                    point = Some(at);
                    break;
                }
                at = path.parent;
            }
        }
        let Some(point) = point else { return false };
        self.changes += 1;
        let path = self.slots[point as usize];
        self.slots[point as usize].mask = 0;
        if path.parent != ROOT {
            self.slots[path.parent as usize].expected += 1;
        }
        let slot = self.add(Path { expected: 0, ..path });
        self.ready.push(slot);
        self.settle();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An if-else within an if-else: threads meet in the order of the points.
    #[test]
    fn nested_branches_meet() {
        let mut p = Paths::new(0, 0xff);
        p.branch(0x0f, 10, 1, 20);
        assert_eq!(p.current(), Some((10, 0x0f, 20)));
        p.branch(0x03, 12, 11, 15);
        assert_eq!(p.current(), Some((12, 0x03, 15)));
        p.go(15);
        assert_eq!(p.current(), Some((11, 0x0c, 15)));
        p.go(15);
        assert_eq!(p.current(), Some((15, 0x0f, 20)));
        p.go(20);
        assert_eq!(p.current(), Some((1, 0xf0, 20)));
        p.go(20);
        assert_eq!(p.current(), Some((20, 0xff, NEVER)));
    }

    /// A loop that threads leave one by one takes no more slots than one iteration.
    #[test]
    fn loops_do_not_grow() {
        let mut p = Paths::new(0, u32::MAX);
        for lane in 0..31 {
            // Back to 0 unless it is this lane's turn.
            let staying = u32::MAX << (lane + 1);
            p.branch(staying, 0, 5, 5);
            assert_eq!(p.current(), Some((0, staying, 5)));
        }
        p.branch(0, 0, 5, 5);
        assert_eq!(p.current(), Some((5, u32::MAX, NEVER)));
        assert!(p.slots.len() <= 3, "{}", p.slots.len());
    }

    #[test]
    fn threads_that_end_are_not_waited_for() {
        let mut p = Paths::new(0, 0xf);
        p.branch(0x3, 10, 1, 20);
        p.exit(0x3);
        assert_eq!(p.current(), Some((1, 0xc, 20)));
        p.go(20);
        assert_eq!(p.current(), Some((20, 0xc, NEVER)));
        assert_eq!(p.live(), 0xc);
        p.branch(0x4, 30, 21, NEVER);
        p.exit(0x4);
        p.exit(0x8);
        assert_eq!((p.current(), p.live()), (None, 0));
    }

    /// All paths of a nested branch end: the point above is not waited for either.
    #[test]
    fn empty_points_vanish() {
        let mut p = Paths::new(0, 0xf);
        p.branch(0x3, 10, 1, 20);
        p.branch(0x1, 12, 11, 15);
        p.exit(0x1);
        p.exit(0x2);
        assert_eq!(p.current(), Some((1, 0xc, 20)));
        p.go(20);
        assert_eq!(p.current(), Some((20, 0xc, NEVER)));
    }

    /// One path waits: the other goes on, and those at the meeting point are let go.
    #[test]
    fn blocked_paths_let_others_go() {
        let mut p = Paths::new(0, 0xf);
        p.branch(0x3, 10, 1, 20);
        p.block(11);
        assert_eq!(p.current(), Some((1, 0xc, 20)));
        p.go(20);
        assert_eq!(p.current(), None);
        assert_eq!(p.waiting().collect::<Vec<_>>(), [(11, 0x3)]);
        assert!(p.release());
        assert_eq!(p.current(), Some((20, 0xc, NEVER)));
        p.block(21);
        assert!(!p.release());
        p.wake(0xf);
        assert_eq!(p.waiting().count(), 0);
        let mut seen = 0;
        while let Some((_, mask, _)) = p.current() {
            seen |= mask;
            p.exit(mask);
        }
        assert_eq!((seen, p.live()), (0xf, 0));
    }

    /// A path that is held stays the current one, also where it is put back.
    #[test]
    fn held_paths_are_not_pushed_aside() {
        let mut p = Paths::new(0, 0xf);
        p.branch(0x3, 10, 1, 20);
        p.block(11);
        let saved = p.clone();
        p.hold();
        p.branch(0x4, 5, 2, 7);
        p.wake(0x3);
        assert_eq!(p.current(), Some((5, 0x4, 7)));
        p.restore(saved);
        assert_eq!(p.current(), Some((1, 0xc, 20)));
        p.go(20);
        p.let_go();
        assert_eq!(p.current(), Some((11, 0x3, 20)));
        p.go(20);
        assert_eq!(p.current(), Some((20, 0xf, NEVER)));
    }

    #[test]
    fn splitting_keeps_the_meeting_point() {
        let mut p = Paths::new(0, 0xf);
        p.branch(0x3, 10, 1, 20);
        p.split(0x1, 11);
        assert_eq!(p.current(), Some((10, 0x1, 20)));
        p.go(20);
        assert_eq!(p.current(), Some((11, 0x2, 20)));
        p.go(20);
        p.go(20);
        assert_eq!(p.current(), Some((20, 0xf, NEVER)));
    }

    /// Random walks: no thread is lost or doubled, and all end.
    #[test]
    fn no_thread_is_lost() {
        let mut state = 99_u64;
        let mut random = move |n: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % n
        };
        for _ in 0..500 {
            let mut p = Paths::new(0, u32::MAX);
            for _ in 0..200 {
                let Some((pc, mask, reconverge)) = p.current() else {
                    if !p.release() {
                        p.wake(u32::MAX);
                    }
                    continue;
                };
                match random(8) {
                    0..3 => {
                        let taken = mask & random(1 << 32) as u32;
                        p.branch(taken, pc + 2, pc + 1, pc + 3 + random(3) as u32);
                    }
                    3..5 if reconverge != NEVER => p.go(reconverge),
                    5 => p.block(pc + 1),
                    6 => {
                        p.yield_to_others();
                    }
                    7 => p.split(mask & mask.wrapping_neg(), pc),
                    _ => p.go(pc + 1),
                }
                let mut seen = 0;
                let active = p.ready.iter().chain(&p.blocked);
                for slot in active {
                    let mask = p.slots[*slot as usize].mask;
                    assert_eq!(seen & mask, 0, "a thread is on two paths");
                    seen |= mask;
                }
            }
            let mut ended = 0;
            while p.live() != 0 {
                if let Some((_, mask, _)) = p.current() {
                    assert_eq!(ended & mask, 0);
                    ended |= mask;
                    p.exit(mask);
                } else if p.waiting().count() > 0 {
                    p.wake(u32::MAX);
                } else {
                    panic!("threads {:#x} are nowhere", p.live());
                }
            }
            assert_eq!(ended, u32::MAX);
        }
    }
}
