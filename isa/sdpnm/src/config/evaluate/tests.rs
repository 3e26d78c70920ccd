//! The operations against arithmetic that is written another way.

use super::*;

/// Numbers at and around the ends of ranges of 8, 16 and 32 bits.
fn corners() -> Vec<u32> {
    let mut words: Vec<u32> = Vec::new();
    for base in [0_u32, 0x7f, 0x80, 0x7fff, 0x8000, 0xffff, 0x1_0000, 0x7fff_ffff, 0x8000_0000] {
        words.extend([base.wrapping_sub(1), base, base.wrapping_add(1), !base]);
    }
    words.extend([0x1234_5678, 0x8000_7fff, 0x7fff_8000, 0x8000_8000, 0xdead_beef]);
    words
}

fn pairs() -> impl Iterator<Item = (u32, u32)> {
    corners().into_iter().flat_map(|a| corners().into_iter().map(move |b| (a, b)))
}

fn run(op: Opcode, options: Options, in1: u32, in2: u32, in3: Option<bool>) -> (u32, bool) {
    op.evaluate(&options, in1, in2, in3, &mut State::default())
}

fn word(op: Opcode, options: Options, in1: u32, in2: u32) -> u32 {
    run(op, options, in1, in2, None).0
}

/// The low and the high half, signed, by arithmetic instead of shifts.
fn lanes(word: u32) -> [i64; 2] {
    let signed = |half: u32| i64::from(half) - if half >= 0x8000 { 0x1_0000 } else { 0 };
    [signed(word % 0x1_0000), signed(word / 0x1_0000)]
}

/// A number in so many bits, as their value.
fn modulo(number: i64, bits: u32) -> u32 {
    number.rem_euclid(1 << bits) as u32
}

fn joined(low: i64, high: i64) -> u32 {
    modulo(low, 16) + modulo(high, 16) * 0x1_0000
}

/// Wrapped to 32 bits, then divided by a power of two, rounding down.
fn scaled(number: i64, scale: u32) -> i64 {
    let wrapped = (number + (1 << 31)).rem_euclid(1 << 32) - (1 << 31);
    wrapped.div_euclid(1 << scale)
}

fn product(a: [i64; 2], b: [i64; 2]) -> [i64; 2] {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}

#[test]
fn sums_and_differences_chain_to_64_bits() {
    let plain = Options::default();
    for ((a, b), (c, d)) in pairs().zip(pairs().skip(77)) {
        let (x, y) = (u64::from(c) << 32 | u64::from(a), u64::from(d) << 32 | u64::from(b));
        for op in [Opcode::Add, Opcode::Sub] {
            let (low, bit) = run(op, plain, a, b, None);
            let (high, last) = run(op, plain, c, d, Some(bit));
            let (want, flag) = match op {
                Opcode::Add => (x.wrapping_add(y), x.checked_add(y).is_none()),
                _ => (x.wrapping_sub(y), x >= y),
            };
            assert_eq!((u64::from(high) << 32 | u64::from(low), last), (want, flag), "{op:?}");
        }
    }
}

#[test]
fn bits_of_cmp_are_the_four_orders() {
    for (a, b) in pairs() {
        for unsigned1 in [false, true] {
            let order = match unsigned1 {
                true => a.cmp(&b),
                false => (a as i32).cmp(&(b as i32)),
            };
            let cmp = |larger, x, y| {
                let options = Options { larger, unsigned1, ..Options::default() };
                run(Opcode::Cmp, options, x, y, None)
            };
            assert_eq!(cmp(false, a, b).1, order.is_lt());
            assert_eq!(cmp(true, a, b).1, order.is_ge());
            assert_eq!(cmp(false, b, a).1, order.is_gt());
            assert_eq!(cmp(true, b, a).1, order.is_le());
            let (least, most) = if order.is_lt() { (a, b) } else { (b, a) };
            assert_eq!((cmp(false, a, b).0, cmp(true, a, b).0), (least, most));
        }
    }
}

#[test]
fn words_bit_by_bit() {
    let plain = Options::default();
    let bitwise = |f: &dyn Fn(u32, u32) -> u32, a: u32, b: u32| {
        (0..32).map(|i| f(a >> i & 1, b >> i & 1) << i).sum::<u32>()
    };
    for (a, b) in pairs() {
        assert_eq!(word(Opcode::And, plain, a, b), bitwise(&|x, y| x * y, a, b));
        assert_eq!(word(Opcode::Or, plain, a, b), bitwise(&|x, y| x.max(y), a, b));
        assert_eq!(word(Opcode::Xor, plain, a, b), bitwise(&|x, y| (x + y) % 2, a, b));
        assert_eq!(run(Opcode::Mux, plain, a, b, Some(true)).0, a);
        assert_eq!(run(Opcode::Mux, plain, a, b, Some(false)).0, b);
        assert_eq!(run(Opcode::Xor, plain, a, b, None).1, a == b);
        assert_eq!(word(Opcode::Pass, plain, a, b), a);
        for bit in [false, true] {
            assert_eq!(run(Opcode::Pass, plain, a, b, Some(bit)), (a, bit));
        }
    }
}

