//! What `explain` says that code takes on iPIM, beside what the simulator measures: the estimates of
//! code (`compiler/targets/ipim/src/estimate`) for the smaller references. No bound may be more than
//! what was measured; estimates are near.

use nbcc_host::RunOptions;
use nbcc_pipeline::PassOptions;
use nbcc_tests::images::{self, For};
use nbcc_tests::reference::{Case, cases};

/// Cases with more elements take long.
const MOST_ELEMENTS: u64 = 1100;

/// Cycles: of the estimate, of its largest bounds, measured.
type Cycles = [u64; 3];

fn cycles(case: &Case, machine: &str) -> Result<Cycles, String> {
    // The schedules that are not kept have estimates of the same kind.
    let disabled = vec!["compare-schedules".to_string()];
    let passes = PassOptions { disabled, ..PassOptions::default() };
    let asked = For { machine: machine.to_string(), passes, ..For::default() };
    let mut remarks = vec![];
    let program = images::compile_for(case, &asked, &mut remarks)?;
    let result = images::run(case, &program, &mut RunOptions::default())?;
    let number = |remark: &nbcc_placement::Remark, name: &str| {
        let term = remark.all_terms().find(|term| term.name == name);
        term.and_then(|term| term.value.parse::<u64>().ok()).unwrap_or(0)
    };
    let code = || remarks.iter().filter(|remark| (remark.pass, remark.name) == ("emit", "Code"));
    let sum = |name: &str| code().map(|remark| number(remark, name)).sum::<u64>();
    Ok([sum("EstimatedCycles"), sum("Bound"), result.cycles])
}

fn near_and_no_less_than_bounds(machine: &str) {
    let elements = |case: &Case| {
        let size = |extent: &[u32]| extent.iter().map(|&n| u64::from(n)).product::<u64>();
        case.outputs.iter().map(|output| size(&output.extent)).sum::<u64>()
    };
    let small = cases().into_iter().filter(|case| elements(case) <= MOST_ELEMENTS);
    let (mut near, mut far, mut count) = (0, 0.0, 0);
    for case in small {
        let [estimate, bound, measured] = match cycles(&case, machine) {
            Ok(cycles) => cycles,
            Err(error) => panic!("{} on {machine}: {error}", case.name),
        };
        assert!(
            bound <= measured,
            "{} on {machine}: {bound} cycles at least, {measured} measured",
            case.name
        );
        let off = (estimate as f64 / measured as f64).ln().abs();
        near += u32::from(off <= 1.3f64.ln());
        (far, count) = (far + off, count + 1);
    }
    let mean = (far / f64::from(count)).exp();
    assert!(
        count > 50 && near * 10 >= count * 7 && mean <= 1.25,
        "{machine}: {near} of {count} estimates within 30 %, off by {mean:.2}"
    );
}

#[test]
fn on_one_vault() {
    near_and_no_less_than_bounds("ipim-vault");
}

#[test]
fn on_one_cube() {
    near_and_no_less_than_bounds("ipim-cube");
}
