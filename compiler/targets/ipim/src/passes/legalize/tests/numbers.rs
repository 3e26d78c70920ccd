//! How far floats are from each other.

/// A float's place among all floats in order, with both zeros in the same place.
fn place(bits: u32) -> i64 {
    let magnitude = i64::from(bits & 0x7fff_ffff);
    if bits >> 31 == 0 { magnitude } else { -magnitude }
}

/// How many floats lie between two, one of them included. Infinity is next to the greatest. No
/// number is as far from a number as can be, and near any other.
pub fn ulps(a: u32, b: u32) -> u64 {
    match (f32::from_bits(a).is_nan(), f32::from_bits(b).is_nan()) {
        (false, false) => place(a).abs_diff(place(b)),
        (true, true) => 0,
        _ => u64::MAX,
    }
}

#[test]
fn ulps_are_counted_across_zero_and_to_infinity() {
    let ulps = |a: f32, b: f32| ulps(a.to_bits(), b.to_bits());
    assert_eq!(ulps(0.0, -0.0), 0);
    assert_eq!(ulps(1e-45, -1e-45), 2);
    assert_eq!(ulps(f32::MAX, f32::INFINITY), 1);
    assert_eq!(ulps(1.0, 1.0f32.next_up()), 1);
    assert_eq!(ulps(1.0, f32::NAN), u64::MAX);
}
