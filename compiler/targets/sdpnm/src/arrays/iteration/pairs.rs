//! Two products of 16 bits that are added or subtracted are one operation (legalisation, SDPNM paper,
//! section 3.3): a PE multiplies complex numbers, of which the real part is re * re - im * im, that of the
//! conjugate re * re + im * im, and the imaginary part re * im + im * re. Factors go in pairs then, a half of
//! a word each: neighbours in memory are loaded at once, global registers and constants hold two, and what
//! several products share is joined by `cat`.

use std::collections::{BTreeMap, BTreeSet};

use nbcc_isa_sdpnm::config::{Opcode, Options, Part, Width};

use super::body::{Body, Global, Node, Numbers, Operand, Order};

/// Two factors as the halves of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Pack {
    /// What lies side by side in memory, as many iterations before the one that reads it.
    Loaded { low: usize, high: usize, apart: i64 },
    /// Two global registers.
    Global(usize, usize),
    /// Two constants.
    Immediate(i32),
    /// Results that an operation puts together: each of as many iterations before it.
    Joined { low: (usize, u32), high: (usize, u32) },
}

/// A pack, and of how many iterations before it is read.
type Read = (Pack, u32);

/// A product in a sum.
#[derive(Clone, Copy, Debug)]
struct Leaf {
    product: usize,
    /// The operation that adds it, and whether as in2.
    at: (usize, bool),
    is_negative: bool,
    /// Sums between it and the whole one.
    depth: u32,
}

/// Two products that become one operation.
#[derive(Clone, Copy, Debug)]
struct Pair {
    /// Where it comes in, and what goes.
    stays: Leaf,
    goes: Leaf,
    op: Opcode,
    part: Part,
    packs: [Read; 2],
}

/// Makes one operation of two products wherever that takes fewer.
pub fn run(body: &mut Body) -> Numbers {
    let mut pairs: Vec<Pair> = Vec::new();
    for leaves in sums(body) {
        pairs.extend(matched(body, &leaves));
    }
    // Of what only one product reads, joining takes as many operations as it saves.
    let joined = |pairs: &[Pair]| {
        let mut times: BTreeMap<Pack, u32> = BTreeMap::new();
        for (pack, _) in pairs.iter().flat_map(|pair| pair.packs) {
            if matches!(pack, Pack::Joined { .. }) {
                *times.entry(pack).or_default() += 1;
            }
        }
        times
    };
    loop {
        let times = joined(&pairs);
        let before = pairs.len();
        pairs.retain(|pair| pair.packs.iter().any(|(pack, _)| times.get(pack) != Some(&1)));
        if pairs.len() == before {
            break;
        }
    }
    let mut made: BTreeMap<Pack, Operand> = BTreeMap::new();
    for pair in &pairs {
        let [in1, in2] = pair.packs.map(|read| word(body, &mut made, read));
        let product = &body.nodes[pair.stays.product];
        let number = body.nodes.len();
        let node = Node {
            op: pair.op,
            options: Options { part: pair.part, ..Options::default() },
            in1,
            in2,
            name: format!("{}{number}", pair.op.mnemonic()),
            ..product.clone()
        };
        body.nodes.push(node);
        *side(body, pair.stays.at) = Operand::node(number);
        *side(body, pair.goes.at) = Operand::None;
    }
    narrow(body, &made);
    for pair in &pairs {
        forward(body, pair.goes.at.0);
    }
    join(body);
    body.sweep()
}

fn side(body: &mut Body, (node, is_second): (usize, bool)) -> &mut Operand {
    let node = &mut body.nodes[node];
    if is_second { &mut node.in2 } else { &mut node.in1 }
}

