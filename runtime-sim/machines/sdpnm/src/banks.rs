//! The banks of DRAM, as bytes on their way between the memory and a shared memory meet them: each bank has a
//! controller of its own (SDPNM paper, section 2: 64 PEs and 64 banks, all at once and without conflict), and
//! columns go round the banks.

use std::sync::Arc;

use nbcc_isa_sdpnm::Machine;
use nbcc_sim_dram::{Banks as Geometry, DramConfig, Kind, Model, Port, Request, Stats};

use crate::Fault;

/// All banks.
#[derive(Clone, Debug)]
pub struct Banks {
    model: Arc<Model>,
    /// Those that were reached, by their numbers.
    ports: Vec<Option<Port>>,
    access_bytes: u32,
    columns_per_row: u32,
    cycle_ns: f64,
    bank_ns: f64,
}

impl Banks {
    /// Idle banks.
    ///
    /// # Errors
    /// What the DRAM model says of them.
    pub fn new(machine: &Machine) -> Result<Banks, Fault> {
        let access_bytes = machine.memory.access_bytes;
        let bytes = machine.memory.bank_mib << 20;
        let geometry = Geometry { count: 1, bytes, access_bytes, row_buffers: 1 };
        let config = DramConfig::beside_banks(&machine.dram, geometry);
        let model =
            Model::new(&config).map_err(|error| Fault::Banks { what: error.to_string() })?;
        Ok(Banks {
            model,
            ports: vec![None; machine.memory.banks as usize],
            access_bytes,
            columns_per_row: config.columns_per_row,
            cycle_ns: machine.cycle_ns(),
            bank_ns: machine.dram.t_ck,
        })
    }

    /// The cycle of the machine in which bytes have been read or written that are asked for from cycle `at` on,
    /// so many a cycle. No move may begin before the one before it ended.
    pub fn stream(&mut self, at: u64, address: u32, bytes: u32, kind: Kind, each: u32) -> u64 {
        if bytes == 0 {
            return at;
        }
        let width = u64::from(self.access_bytes);
        let columns =
            u64::from(address) / width..(u64::from(address) + u64::from(bytes)).div_ceil(width);
        let mut asked = vec![0_usize; self.ports.len()];
        let banks = self.ports.len() as u64;
        for (number, column) in columns.clone().enumerate() {
            let cycle = at + number as u64 * width / u64::from(each);
            let time = (cycle as f64 * self.cycle_ns / self.bank_ns).ceil() as u64;
            let (bank, of_bank) = ((column % banks) as usize, column / banks);
            let per_row = u64::from(self.columns_per_row);
            let (row, column) = ((of_bank / per_row) as u32, (of_bank % per_row) as u32);
            let port = self.ports[bank].get_or_insert_with(|| Port::new(&self.model));
            let time = time.max(port.now());
            port.push(time, true, Request { id: number as u64, kind, bank: 0, row, column });
            asked[bank] += 1;
        }
        let mut last = 0;
        let mut done = Vec::new();
        for (port, asked) in self.ports.iter_mut().zip(asked) {
            let Some(port) = port.as_mut().filter(|_| asked > 0) else { continue };
            done.clear();
            while done.len() < asked
                && let Some(next) = port.next_event()
            {
                port.advance(next, &mut done);
            }
            last = done.iter().map(|completion| completion.finish).fold(last, u64::max);
        }
        let end = (last as f64 * self.bank_ns / self.cycle_ns).ceil() as u64;
        // The way to the shared memory bears so many bytes a cycle.
        let moved = (columns.end - columns.start) * width;
        end.max(at + moved.div_ceil(u64::from(each)))
    }

    /// What all banks counted.
    pub fn stats(&self) -> Stats {
        let mut all = Stats::default();
        self.ports.iter().flatten().for_each(|port| all.add(port.stats()));
        all
    }
}
