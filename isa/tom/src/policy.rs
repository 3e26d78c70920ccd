//! What a program's binary says of offloading besides its candidates: by which policy the machine
//! offloads them, and how it maps addresses to stacks. The compiler writes it where it is asked for
//! something else than the default (section `.nbcc.policy`); the simulator reads it.

use nbcc_isa::LoadError;
use nbcc_isa::metadata::to_json;
use nbcc_isa_simt::Program;
use serde::{Deserialize, Serialize};

use crate::Machine;

/// The name of the section.
pub const SECTION: &str = ".nbcc.policy";

/// The policies of offloading, the default first. What each does is the simulator's
/// (`runtime-sim/machines/tom/src/policy.rs`).
pub const OFFLOAD: &[&str] =
    &["controlled", "none", "always", "ideal", "best", "balanced", "scarce", "forced"];

/// What maps addresses to stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mapping {
    /// The best pair of bits for what candidates access, learnt from the first instances.
    Transparent,
    /// Consecutive lines to different stacks.
    Baseline,
    /// The best pair of bits over the whole run.
    Oracle,
}

impl Mapping {
    /// Every mapping by its name, the default first.
    pub const ALL: [(&'static str, Mapping); 3] = [
        ("transparent", Mapping::Transparent),
        ("baseline", Mapping::Baseline),
        ("oracle", Mapping::Oracle),
    ];

    /// The mapping of a name.
    pub fn from_name(name: &str) -> Option<Mapping> {
        Mapping::ALL.iter().find(|(known, _)| *known == name).map(|(_, mapping)| *mapping)
    }
}

/// The policy of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// One of [`OFFLOAD`].
    pub offload: &'static str,
    /// The mapping.
    pub map: Mapping,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    offload: String,
    map: Mapping,
}

/// The policy that is spelled like this.
fn known(name: &str) -> Option<&'static str> {
    OFFLOAD.iter().find(|known| **known == name).copied()
}

impl Policy {
    /// What a machine does where nothing else is said: one without multiprocessors beside memory
    /// offloads nothing.
    pub fn default_of(machine: &Machine) -> Policy {
        let offload = if machine.stack.sms > 0 { OFFLOAD[0] } else { "none" };
        Policy { offload, map: Mapping::Transparent }
    }

    /// What is asked for by names, `None` standing for the default.
    ///
    /// # Errors
    /// Which name is none, or why the machine cannot do it.
    pub fn named(
        machine: &Machine,
        offload: Option<&str>,
        map: Option<&str>,
    ) -> Result<Policy, String> {
        let mut policy = Policy::default_of(machine);
        if let Some(name) = offload {
            policy.offload = known(name).ok_or_else(|| format!("`{name}` is no policy"))?;
        }
        if let Some(name) = map {
            let mapping = Mapping::from_name(name);
            policy.map = mapping.ok_or_else(|| format!("`{name}` is no mapping"))?;
        }
        policy.check(machine)?;
        Ok(policy)
    }

    fn check(&self, machine: &Machine) -> Result<(), String> {
        if machine.stack.sms == 0 && self.offload != "none" {
            return Err(format!(
                "`offload={}` needs multiprocessors beside memory, and machine `{}` has none",
                self.offload, machine.name
            ));
        }
        Ok(())
    }

    /// The section that says so.
    pub fn section(&self) -> (String, Vec<u8>) {
        let record = Record { offload: self.offload.to_string(), map: self.map };
        (SECTION.to_string(), to_json(&[record]))
    }

    /// The policy of a program, whatever wrote it.
    ///
    /// # Errors
    /// A section that is none, or that asks for what the machine cannot do.
    pub fn of(program: &Program) -> Result<Policy, LoadError> {
        let machine = Machine::from_toml(&program.machine.toml, &[])?;
        let Some((_, bytes)) = program.sections.iter().find(|(name, _)| name == SECTION) else {
            return Ok(Policy::default_of(&machine));
        };
        let fail = |reason: String| LoadError::new(SECTION, 0, reason);
        let records: Vec<Record> =
            serde_json::from_slice(bytes).map_err(|error| fail(error.to_string()))?;
        let [record] = &records[..] else {
            return Err(fail(format!("there are {} records, not one", records.len())));
        };
        let name: String = record.offload.escape_debug().take(80).collect();
        let offload =
            known(&record.offload).ok_or_else(|| fail(format!("`{name}` is no policy")))?;
        let policy = Policy { offload, map: record.map };
        policy.check(&machine).map_err(fail)?;
        Ok(policy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_without_stack_multiprocessors_offload_nothing() {
        let (tom, baseline) = (Machine::built_in("tom"), Machine::built_in("tom-baseline"));
        assert_eq!(Policy::default_of(&tom).offload, "controlled");
        assert_eq!(Policy::default_of(&baseline).offload, "none");
        assert!(Policy::named(&baseline, Some("none"), Some("baseline")).is_ok());
        assert!(Policy::named(&baseline, Some("always"), None).is_err());
        assert!(Policy::named(&tom, Some("sometimes"), None).is_err());
        assert!(Policy::named(&tom, None, Some("best")).is_err());
        for (name, mapping) in Mapping::ALL {
            let policy = Policy::named(&tom, Some("ideal"), Some(name)).unwrap();
            assert_eq!((policy.offload, policy.map), ("ideal", mapping));
        }
    }
}