/// The products of each sum that has several.
fn sums(body: &Body) -> Vec<Vec<Leaf>> {
    let n = body.nodes.len();
    // Who reads the word of an operation, of which iteration; and whether somebody reads its bit.
    let mut users: Vec<Vec<(usize, u32)>> = vec![Vec::new(); n];
    let mut has_bit = vec![false; n];
    for (user, node) in body.nodes.iter().enumerate() {
        for operand in [node.in1, node.in2] {
            if let Operand::Node { node, distance } = operand {
                users[node].push((user, distance));
            }
        }
        for bit in [node.in3, node.condition].into_iter().flatten() {
            has_bit[bit] = true;
        }
    }
    let is_sum = |number: usize| {
        let node = &body.nodes[number];
        matches!(node.op, Opcode::Add | Opcode::Sub)
            && node.in3.is_none()
            && node.condition.is_none()
            && !has_bit[number]
    };
    // What only a sum of its iteration reads.
    let is_part = |number: usize| {
        let node = &body.nodes[number];
        let is_read_once = matches!(users[number][..], [(user, 0)] if is_sum(user));
        let is_bare = node.initial.is_none() && node.export.is_none() && node.ahead == 0;
        is_read_once && is_bare && !has_bit[number] && node.condition.is_none()
    };
    let mut found = Vec::new();
    for root in (0..n).filter(|&node| is_sum(node) && !is_part(node)) {
        let mut leaves = Vec::new();
        let mut work = vec![(root, false, 0)];
        while let Some((sum, is_negative, depth)) = work.pop() {
            let node = &body.nodes[sum];
            let sides = [(node.in1, false), (node.in2, true)];
            for (operand, is_second) in sides.into_iter().rev() {
                let Operand::Node { node: part, distance: 0 } = operand else { continue };
                if !is_part(part) {
                    continue;
                }
                let is_negative = is_negative != (is_second && node.op == Opcode::Sub);
                if is_sum(part) {
                    work.push((part, is_negative, depth + 1));
                } else if is_product(&body.nodes[part]) {
                    leaves.push(Leaf { product: part, at: (sum, is_second), is_negative, depth });
                }
            }
        }
        // In the order of the source, in which neighbours have neighbours as factors.
        leaves.sort_by_key(|leaf| leaf.product);
        if leaves.len() > 1 {
            found.push(leaves);
        }
    }
    found
}

/// Whether it is a whole product of signed low halves.
fn is_product(node: &Node) -> bool {
    node.op == Opcode::MultS && node.options == Options::default()
}

/// The pairs that products of a sum make: each product with the first one that fits best.
fn matched(body: &Body, leaves: &[Leaf]) -> Vec<Pair> {
    let mut taken = vec![false; leaves.len()];
    let mut pairs = Vec::new();
    for most in 0..=2 {
        for a in 0..leaves.len() {
            let fits = |b: usize| {
                let free = b != a && !taken[b];
                free.then(|| pair(body, leaves[a], leaves[b], most).map(|pair| (b, pair)))?
            };
            if taken[a] {
                continue;
            }
            let found = (a + 1..leaves.len()).find_map(fits);
            if let Some((b, pair)) = found {
                (taken[a], taken[b]) = (true, true);
                pairs.push(pair);
            }
        }
    }
    pairs
}

/// Two products as one operation, with so many packs at most that an operation joins.
fn pair(body: &Body, a: Leaf, b: Leaf, most: usize) -> Option<Pair> {
    // What is subtracted is the high half.
    let (x, y) = if a.is_negative && !b.is_negative { (b, a) } else { (a, b) };
    let factors = |leaf: Leaf| [body.nodes[leaf.product].in1, body.nodes[leaf.product].in2];
    let ([x1, x2], [y1, y2]) = (factors(x), factors(y));
    let is_difference = x.is_negative != y.is_negative;
    let is_joined = |read: &Read| matches!(read.0, Pack::Joined { .. });
    let mut ways = Vec::new();
    for (y1, y2) in [(y1, y2), (y2, y1)] {
        let op = if is_difference { Opcode::CMult } else { Opcode::Mcc };
        ways.push(((x1, y1), (x2, y2), op, Part::Real));
        if !is_difference {
            ways.push(((y1, x1), (y2, x2), op, Part::Real));
            ways.push(((x1, y1), (y2, x2), Opcode::CMult, Part::Imaginary));
            ways.push(((y1, x1), (x2, y2), Opcode::CMult, Part::Imaginary));
        }
    }
    let (stays, goes) = match is_difference {
        // In the place of the one that is not subtracted.
        true => (x, y),
        false if a.depth <= b.depth => (a, b),
        false => (b, a),
    };
    ways.into_iter().find_map(|(first, second, op, part)| {
        let packs = [pack(body, first.0, first.1)?, pack(body, second.0, second.1)?];
        let fits = packs.iter().filter(|read| is_joined(read)).count() <= most;
        fits.then_some(Pair { stays, goes, op, part, packs })
    })
}

