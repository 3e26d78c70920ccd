//! How long the machine takes for what kernels are made of, from its description
//! (docs/machine-ipim.md, "From issue to retirement").

use nbcc_isa_ipim::Machine;

/// Times in cycles, from issue until a result can be used unless said otherwise.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// A bitwise operation, shift or crop.
    pub logic: u64,
    /// An addition.
    pub add: u64,
    /// A multiplication.
    pub mul: u64,
    /// An addition in AddrRF.
    pub address: u64,
    /// A move between AddrRF and DataRF.
    pub transfer: u64,
    /// A read of a bank whose row is open.
    pub bank: u64,
    /// Between two accesses of the banks of a group by all its engines.
    pub bank_step: u64,
    /// What a read waits longer for where its row is not open.
    pub row: u64,
    /// What a read waits longer for where a row was written since.
    pub write_row: u64,
    /// A read of the group's scratchpad.
    pub pgsm: u64,
    /// The end of a loop body: counting, testing, jumping.
    pub jump: u64,
    /// A constant brought into AddrRF.
    pub constant: u64,
    /// A barrier of all vaults.
    pub barrier: u64,
    /// An answer to a request, without waiting for others.
    pub request: u64,
}

impl Times {
    /// The times of a machine.
    pub fn of(machine: &Machine) -> Times {
        let (l, d, n) = (&machine.latency, &machine.dram, &machine.network);
        let result = |op: u32| u64::from(l.t_tsv + l.t_data_rf + op);
        let transfer = u64::from(l.t_tsv + l.t_addr_rf + l.t_data_rf);
        let bank = l.t_tsv + l.t_addr_rf + d.t_cl + d.t_bl + l.t_pe_bus + l.t_data_rf;
        let engines = u64::from(machine.hierarchy.pes);
        // The last of a group's engines waits for the commands of the others.
        let bank = u64::from(bank) + engines;
        let (cubes, vaults) = (machine.cube_mesh(), machine.vault_mesh());
        let hops = vaults[0] + vaults[1] + (cubes[0] + cubes[1] - 2) * (vaults[0] + vaults[1]);
        let serdes = (n.t_serdes * f64::from(cubes[0] + cubes[1])).ceil() as u64;
        let across = u64::from(hops * n.t_noc) + serdes;
        Times {
            logic: result(l.t_logic),
            add: result(l.t_add),
            mul: result(l.t_mul),
            address: u64::from(l.t_tsv + l.t_addr_rf + l.t_add),
            transfer,
            bank,
            bank_step: engines.max(u64::from(d.t_ccd)),
            row: u64::from(d.t_rp + d.t_rcd),
            write_row: u64::from(d.t_cwl + d.t_bl + d.t_wr),
            pgsm: u64::from(l.t_tsv + l.t_addr_rf + l.t_pgsm + l.t_pe_bus + l.t_data_rf),
            jump: 6 * u64::from(machine.control.t_ctrl) + u64::from(machine.control.branch_penalty),
            constant: bank + transfer,
            barrier: 2 * across + bank,
            request: across + bank + 4 * u64::from(l.t_tsv + l.t_vsm),
        }
    }
}
