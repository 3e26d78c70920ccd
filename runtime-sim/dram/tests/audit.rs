//! Random machines under random traffic: the auditor accepts every command, and
//! every request is served once, in order where order matters.

mod common;

use std::collections::HashMap;

use common::{Rng, TRACES, random_machine, random_request, reference, trace};
use nbcc_sim_dram::audit::Auditor;
use nbcc_sim_dram::{
    Command, Completion, Controller, Cycle, DramConfig, Issued, Kind, QueueKind, RefreshPolicy,
    Request, replay,
};

/// Requests of a run with the cycle at which each was accepted, and what came out.
struct Run {
    accepted: Vec<(Cycle, Request)>,
    completions: Vec<Completion>,
    log: Vec<Issued>,
}

fn run(config: &DramConfig, random: &mut Rng, requests: u64) -> Run {
    let mut controller = Controller::new(config).expect("a valid machine");
    controller.enable_log();
    let mut run = Run { accepted: Vec::new(), completions: Vec::new(), log: Vec::new() };
    let gaps = random.pick(&[1, 4, 60]);
    let writes = random.pick(&[0, 2, 4, 8]);
    let mut now = 0;
    for id in 0..requests {
        let request = random_request(random, config, id, writes);
        while !controller.try_enqueue(now, request) {
            now = controller.next_event().expect("a full queue has work").max(now);
            controller.advance(now, &mut run.completions);
        }
        run.accepted.push((now, request));
        now += Cycle::from(random.below(gaps));
        controller.advance(now, &mut run.completions);
    }
    while let Some(next) = controller.next_event() {
        now = next.max(now);
        controller.advance(now, &mut run.completions);
    }
    // Some idle time, with refreshes only.
    controller.advance(now + 5000, &mut run.completions);
    run.log = controller.take_log();

    let stats = controller.stats();
    assert_eq!(stats.requests, requests);
    assert_eq!(stats.reads + stats.writes, requests);
    assert_eq!(stats.hits + stats.misses + stats.conflicts, requests);
    let columns = stats.column_reads() + stats.column_writes();
    assert_eq!(columns + stats.forwarded + stats.coalesced, requests);
    assert_eq!(stats.commands.total(), run.log.len() as u64);
    let open = stats.commands.of(Command::Activate) - stats.rows_closed;
    assert!(open <= u64::from(config.banks * config.row_buffers));
    assert_eq!(controller.pending(), 0);
    run
}

/// Each request has one column command, at a cycle that explains its completion;
/// requests to one address keep their order when one of them writes.
fn check_service(config: &DramConfig, run: &Run) {
    let mut served: HashMap<(u32, u32, u32), Vec<(Cycle, Kind)>> = HashMap::new();
    for issued in &run.log {
        let kind = match issued.command {
            Command::Read | Command::ReadAuto => Kind::Read,
            Command::Write | Command::WriteAuto => Kind::Write,
            _ => continue,
        };
        let address = (issued.bank, issued.row, issued.column);
        served.entry(address).or_default().push((issued.cycle, kind));
    }
    assert_eq!(run.completions.len(), run.accepted.len());
    let mut finish = vec![None; run.accepted.len()];
    for completion in &run.completions {
        let slot = &mut finish[completion.id as usize];
        assert_eq!(slot.replace(completion.finish), None, "{completion:?} twice");
    }

    let forwarding = config.queue == QueueKind::Split && config.write_forwarding;
    let mut last: HashMap<(u32, u32, u32), (Cycle, Cycle)> = HashMap::new();
    for (&(arrival, request), finish) in run.accepted.iter().zip(finish) {
        let finish = finish.expect("every request completes");
        let address = (request.bank, request.row, request.column);
        let (latency, forwarded) = match request.kind {
            Kind::Read => (Cycle::from(config.read_latency()), arrival + 1),
            Kind::Write => (0, arrival),
        };
        if forwarding && finish == forwarded {
            continue;
        }
        let issue = finish - latency;
        assert!(issue > arrival, "{request:?} at {arrival} issued at {issue}");
        let commands = served.get_mut(&address).expect("a column command");
        let at = commands
            .iter()
            .position(|&command| command == (issue, request.kind))
            .unwrap_or_else(|| panic!("no command of {request:?} at {issue}"));
        commands.swap_remove(at);
        let (last_read, last_write) = last.entry(address).or_default();
        match request.kind {
            Kind::Read => {
                assert!(issue > *last_write, "{request:?} passed a write");
                *last_read = issue.max(*last_read);
            }
            Kind::Write => {
                assert!(issue > (*last_read).max(*last_write), "{request:?} passed another");
                *last_write = issue;
            }
        }
    }
    assert!(served.values().all(Vec::is_empty), "commands without a request");
}

fn audit(config: &DramConfig, log: &[Issued]) -> u64 {
    let mut auditor = Auditor::new(config);
    for &issued in log {
        auditor.check(issued).unwrap_or_else(|v| panic!("{v}\n{config:?}"));
    }
    let end = log.last().map_or(0, |issued| issued.cycle);
    auditor.finish(end).unwrap_or_else(|v| panic!("{v}\n{config:?}"));
    auditor.checked()
}

#[test]
fn random_machines() {
    let mut random = Rng(0xA0D17);
    let mut commands = 0;
    for _ in 0..1500 {
        let config = random_machine(&mut random);
        let run = run(&config, &mut random, 1500);
        commands += audit(&config, &run.log);
        check_service(&config, &run);
    }
    assert!(commands > 3_000_000, "{commands} commands audited");
}

#[test]
fn canonical_traces() {
    for refresh in [RefreshPolicy::AllBank, RefreshPolicy::None] {
        for policy in ["fcfs", "fr-fcfs", "fr-fcfs-row-hit"] {
            for pages in ["open", "closed"] {
                let mut config =
                    reference(&[&format!("scheduler={policy}"), &format!("page_policy={pages}")]);
                config.refresh = refresh;
                for name in TRACES {
                    let mut controller = Controller::new(&config).expect("a valid machine");
                    controller.enable_log();
                    replay::replay_on(&mut controller, &trace(name, 10_000), 0);
                    audit(&config, &controller.take_log());
                }
            }
        }
    }
}