/// How two factors come to be the halves of a word.
fn pack(body: &Body, low: Operand, high: Operand) -> Option<Read> {
    match (low, high) {
        (Operand::Immediate(low), Operand::Immediate(high)) => {
            Some((Pack::Immediate((low & 0xffff) | high << 16), 0))
        }
        (Operand::Global(low), Operand::Global(high)) => {
            let is_value = |number: usize| matches!(body.globals[number], Global::Value(_));
            (is_value(low) && is_value(high)).then_some((Pack::Global(low, high), 0))
        }
        (Operand::Node { node: low, distance: before }, Operand::Node { node: high, distance }) => {
            let apart = i64::from(before) - i64::from(distance);
            if is_beside(body, (low, before), (high, distance)) {
                return Some((Pack::Loaded { low, high, apart }, distance));
            }
            let both = before.min(distance);
            let runs = |node: usize, distance: u32| {
                distance == 0
                    || (body.nodes[node].op == Opcode::Load
                        && u32::from(body.nodes[node].ahead) >= distance)
            };
            let pack = Pack::Joined { low: (low, before - both), high: (high, distance - both) };
            // Before the first iteration they are zero, and so is what joins them.
            let rests = is_zero_before(body, low) && is_zero_before(body, high);
            let runs_ahead = both == 0 || rests || (runs(low, before) && runs(high, distance));
            (runs_ahead && (low, before) != (high, distance)).then_some((pack, both))
        }
        _ => None,
    }
}

/// Whether an operation puts out zero before the first iteration.
fn is_zero_before(body: &Body, number: usize) -> bool {
    let node = &body.nodes[number];
    let is_zero = |number: usize| body.globals[number] == Global::Constant(0);
    node.ahead == 0 && node.initial.is_some_and(is_zero)
}

/// Whether two loads, of as many iterations before, take elements that lie side by side, and one load
/// of both keeps the order of accesses.
fn is_beside(body: &Body, low: (usize, u32), high: (usize, u32)) -> bool {
    let (a, b) = (&body.nodes[low.0], &body.nodes[high.0]);
    let is_half = |node: &Node| {
        node.op == Opcode::Load
            && matches!(node.memory.width, Width::I16 | Width::U16)
            && node.condition.is_none()
            && node.initial.is_none()
    };
    if !is_half(a) || !is_half(b) || a.in1 != b.in1 || a.memory.stride != b.memory.stride {
        return false;
    }
    let at = |node: &Node, distance: u32| {
        i64::from(node.memory.offset) - i64::from(node.memory.stride) * i64::from(distance)
    };
    let is_fixed = matches!(a.in1, Operand::Global(_) | Operand::None);
    let is_same_time = low.1 == high.1;
    // Where elements descend, the last load of a pair that is read later would reach further.
    let stays_inside = high.1 == 0 || b.memory.stride >= 0;
    let apart = i64::from(low.1) - i64::from(high.1);
    let keeps_order = body.orders.iter().all(|order| moved(order, low.0, apart).is_some());
    // What waits for a store of its iteration must not make the other one wait, on which that store may
    // depend.
    let waits_for = |node: usize, apart: i64| -> BTreeSet<usize> {
        let comes_first = |order: &&Order| order.to == node && moved(order, node, apart) == Some(0);
        body.orders.iter().filter(comes_first).map(|order| order.from).collect()
    };
    let keeps_order = keeps_order && waits_for(low.0, apart) == waits_for(high.0, 0);
    (is_fixed || is_same_time) && at(a, low.1) + 2 == at(b, high.1) && stays_inside && keeps_order
}

/// The iterations of an order when one of its ends runs `apart` iterations later; `None` where there is
/// no such order.
fn moved(order: &Order, node: usize, apart: i64) -> Option<u32> {
    let later = |is_end: bool| if is_end { apart } else { 0 };
    let distance = i64::from(order.distance) + later(order.to == node) - later(order.from == node);
    u32::try_from(distance).ok()
}

