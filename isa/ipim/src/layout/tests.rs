//! Layouts: every element has a place of its own, and hostile ones are errors.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

fn machine() -> Machine {
    Machine::built_in("ipim")
}

fn image(extent: [u32; 2]) -> Buffer {
    Buffer {
        name: "in".into(),
        role: Role::Input,
        element: Element::F32,
        min: vec![0, 0],
        extent: extent.to_vec(),
        part_of: vec![],
        order: vec![],
        backwards: vec![],
        layout: Layout::Tiled(Tiled {
            grid: Grid {
                cubes: [2, 1],
                vaults: [2, 2],
                groups: [1, 2],
                engines: 4,
                strips: 2,
                rows: 3,
            },
            tile: [6, 8],
            origin: [-6, 0],
            ghost_columns: [1, 0],
            ghost_rows: [2, 1],
            beside: 0,
        }),
        base: 0x100,
    }
}

/// Worked out by hand from the description at the top of the file.
#[test]
fn locates_by_hand() {
    let buffer = image([100, 90]);
    buffer.validate(&machine()).unwrap();
    // Tile (1, 0): engine 1, strip 0; column 1 after a ghost column, row 2 after two.
    let height = 2 + 3 * 8 + 1;
    let column = 4 * 8 * height;
    assert_eq!(
        buffer.locate(&[0, 0]),
        Some(Location { cube: 0, vault: 0, pg: 0, pe: 1, address: 0x100 + column + 4 * 8 * 2 })
    );
    // x = 99 is 105 from the origin: tile 17, third in it; 17 = 1 + 4 * (0 + 2 * (0 + 1 * (2))):
    // engine 1, strip 0, vault column 2 % 2 = 0, cube column 1.
    // y = 89: tile 11, second in it; 11 = 2 + 3 * (1 + 2 * 1): row 2, group row 1, vault row 1.
    let row = 2 + 2 * 8 + 1;
    assert_eq!(
        buffer.locate(&[99, 89]),
        Some(Location {
            cube: 1,
            vault: 2,
            pg: 1,
            pe: 1,
            address: 0x100 + column + 4 * (8 * row + 3)
        })
    );
    assert_eq!(buffer.locate(&[100, 0]), None);
    assert_eq!(buffer.locate(&[-1, 0]), None);
    assert_eq!(buffer.locate(&[0]), None);
}

/// Elements of a stretch lie at addresses that follow, in one bank, and the one behind it does not.
#[test]
fn stretches_are_contiguous() {
    let mut stored = image([100, 90]);
    stored.order = vec![Some(1), Some(0)];
    let mut whole = image([100, 90]);
    whole.layout = Layout::Single { cube: 0, vault: 0, pg: 0, pe: 0 };
    for (buffer, longest) in [(image([100, 90]), 6), (stored, 1), (whole, 100)] {
        let mut lengths = Vec::new();
        for y in [0, 41, 89] {
            let mut x = 0;
            while x < 100 {
                let first = buffer.locate(&[x, y]).unwrap();
                let length = buffer.contiguous(&[x, y]);
                for more in 0..length {
                    let place = Location { address: first.address + 4 * more, ..first };
                    assert_eq!(buffer.locate(&[x + more as i32, y]), Some(place));
                }
                lengths.push(length);
                x += length as i32;
                let next = Location { address: first.address + 4 * length, ..first };
                assert_ne!(buffer.locate(&[x, y]), Some(next));
            }
            assert_eq!(x, 100);
        }
        assert_eq!(lengths.iter().max(), Some(&longest));
    }
}

#[test]
fn whole_buffers_are_row_major_with_padded_rows() {
    let mut buffer = image([5, 3]);
    buffer.layout = Layout::Single { cube: 1, vault: 2, pg: 3, pe: 0 };
    buffer.extent.push(2);
    buffer.min.push(7);
    buffer.validate(&machine()).unwrap();
    assert_eq!(buffer.size_bytes(), 8 * 3 * 2 * 4);
    let place = buffer.locate(&[4, 2, 8]).unwrap();
    assert_eq!(place.address, 0x100 + 4 * (8 * (3 + 2) + 4));
    buffer.layout = Layout::Replicated;
    assert!(buffer.validate(&machine()).is_err());
    buffer.role = Role::Param;
    buffer.validate(&machine()).unwrap();
    buffer.min.clear();
    buffer.extent.clear();
    buffer.validate(&machine()).unwrap();
    assert_eq!(buffer.locate(&[]).unwrap().address, 0x100);
}

