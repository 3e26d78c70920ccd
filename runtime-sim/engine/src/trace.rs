//! A timeline of a run in the trace event format that Chrome and Perfetto read:
//! a process a group of units (a vault, the network), a thread a unit.
//!
//! The number of events is bounded; what comes after is counted and dropped, and
//! the file says so.

use std::io::{self, Write};

use crate::Cycle;

/// A lane of a trace: a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lane(u32);

#[derive(Clone, Debug)]
struct Event {
    lane: Lane,
    name: &'static str,
    start: Cycle,
    length: Cycle,
    /// A number shown with the event: a program counter, a bank, a packet.
    detail: u64,
}

#[derive(Clone, Debug)]
struct LaneName {
    group: u32,
    name: String,
}

/// Events of a run, lane by lane.
#[derive(Clone, Debug)]
pub struct Trace {
    groups: Vec<String>,
    lanes: Vec<LaneName>,
    events: Vec<Event>,
    limit: usize,
    dropped: u64,
}

impl Trace {
    /// A trace that keeps `limit` events.
    pub fn new(limit: usize) -> Trace {
        Trace { groups: Vec::new(), lanes: Vec::new(), events: Vec::new(), limit, dropped: 0 }
    }

    /// Adds a lane to the group of that name.
    pub fn lane(&mut self, group: &str, name: &str) -> Lane {
        let number = match self.groups.iter().position(|known| known == group) {
            Some(number) => number,
            None => {
                self.groups.push(group.to_owned());
                self.groups.len() - 1
            }
        };
        self.lanes.push(LaneName { group: number as u32, name: name.to_owned() });
        Lane(self.lanes.len() as u32 - 1)
    }

    /// Notes that a unit was busy with `name` from `start` for `length` cycles.
    #[inline]
    pub fn push(
        &mut self,
        lane: Lane,
        name: &'static str,
        start: Cycle,
        length: Cycle,
        detail: u64,
    ) {
        if self.events.len() < self.limit {
            self.events.push(Event { lane, name, start, length, detail });
        } else {
            self.dropped += 1;
        }
    }

    /// Takes over lanes and events of another trace.
    pub fn append(&mut self, other: Trace) {
        let mut lanes = Vec::with_capacity(other.lanes.len());
        for lane in &other.lanes {
            lanes.push(self.lane(&other.groups[lane.group as usize], &lane.name));
        }
        for event in other.events {
            let lane = lanes[event.lane.0 as usize];
            self.push(lane, event.name, event.start, event.length, event.detail);
        }
        self.dropped += other.dropped;
    }

    /// Events kept.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether no event was kept.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Events beyond the limit.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Writes the JSON form. `cycle_ns` is the length of a cycle.
    ///
    /// # Errors
    /// Whatever the writer says.
    pub fn write(&self, out: &mut dyn Write, cycle_ns: f64) -> io::Result<()> {
        write!(out, "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{")?;
        write!(out, "\"events_kept\":{},\"events_dropped\":{}}},", self.len(), self.dropped)?;
        writeln!(out, "\"traceEvents\":[")?;
        let mut first = true;
        let mut separate = |out: &mut dyn Write| -> io::Result<()> {
            if !std::mem::take(&mut first) {
                writeln!(out, ",")?;
            }
            Ok(())
        };
        for (pid, group) in self.groups.iter().enumerate() {
            separate(out)?;
            let name = serde_json::Value::from(group.as_str());
            write!(
                out,
                r#"{{"ph":"M","name":"process_name","pid":{pid},"args":{{"name":{name}}}}}"#
            )?;
        }
        for (tid, lane) in self.lanes.iter().enumerate() {
            separate(out)?;
            let (pid, name) = (lane.group, serde_json::Value::from(lane.name.as_str()));
            write!(
                out,
                r#"{{"ph":"M","name":"thread_name","pid":{pid},"tid":{tid},"args":{{"name":{name}}}}}"#
            )?;
        }
        // The format counts in microseconds.
        let scale = cycle_ns / 1000.0;
        for event in &self.events {
            separate(out)?;
            let tid = event.lane.0;
            let pid = self.lanes[tid as usize].group;
            let name = serde_json::Value::from(event.name);
            write!(
                out,
                r#"{{"ph":"X","name":{name},"pid":{pid},"tid":{tid},"ts":{:.3},"dur":{:.3},"args":{{"id":{}}}}}"#,
                event.start as f64 * scale,
                event.length as f64 * scale,
                event.detail
            )?;
        }
        writeln!(out, "\n]}}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_json_with_a_thread_a_lane_and_says_what_it_dropped() {
        let mut trace = Trace::new(2);
        let core = trace.lane("vault 0", "core");
        let tsv = trace.lane("vault 0", "TSV \"0\"");
        trace.push(core, "comp", 5, 1, 16);
        trace.push(tsv, "control", 6, 1, 0);
        trace.push(core, "comp", 7, 1, 32);

        let mut whole = Trace::new(10);
        whole.lane("network", "link");
        whole.append(trace);
        let mut text = Vec::new();
        whole.write(&mut text, 1.0).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&text).unwrap();
        let events = json["traceEvents"].as_array().unwrap();
        assert_eq!(events.len(), 2 + 3 + 2);
        assert_eq!(events[5]["ts"], 0.005);
        assert_eq!(events[6]["pid"], 1);
        assert_eq!(events[4]["args"]["name"], "TSV \"0\"");
        assert_eq!(json["otherData"]["events_dropped"], 1);
    }
}