/// The word of a pack.
fn word(body: &mut Body, made: &mut BTreeMap<Pack, Operand>, (pack, distance): Read) -> Operand {
    let known = made.get(&pack).copied();
    let operand = known.unwrap_or_else(|| {
        let operand = make(body, pack);
        made.insert(pack, operand);
        operand
    });
    let Operand::Node { node, .. } = operand else { return operand };
    // It runs before the first iteration where its operands do.
    if body.nodes[node].initial.is_none() {
        let ahead = &mut body.nodes[node].ahead;
        *ahead = (*ahead).max(distance as u16);
    }
    Operand::Node { node, distance }
}

fn make(body: &mut Body, pack: Pack) -> Operand {
    let number = body.nodes.len();
    match pack {
        Pack::Immediate(value) => Operand::Immediate(value),
        Pack::Global(low, high) => {
            let [low, high] = [low, high].map(|number| match body.globals[number] {
                Global::Value(value) => value,
                _ => unreachable!("values are paired"),
            });
            body.globals.push(Global::Pair(low, high));
            Operand::Global(body.globals.len() - 1)
        }
        Pack::Loaded { low, high, apart } => {
            let mut node =
                Node { ahead: 0, name: format!("load{number}"), ..body.nodes[high].clone() };
            node.memory.width = Width::W32;
            node.memory.offset -= 2;
            body.nodes.push(node);
            let mut orders = Vec::new();
            for &order in &body.orders {
                for (end, apart) in [(low, apart), (high, 0)] {
                    let other = |node: usize| if node == end { number } else { node };
                    if order.from == end || order.to == end {
                        let distance = moved(&order, end, apart).expect("it was asked before");
                        let (from, to) = (other(order.from), other(order.to));
                        orders.push(Order { from, to, distance, ..order });
                    }
                }
            }
            body.orders.extend(orders);
            body.orders.sort();
            body.orders.dedup();
            Operand::node(number)
        }
        Pack::Joined { low, high } => {
            let span = body.nodes[low.0].span;
            let read = |(node, distance): (usize, u32)| Operand::Node { node, distance };
            let rests = is_zero_before(body, low.0) && is_zero_before(body, high.0);
            let initial = body.nodes[low.0].initial.filter(|_| rests);
            body.nodes.push(Node {
                in1: read(low),
                in2: read(high),
                initial,
                name: format!("cat{number}"),
                span,
                ..Node::new(Opcode::Cat)
            });
            Operand::node(number)
        }
    }
}

/// Products that are left take halves of what is loaded in pairs, where that runs early enough.
fn narrow(body: &mut Body, made: &BTreeMap<Pack, Operand>) {
    let mut halves: BTreeMap<usize, (usize, i64, bool)> = BTreeMap::new();
    for (pack, word) in made {
        if let (&Pack::Loaded { low, high, apart }, &Operand::Node { node, .. }) = (pack, word) {
            halves.insert(high, (node, 0, true));
            halves.entry(low).or_insert((node, apart, false));
        }
    }
    for number in 0..body.nodes.len() {
        if !is_product(&body.nodes[number]) {
            continue;
        }
        for is_second in [false, true] {
            let Operand::Node { node, distance } = *side(body, (number, is_second)) else {
                continue;
            };
            let Some(&(word, apart, is_high)) = halves.get(&node) else { continue };
            let distance = i64::from(distance) - apart;
            if !(0..=i64::from(body.nodes[word].ahead)).contains(&distance) {
                continue;
            }
            *side(body, (number, is_second)) =
                Operand::Node { node: word, distance: distance as u32 };
            let options = &mut body.nodes[number].options;
            *(if is_second { &mut options.high2 } else { &mut options.high1 }) = is_high;
        }
    }
}