#[test]
fn hostile_layouts_are_errors() {
    let broken = |change: fn(&mut Buffer)| {
        let mut buffer = image([100, 90]);
        change(&mut buffer);
        assert!(buffer.validate(&machine()).is_err(), "{buffer:?}");
    };
    let broken_tiled = |change: fn(&mut Tiled)| {
        let mut buffer = image([100, 90]);
        let Layout::Tiled(tiled) = &mut buffer.layout else { unreachable!() };
        change(tiled);
        assert!(buffer.validate(&machine()).is_err(), "{buffer:?}");
    };
    broken(|b| b.base = 8);
    broken(|b| b.base = 0xffff_fff0);
    broken(|b| b.extent[0] = 0);
    broken(|b| b.extent[1] = u32::MAX);
    broken(|b| b.min[0] = i32::MIN);
    broken(|b| b.min[0] = -7);
    broken(|b| {
        b.min.pop();
    });
    broken(|b| {
        b.extent = vec![1 << 28; 9];
        b.min = vec![0; 9];
    });
    broken(|b| b.part_of = vec![100, 89]);
    broken(|b| b.part_of = vec![100]);
    broken(|b| b.part_of = vec![100, u32::MAX]);
    broken(|b| {
        b.part_of = vec![100, 90];
        b.role = Role::Output;
    });
    broken(|b| {
        b.part_of = vec![100, 90];
        b.min[0] = -1;
        b.extent[0] = 50;
    });
    broken(|b| b.layout = Layout::Single { cube: 8, vault: 0, pg: 0, pe: 0 });
    broken_tiled(|t| t.tile = [0, 8]);
    broken_tiled(|t| t.tile = [u32::MAX, u32::MAX]);
    broken_tiled(|t| t.tile = [1 << 28, 1 << 28]);
    broken_tiled(|t| t.grid.engines = 5);
    broken_tiled(|t| t.grid.cubes = [1 << 16, 1 << 16]);
    broken_tiled(|t| t.grid.rows = 0);
    broken_tiled(|t| t.grid.rows = 1 << 28);
    broken_tiled(|t| t.grid.strips = 1);
    broken_tiled(|t| t.ghost_rows = [u32::MAX, u32::MAX]);
    broken_tiled(|t| t.origin = [i32::MAX, i32::MIN]);
}

fn buffers() -> impl Strategy<Value = Buffer> {
    let pair = |most: u32| [1..=most, 1..=most];
    let grid = (pair(2), pair(2), pair(2), 1..=4_u32, 1..=3_u32, 1..=3_u32);
    let grid = grid.prop_map(|(cubes, vaults, groups, engines, strips, rows)| Grid {
        cubes,
        vaults,
        groups,
        engines,
        strips,
        rows,
    });
    let ghosts = (pair(3), pair(3)).prop_map(|(a, b)| [a.map(|n| n - 1), b.map(|n| n - 1)]);
    let ghosts = (ghosts, (0..3_u32).prop_map(|atoms| atoms * LANES as u32));
    (grid, pair(5), ghosts, [-9..9, -9..9], 0..3_usize, 0..4_u32, 0..4_usize).prop_map(
        |(grid, tile, ([ghost_columns, ghost_rows], beside), origin, inner, less, turn)| {
            let tiles = grid.tiles();
            let mut min = vec![origin[0], origin[1]];
            let mut extent: Vec<u32> =
                (0..2).map(|d| (tiles[d] as u32 * tile[d]).saturating_sub(less).max(1)).collect();
            for d in 0..inner {
                min.push(d as i32 - 1);
                extent.push(2);
            }
            let tiled = Tiled { grid, tile, origin, ghost_columns, ghost_rows, beside };
            // Dimension `d` stands at place `d + turn`, around the end.
            let dims = min.len();
            let order = (0..dims).map(|k| Some(((k + dims - turn % dims) % dims) as u8));
            min.rotate_left(turn % dims);
            extent.rotate_left(turn % dims);
            Buffer {
                name: "b".into(),
                role: Role::Input,
                element: Element::U8,
                min,
                extent,
                part_of: vec![],
                order: if turn == 0 { vec![] } else { order.collect() },
                backwards: vec![],
                layout: Layout::Tiled(tiled),
                base: 64,
            }
        },
    )
}

fn coordinates(buffer: &Buffer) -> Vec<Vec<i32>> {
    let mut out = vec![vec![]];
    for (min, extent) in buffer.min.iter().zip(&buffer.extent) {
        let longer = |c: &Vec<i32>| {
            let c = c.clone();
            (0..*extent).map(move |i| [c.clone(), vec![min + i as i32]].concat())
        };
        out = out.iter().flat_map(longer).collect();
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Every element has a place of its own, inside its buffer's storage; lanes of
    /// an atom are neighbours in x.
    #[test]
    fn elements_have_places_of_their_own(buffer in buffers()) {
        let machine = machine();
        buffer.validate(&machine).unwrap();
        let mut seen = HashSet::new();
        for coords in coordinates(&buffer) {
            let place = buffer.locate(&coords).unwrap();
            let end = u64::from(buffer.base) + buffer.size_bytes();
            prop_assert!(place.address >= buffer.base && u64::from(place.address) + 4 <= end);
            prop_assert!(place.cube < machine.hierarchy.cubes && place.vault < machine.hierarchy.vaults);
            prop_assert!(place.pg < machine.hierarchy.pgs && place.pe < machine.hierarchy.pes);
            prop_assert!(seen.insert(place), "{coords:?} shares its place");
            if place.address % 16 != 0 {
                let mut left = coords.clone();
                left[buffer.dim_at(0).unwrap()] -= 1;
                if let Some(left) = buffer.locate(&left) {
                    prop_assert_eq!(Location { address: place.address - 4, ..place }, left);
                }
            }
        }
    }

    /// The JSON form is the same buffer.
    #[test]
    fn survives_json(buffer in buffers()) {
        let text = serde_json::to_string(&buffer).unwrap();
        prop_assert_eq!(serde_json::from_str::<Buffer>(&text).unwrap(), buffer);
    }
}
