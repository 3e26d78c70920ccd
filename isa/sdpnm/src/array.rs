//! An array of processing elements as a mapper sees it: which PE reads which, how many registers a
//! PE has, how many accesses to shared memory a cycle takes. The values of the machine stand in
//! `machines/*.toml`.

use serde::{Deserialize, Serialize};

/// Which outputs of the last cycle a PE reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Links {
    /// 13 PEs: itself, four adjacent, four one hop further, four diagonal (paper, section 2).
    Sdpnm,
    /// Five: itself and the four adjacent.
    Mesh,
}

impl Links {
    /// All of them, with their names.
    pub const ALL: [(&'static str, Links); 2] = [("sdpnm", Links::Sdpnm), ("mesh", Links::Mesh)];

    /// The name in machine files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Links::Sdpnm => "sdpnm",
            Links::Mesh => "mesh",
        }
    }

    /// (row, column) of the PEs that are read, seen from the reader. No link wraps around an edge.
    pub fn offsets(self) -> &'static [(i32, i32)] {
        const SDPNM: [(i32, i32); 13] = [
            (0, 0),
            (-1, 0),
            (1, 0),
            (0, -1),
            (0, 1),
            (-2, 0),
            (2, 0),
            (0, -2),
            (0, 2),
            (-1, -1),
            (-1, 1),
            (1, -1),
            (1, 1),
        ];
        match self {
            Links::Sdpnm => &SDPNM,
            Links::Mesh => &SDPNM[..5],
        }
    }
}

/// An array of processing elements. A PE has the number row x columns + column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Array {
    /// Rows of PEs.
    pub rows: u32,
    /// Columns of PEs.
    pub columns: u32,
    /// Which outputs of the last cycle a PE reads.
    pub links: Links,
    /// Own registers of a PE.
    pub registers: u32,
    /// Loads and stores that shared memory takes a cycle.
    pub memory_ports: u32,
    /// Contexts of a PE: the longest initiation interval of a loop.
    pub contexts: u32,
}

impl Array {
    /// Rows and columns that an array may have, least and most.
    pub const SIDES: (u32, u32) = (2, 16);
    /// Registers of a PE at most.
    pub const MAX_REGISTERS: u32 = 256;
    /// Memory ports at most.
    pub const MAX_MEMORY_PORTS: u32 = 256;
    /// Contexts of a PE at most.
    pub const MAX_CONTEXTS: u32 = 1024;

    /// How many PEs there are.
    pub fn pes(&self) -> usize {
        (self.rows * self.columns) as usize
    }

    /// Row and column of a PE.
    pub fn position(&self, pe: usize) -> (u32, u32) {
        (pe as u32 / self.columns, pe as u32 % self.columns)
    }

    /// The PE of that row and column.
    pub fn pe(&self, row: u32, column: u32) -> usize {
        (row * self.columns + column) as usize
    }

    /// Whether `reader` reads the output of the last cycle of `holder`.
    pub fn reads(&self, reader: usize, holder: usize) -> bool {
        let (r, h) = (self.position(reader), self.position(holder));
        let offset = (h.0 as i32 - r.0 as i32, h.1 as i32 - r.1 as i32);
        self.links.offsets().contains(&offset)
    }

    /// The PEs that `reader` reads, itself first.
    pub fn sources(&self, reader: usize) -> impl Iterator<Item = usize> {
        let (row, column) = self.position(reader);
        self.links.offsets().iter().filter_map(move |(r, c)| {
            let (row, column) = (row.checked_add_signed(*r)?, column.checked_add_signed(*c)?);
            (row < self.rows && column < self.columns).then(|| self.pe(row, column))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(links: Links) -> Array {
        Array { rows: 8, columns: 8, links, registers: 8, memory_ports: 16, contexts: 64 }
    }

    #[test]
    fn a_pe_reads_thirteen_or_five() {
        let of = |links, pe| array(links).sources(pe).count();
        assert_eq!(of(Links::Sdpnm, 3 * 8 + 3), 13);
        assert_eq!(of(Links::Sdpnm, 0), 6);
        assert_eq!(of(Links::Mesh, 3 * 8 + 3), 5);
        assert_eq!(of(Links::Mesh, 63), 3);
    }

    #[test]
    fn links_go_both_ways_and_as_far_as_the_distance_says() {
        for (links, radius) in [(Links::Sdpnm, 2), (Links::Mesh, 1)] {
            let array = array(links);
            for (a, b) in (0..64).flat_map(|a| (0..64).map(move |b| (a, b))) {
                let (p, q) = (array.position(a), array.position(b));
                let near = p.0.abs_diff(q.0) + p.1.abs_diff(q.1) <= radius;
                assert_eq!(array.reads(a, b), near);
                assert_eq!(array.sources(a).any(|s| s == b), near);
            }
        }
    }
}