/// Loads side by side that only products read are one, of which they take the halves.
fn join(body: &mut Body) {
    let mut is_factor: Vec<bool> =
        body.nodes.iter().map(|node| node.op == Opcode::Load && node.export.is_none()).collect();
    for node in &body.nodes {
        let halves = [
            node.options.high1 || node.options.unsigned1,
            node.options.high2 || node.options.unsigned2,
        ];
        for (operand, is_other) in [node.in1, node.in2].into_iter().zip(halves) {
            if let Operand::Node { node: from, .. } = operand {
                is_factor[from] &= node.op == Opcode::MultS && !is_other;
            }
        }
        node.in3.iter().chain(&node.condition).for_each(|&bit| is_factor[bit] = false);
    }
    let mut loads: Vec<usize> = (0..body.nodes.len()).filter(|&node| is_factor[node]).collect();
    loads.sort_by_key(|&load| body.nodes[load].memory.offset);
    let mut halves: BTreeMap<usize, (usize, bool)> = BTreeMap::new();
    for at in 0..loads.len() {
        let low = loads[at];
        if halves.contains_key(&low) {
            continue;
        }
        let fits = |&&high: &&usize| {
            let (a, b) = (&body.nodes[low], &body.nodes[high]);
            // Before the first iteration the lower one reaches furthest.
            let stays_inside = a.ahead == b.ahead || (a.memory.stride > 0 && a.ahead > b.ahead);
            !halves.contains_key(&high) && stays_inside && is_beside(body, (low, 0), (high, 0))
        };
        if let Some(&high) = loads[at + 1..].iter().find(fits) {
            let ahead = body.nodes[low].ahead;
            let Operand::Node { node, .. } = make(body, Pack::Loaded { low, high, apart: 0 })
            else {
                continue;
            };
            body.nodes[node].ahead = ahead;
            halves.insert(low, (node, false));
            halves.insert(high, (node, true));
        }
    }
    for node in &mut body.nodes {
        let Node { in1, in2, options, .. } = node;
        for (operand, high) in [(in1, &mut options.high1), (in2, &mut options.high2)] {
            if let Operand::Node { node: from, .. } = operand
                && let Some(&(word, is_high)) = halves.get(from)
            {
                (*from, *high) = (word, is_high);
            }
        }
    }
}