#[test]
fn shifts_multiply_and_divide_by_powers_of_two() {
    for (a, count) in corners().into_iter().flat_map(|a| (0..70).map(move |c| (a, c))) {
        let by = 1_i64 << (count % 32);
        let (whole, signed) = (i64::from(a), i64::from(a as i32));
        let plain = Options::default();
        assert_eq!(word(Opcode::Lls, plain, a, count), modulo(whole * by, 32));
        assert_eq!(word(Opcode::LSftS, plain, a, count), modulo(whole * by, 32));
        assert_eq!(word(Opcode::Lrs, plain, a, count), modulo(whole / by, 32));
        assert_eq!(word(Opcode::RSftS, plain, a, count), modulo(signed.div_euclid(by), 32));
        let (each, by) = (Options { halves: true, ..plain }, 1_i64 << (count % 16));
        let [low, high] = lanes(a);
        assert_eq!(word(Opcode::LSftS, each, a, count), joined(low * by, high * by));
        let right = joined(low.div_euclid(by), high.div_euclid(by));
        assert_eq!(word(Opcode::RSftS, each, a, count), right);
    }
}

#[test]
fn bits_are_reversed_twice_to_themselves() {
    for scale in 0..32_u8 {
        let options = Options { scale, ..Options::default() };
        for a in corners() {
            let kept = a & ((1_u32 << scale) - 1);
            let once = word(Opcode::Bitrev, options, a, 0);
            let text: String =
                format!("{kept:032b}")[32 - usize::from(scale)..].chars().rev().collect();
            assert_eq!(once, u32::from_str_radix(&text, 2).unwrap_or(0));
            assert_eq!(word(Opcode::Bitrev, options, once, 0), kept);
        }
    }
}

#[test]
fn halves_are_put_together_and_added() {
    for (a, b) in pairs() {
        let ([ar, ai], [br, bi]) = (lanes(a), lanes(b));
        for (high1, high2) in [(false, false), (false, true), (true, false), (true, true)] {
            let options = Options { high1, high2, ..Options::default() };
            let (x, y) = ([ar, ai][usize::from(high1)], [br, bi][usize::from(high2)]);
            assert_eq!(word(Opcode::Cat, options, a, b), joined(x, y));
        }
        let (plain, turned) = (Options::default(), Options { halves: true, ..Options::default() });
        assert_eq!(word(Opcode::AddSpl, plain, a, b), joined(ar + br, ai + bi));
        assert_eq!(word(Opcode::SubSpl, plain, a, b), joined(ar - br, ai - bi));
        // j (br + j bi) = -bi + j br
        assert_eq!(word(Opcode::AddSpl, turned, a, b), joined(ar - bi, ai + br));
        assert_eq!(word(Opcode::SubSpl, turned, a, b), joined(ar + bi, ai - br));
    }
}

#[test]
fn products_of_halves() {
    for (a, b) in pairs() {
        for bits in 0..16 {
            let bit = |at: u32| bits >> at & 1 == 1;
            let options = Options {
                high1: bit(0),
                high2: bit(1),
                unsigned1: bit(2),
                unsigned2: bit(3),
                scale: (a % 32) as u8,
                ..Options::default()
            };
            let half = |word: u32, high: bool, unsigned: bool| {
                let signed = lanes(word)[usize::from(high)];
                if unsigned { signed.rem_euclid(1 << 16) } else { signed }
            };
            let x = half(a, options.high1, options.unsigned1);
            let y = half(b, options.high2, options.unsigned2);
            let want = modulo((x * y).div_euclid(1 << options.scale), 32);
            assert_eq!(word(Opcode::MultS, options, a, b), want);
            let x = half(a, options.high1, false);
            let square = modulo((x * x).div_euclid(1 << options.scale), 32);
            let only = Options { high2: false, unsigned1: false, unsigned2: false, ..options };
            assert_eq!(word(Opcode::Square, only, a, b), square);
        }
    }
}

#[test]
fn complex_products_and_their_sums() {
    let parts = [Part::Packed, Part::Real, Part::Imaginary];
    for (number, (a, b)) in pairs().enumerate() {
        let scale = (number % 32) as u8;
        let part = parts[number % 3];
        let options = Options { scale, part, ..Options::default() };
        let out = |re: i64, im: i64| {
            let (re, im) = (scaled(re, scale.into()), scaled(im, scale.into()));
            match part {
                Part::Packed => joined(re, im),
                Part::Real => modulo(re, 32),
                Part::Imaginary => modulo(im, 32),
            }
        };
        let conjugate = |[re, im]: [i64; 2]| [re, -im];
        let plain = product(lanes(a), lanes(b));
        let other = product(lanes(a), conjugate(lanes(b)));
        assert_eq!(word(Opcode::CMult, options, a, b), out(plain[0], plain[1]));
        assert_eq!(word(Opcode::Mcc, options, a, b), out(other[0], other[1]));
        for (op, [re, im], sign) in [
            (Opcode::Cmac, plain, 1),
            (Opcode::Cmsub, plain, -1),
            (Opcode::Mcca, other, 1),
            (Opcode::Mccs, other, -1),
        ] {
            let mut state = State::default();
            for times in 1..4 {
                let (value, zero) = op.evaluate(&options, a, b, None, &mut state);
                let want = out(sign * times * re, sign * times * im);
                assert_eq!((value, zero), (want, want == 0), "{op:?} {a:#x} {b:#x}");
            }
            let (value, _) = op.evaluate(&options, a, b, Some(true), &mut state);
            assert_eq!(value, out(sign * re, sign * im), "{op:?} begins anew");
        }
    }
}

