//! Launches with time: which machines have a model of it, and what a run on one leaves behind.

use nbcc_isa_simt::{Isa, Program};
use nbcc_sim_engine::{Progress, Statistics, Trace};
use nbcc_sim_simt::{Counters, Device, Launch, LaunchError, Module, RunOptions};

use crate::profile::{Cost, Profile};

/// Whether the machines of an instruction set have a model of time.
pub fn has_timing(isa: &Isa) -> bool {
    isa == &nbcc_isa_mpu::ISA || isa == &nbcc_isa_tom::ISA
}

/// What a model of time keeps from launch to launch of a program.
#[derive(Debug, Default)]
pub struct Session {
    /// Events that the timeline of a launch keeps; none makes no timeline.
    pub trace_events: Option<usize>,
    /// TOM's.
    pub tom: nbcc_sim_tom::Session,
}

/// What a model of time measured.
#[derive(Clone, Debug)]
pub enum Timed {
    /// MPU's.
    Mpu(Box<nbcc_sim_mpu::Measures>),
    /// TOM's.
    Tom(Box<nbcc_sim_tom::Measures>),
}

/// What is known of launches of one program.
#[derive(Clone, Debug)]
pub struct Ran {
    /// How often each instruction was issued, and more.
    pub counters: Counters,
    /// What was measured, where time was simulated.
    pub timed: Option<Timed>,
    /// The timeline, if one was asked for.
    pub trace: Option<Trace>,
}

impl Ran {
    /// Adds another launch of the same program; timelines stay those of the first.
    pub fn add(&mut self, other: &Ran) {
        self.counters.add(&other.counters);
        match (&mut self.timed, &other.timed) {
            (Some(Timed::Mpu(sum)), Some(Timed::Mpu(more))) => sum.add(more),
            (Some(Timed::Tom(sum)), Some(Timed::Tom(more))) => sum.add(more),
            _ => {}
        }
    }

    /// The statistics.
    pub fn statistics(&self, program: &Program) -> Statistics {
        match &self.timed {
            None => self.counters.statistics(program),
            Some(Timed::Mpu(measures)) => {
                let machine = nbcc_isa_mpu::Machine::from_toml(&program.machine.toml, &[])
                    .expect("the machine of a program that ran");
                nbcc_sim_mpu::collect(&machine, program, &self.counters, measures)
            }
            Some(Timed::Tom(measures)) => {
                let machine = nbcc_isa_tom::Machine::from_toml(&program.machine.toml, &[])
                    .expect("the machine of a program that ran");
                nbcc_sim_tom::collect(&machine, program, &self.counters, measures)
            }
        }
    }

    /// The length of a cycle in nanoseconds.
    pub fn cycle_ns(&self) -> f64 {
        match &self.timed {
            Some(Timed::Tom(measures)) => measures.cycle_ns(),
            Some(Timed::Mpu(_)) | None => 1.0,
        }
    }

    /// Where time was spent.
    pub fn profile(&self, program: &Program) -> Profile {
        let stalled = match &self.timed {
            None => &[][..],
            Some(Timed::Mpu(measures)) => &measures.profile.stalled,
            Some(Timed::Tom(measures)) => &measures.profile.stalled,
        };
        let issued = self.counters.issued.iter().enumerate();
        let costs: Vec<Cost> = issued
            .map(|(pc, &issued)| Cost { issued, stalled: stalled.get(pc).copied().unwrap_or(0) })
            .collect();
        Profile::new(&program.code, &costs)
    }
}

/// Runs a launch with the model of its machine.
///
/// # Errors
/// As [`Device::launch`].
///
/// # Panics
/// The machine has no model of time, see [`has_timing`].
pub(crate) fn launch(
    device: &mut Device,
    module: &Module,
    launch: &Launch<'_>,
    options: &RunOptions,
    session: &mut Session,
    output: &mut Vec<u8>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Ran, LaunchError> {
    assert!(has_timing(device.machine().isa), "a machine with a model of time");
    if device.machine().isa == &nbcc_isa_tom::ISA {
        let own = &mut session.tom;
        own.trace_events = session.trace_events;
        let ran = nbcc_sim_tom::launch(device, module, launch, options, own, output, progress)?;
        let timed = Some(Timed::Tom(Box::new(ran.measures)));
        return Ok(Ran { counters: ran.counters, timed, trace: ran.trace });
    }
    let events = session.trace_events;
    let ran = nbcc_sim_mpu::launch(device, module, launch, options, events, output, progress)?;
    let timed = Some(Timed::Mpu(Box::new(ran.measures)));
    Ok(Ran { counters: ran.counters, timed, trace: ran.trace })
}