/// What reads a sum of one term reads the term.
fn forward(body: &mut Body, sum: usize) {
    let node = &body.nodes[sum];
    let term = match (node.op, node.in1, node.in2) {
        (Opcode::Add, Operand::None, term) | (_, term, Operand::None) => term,
        _ => return,
    };
    if node.initial.is_some() || node.export.is_some() {
        return;
    }
    let reads = |operand: Operand| operand == Operand::node(sum);
    let is_node = matches!(term, Operand::Node { .. });
    // A context has one constant.
    let fits = |node: &Node| {
        (!reads(node.in1) || !matches!(node.in2, Operand::Immediate(_)))
            && (!reads(node.in2) || !matches!(node.in1, Operand::Immediate(_)))
            && matches!(node.op, Opcode::Add | Opcode::Sub)
    };
    let mut readers = body.nodes.iter().filter(|node| reads(node.in1) || reads(node.in2));
    if !is_node && !readers.all(fits) {
        return;
    }
    for node in &mut body.nodes {
        for operand in [&mut node.in1, &mut node.in2] {
            if reads(*operand) {
                *operand = term;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use nbcc_analysis::Affine;
    use nbcc_ir::{Mem, Value};
    use nbcc_isa_sdpnm::config::{Memory, State};

    use super::*;

    fn node(body: &mut Body, op: Opcode, in1: Operand, in2: Operand) -> Operand {
        body.nodes.push(Node { in1, in2, ..Node::new(op) });
        Operand::node(body.nodes.len() - 1)
    }

    fn load(body: &mut Body, base: usize, offset: i32) -> Operand {
        let memory = Memory { width: Width::I16, offset, stride: 2 };
        let (op, in1) = (Opcode::Load, Operand::Global(base));
        body.nodes.push(Node { in1, memory, ..Node::new(op) });
        Operand::node(body.nodes.len() - 1)
    }

    /// A body of two objects and as many values.
    fn body(values: u32) -> Body {
        let object = |mem| Global::Address(Mem::from_u32(mem), Affine::default(), 2);
        let values = (0..values).map(|value| Global::Value(Value::from_u32(value)));
        Body {
            globals: [object(0), object(1)].into_iter().chain(values).collect(),
            ..Body::default()
        }
    }

    fn count(body: &Body, op: Opcode) -> usize {
        body.nodes.iter().filter(|node| node.op == op).count()
    }

    /// What a body stores in an iteration, where an element of memory and a register are what `word`
    /// and `global` say; distances are 0.
    fn stored(body: &Body, word: &dyn Fn(usize, i32) -> u32, global: &dyn Fn(usize) -> u32) -> u32 {
        fn value(
            body: &Body,
            operand: Operand,
            word: &dyn Fn(usize, i32) -> u32,
            global: &dyn Fn(usize) -> u32,
        ) -> u32 {
            let number = match operand {
                Operand::Node { node, distance: 0 } => node,
                Operand::Global(number) => return global(number),
                Operand::Immediate(value) => return value as u32,
                Operand::None => return 0,
                other => panic!("{other:?}"),
            };
            let node = &body.nodes[number];
            if let (Opcode::Load, Operand::Global(base)) = (node.op, node.in1) {
                let low = word(base, node.memory.offset);
                return match node.memory.width {
                    Width::W32 => low & 0xffff | word(base, node.memory.offset + 2) << 16,
                    width => width.extend(low),
                };
            }
            let [a, b] = [node.in1, node.in2].map(|operand| value(body, operand, word, global));
            node.op.evaluate(&node.options, a, b, None, &mut State::default()).0
        }
        let store = body.nodes.iter().find(|node| node.op == Opcode::Store).expect("a store");
        value(body, store.in2, word, global)
    }

    #[test]
    fn products_of_neighbours_and_registers_are_one() {
        let mut body = body(4);
        let mut sum = Operand::Immediate(1 << 14);
        for tap in 0..4 {
            let x = load(&mut body, 0, 2 * tap);
            let product = node(&mut body, Opcode::MultS, x, Operand::Global(2 + tap as usize));
            sum = node(&mut body, Opcode::Add, sum, product);
        }
        node(&mut body, Opcode::Store, Operand::Global(1), sum);
        let samples = |_: usize, offset: i32| [40_000, 3, 65_000, 32_768][offset as usize / 2];
        let taps: [u32; 4] = [u32::MAX, 1234, 32_768, 32_768];
        let before = stored(&body, &samples, &|number| taps[number - 2]);
        run(&mut body);
        assert_eq!(count(&body, Opcode::Mcc), 2);
        assert_eq!(count(&body, Opcode::Add), 2);
        assert_eq!(count(&body, Opcode::Load), 2);
        let globals = body.globals.clone();
        let global = |number: usize| match globals[number] {
            Global::Pair(low, high) => {
                taps[low.as_u32() as usize] & 0xffff | taps[high.as_u32() as usize] << 16
            }
            _ => panic!("no value is left"),
        };
        assert_eq!(stored(&body, &samples, &global), before);
    }

    #[test]
    fn a_difference_of_products_is_the_real_part() {
        let mut body = body(0);
        let mut factor = |offset| load(&mut body, 0, offset);
        let [ar, ai, br, bi] = [factor(0), factor(2), factor(4), factor(6)];
        let first = node(&mut body, Opcode::MultS, ar, br);
        let second = node(&mut body, Opcode::MultS, bi, ai);
        let sum = node(&mut body, Opcode::Sub, first, second);
        node(&mut body, Opcode::Store, Operand::Global(1), sum);
        let samples = |_: usize, offset: i32| [40_000, 32_768, 999, 32_768][offset as usize / 2];
        let before = stored(&body, &samples, &|_| 0);
        run(&mut body);
        assert_eq!((count(&body, Opcode::CMult), count(&body, Opcode::MultS)), (1, 0));
        assert_eq!(stored(&body, &samples, &|_| 0), before);
    }

    #[test]
    fn a_store_between_keeps_loads_apart() {
        let mut body = body(2);
        let x = load(&mut body, 0, 0);
        let y = load(&mut body, 0, 2);
        let first = node(&mut body, Opcode::MultS, x, Operand::Global(2));
        let second = node(&mut body, Opcode::MultS, y, Operand::Global(3));
        let sum = node(&mut body, Opcode::Add, first, second);
        node(&mut body, Opcode::Store, Operand::Global(0), sum);
        // The store follows the first load of an iteration before, read with one of this iteration.
        body.nodes[2].in1 = Operand::Node { node: 0, distance: 1 };
        body.nodes[0].memory.offset = 2;
        body.nodes[0].ahead = 1;
        body.orders.push(Order { from: 0, to: 5, distance: 0, more: 0 });
        run(&mut body);
        let is_whole = |node: &Node| node.op == Opcode::Load && node.memory.width == Width::W32;
        assert!(!body.nodes.iter().any(is_whole));
    }
}
