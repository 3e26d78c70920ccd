//! The commands on a DRAM command bus and what each of them does to a row
//! buffer. After Ramulator 2 (Luo et al., CAL 2023), a command is data: its
//! prerequisite ([`crate::Device::prerequisite`]), its action (the flags below,
//! applied by [`crate::Device::issue`]) and its timing constraints
//! (`standard.rs`).

use serde::Serialize;

/// A command on the command bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Command {
    /// ACT: copy a row into its row buffer.
    #[serde(rename = "ACT")]
    Activate,
    /// PRE: close one row buffer.
    #[serde(rename = "PRE")]
    Precharge,
    /// PREA: close every row buffer of the channel.
    #[serde(rename = "PREA")]
    PrechargeAll,
    /// RD: read one column of an open row.
    #[serde(rename = "RD")]
    Read,
    /// WR: write one column of an open row.
    #[serde(rename = "WR")]
    Write,
    /// RDA: read, then close the row without a further command.
    #[serde(rename = "RDA")]
    ReadAuto,
    /// WRA: write, then close the row without a further command.
    #[serde(rename = "WRA")]
    WriteAuto,
    /// REF: refresh every bank of the channel; all rows must be closed.
    #[serde(rename = "REF")]
    Refresh,
}

impl Command {
    /// Number of commands.
    pub const COUNT: usize = 8;

    /// Every command, in the order of [`Command::index`].
    pub const ALL: [Command; Command::COUNT] = [
        Command::Activate,
        Command::Precharge,
        Command::PrechargeAll,
        Command::Read,
        Command::Write,
        Command::ReadAuto,
        Command::WriteAuto,
        Command::Refresh,
    ];

    /// Dense index below [`Command::COUNT`].
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The short name of the data sheets: `ACT`, `PRE`, `PREA`, `RD`, ...
    pub const fn name(self) -> &'static str {
        match self {
            Command::Activate => "ACT",
            Command::Precharge => "PRE",
            Command::PrechargeAll => "PREA",
            Command::Read => "RD",
            Command::Write => "WR",
            Command::ReadAuto => "RDA",
            Command::WriteAuto => "WRA",
            Command::Refresh => "REF",
        }
    }

    /// Whether it transfers a column.
    #[inline]
    pub const fn is_column(self) -> bool {
        matches!(self, Command::Read | Command::Write | Command::ReadAuto | Command::WriteAuto)
    }

    /// Whether it closes the row that it addresses.
    #[inline]
    pub const fn closes_row(self) -> bool {
        matches!(self, Command::Precharge | Command::ReadAuto | Command::WriteAuto)
    }

    /// Whether it addresses the whole channel and not one bank.
    #[inline]
    pub const fn is_channel_wide(self) -> bool {
        matches!(self, Command::PrechargeAll | Command::Refresh)
    }
}