#[test]
fn filters_multiply_by_their_coefficient() {
    for (number, (a, b)) in pairs().enumerate() {
        let coefficient = a.rotate_left(7) ^ b;
        let scale = (number % 16) as u8;
        let by = lanes(coefficient);
        let ([ar, ai], [br, bi]) = (lanes(a), lanes(b));
        let options = Options { coefficient, scale, ..Options::default() };
        let shifted = |number: i64| number.div_euclid(1 << scale);
        let want = modulo(i64::from(b) + shifted(ar * by[0]), 32);
        assert_eq!(word(Opcode::RFa, options, a, b), want);
        let high = Options { high1: true, ..options };
        let want = modulo(i64::from(b) + shifted(ai * by[0]), 32);
        assert_eq!(word(Opcode::RFa, high, a, b), want);
        let each = Options { halves: true, ..options };
        let want = joined(br + shifted(ar * by[0]), bi + shifted(ai * by[0]));
        assert_eq!(word(Opcode::RFa, each, a, b), want);

        let [re, im] = product([ar, ai], by);
        let want = joined(br + scaled(re, scale.into()), bi + scaled(im, scale.into()));
        assert_eq!(word(Opcode::CFa, options, a, b), want);

        let real = Options { part: Part::Real, ..options };
        let mut state = State::default();
        for times in 1..3 {
            let want = modulo(scaled(times * (ar + br) * by[0], scale.into()), 32);
            assert_eq!(Opcode::RFb.evaluate(&real, a, b, None, &mut state).0, want);
        }
        let sum = lanes(joined(ar + br, ai + bi));
        let [re, im] = product(sum, by);
        let want = joined(scaled(re, scale.into()), scaled(im, scale.into()));
        let (begin, mut state) = (Options { begin: true, ..options }, State::default());
        for _ in 0..2 {
            assert_eq!(Opcode::CFb.evaluate(&begin, a, b, None, &mut state).0, want);
        }
    }
}

#[test]
fn combs_look_an_iteration_back() {
    let options = Options { scale: 3, ..Options::default() };
    for (a, b) in pairs() {
        let after = |op: Opcode| {
            let mut state = State::default();
            op.evaluate(&options, a, 0, None, &mut state);
            op.evaluate(&options, b, 0, None, &mut state).0
        };
        let (x, y) = (i64::from(a), i64::from(b));
        assert_eq!(after(Opcode::Diff), modulo(y - x, 32));
        assert_eq!(after(Opcode::GainDiff), modulo(8 * y - x, 32));
        assert_eq!(after(Opcode::DiffGain), modulo(8 * (y - x), 32));
        assert_eq!(after(Opcode::SumGain), modulo(8 * (y + x), 32));
        assert_eq!(word(Opcode::GainAdd, options, a, b), modulo(8 * x + y, 32));
    }
}

/// All phases, against the symmetries and with a distance from the middle between two integers at
/// which the errors of a sine do not matter.
#[test]
fn sines_of_all_phases_are_exact() {
    for phase in 0..=u16::MAX {
        let exact = 32767.0 * (f64::from(phase) * std::f64::consts::PI / 32768.0).sin();
        let fraction = (exact - exact.floor() - 0.5).abs();
        assert!(fraction > 1e-8, "phase {phase} is too close to the middle");
        assert!((f64::from(sine(phase)) - exact).abs() < 0.5, "phase {phase}");
        assert_eq!(sine(phase.wrapping_add(1 << 15)), -sine(phase));
        assert_eq!(cosine(phase), sine((1_u16 << 14).wrapping_sub(phase)));
        for amplitude in [0_u16, 1, 0x7fff, 0x8000, 0xffff] {
            let in1 = u32::from(phase) << 16 | u32::from(amplitude);
            let amplitude = i64::from(amplitude as i16);
            let want = |by: i16| modulo(amplitude * i64::from(by), 32);
            let plain = Options::default();
            assert_eq!(word(Opcode::Sine, plain, in1, 0), want(sine(phase)));
            assert_eq!(word(Opcode::Cosine, plain, in1, 0), want(cosine(phase)));
        }
    }
}

#[test]
fn zero_bits_are_those_of_results_that_are_zero() {
    for &op in Opcode::ALL {
        for in3 in [None, Some(false), Some(true)] {
            let all = pairs().chain([(0, 0)]).all(|(a, b)| {
                let (word, bit) = run(op, Options::default(), a, b, in3);
                bit == (word == 0)
            });
            assert_eq!(all, op.has_zero_bit(in3.is_some()), "{} with {in3:?}", op.mnemonic());
        }
    }
}
