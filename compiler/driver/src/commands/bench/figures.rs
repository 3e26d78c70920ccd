//! Figures made of what was measured: a row for each program that has one, and their mean.

use std::collections::BTreeMap;

use nbcc_sim_engine::Value;

use super::formula::Formula;
use super::suite::{Figure, MEAN, Mean, Suite};

/// A value beside the paper's.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The figure's name.
    pub figure: String,
    /// The program's name, or `mean`.
    pub workload: String,
    /// What the paper has.
    pub paper: Option<f64>,
    /// What was measured; nothing where that failed.
    pub measured: Option<f64>,
    /// What limits the program, or why there is no value.
    pub note: String,
}

/// What was measured of a program: by the number of the variant. Empty where a run failed.
pub type Measured = BTreeMap<usize, BTreeMap<String, Value>>;

/// The rows of a figure. `measured` is parallel to the programs of the suite; programs that are
/// `None` are left out. A statistic that a formula names and no run has is an error: its name.
///
/// # Errors
/// The name of a statistic that is not there.
pub fn rows(
    suite: &Suite,
    figure: &Figure,
    measured: &[Option<Measured>],
) -> Result<Vec<Row>, String> {
    let formula = figure.formula();
    let mut rows = Vec::new();
    for (program, measured) in suite.programs.iter().zip(measured) {
        let Some(measured) = measured.as_ref().filter(|_| figure.has(&program.name)) else {
            continue;
        };
        let row = |workload: String, measured: Option<f64>, note: String| Row {
            figure: figure.name.clone(),
            paper: figure.paper.get(&workload).copied(),
            workload,
            measured,
            note,
        };
        let Some(values) = named(suite, &formula, measured)? else {
            rows.push(row(program.name.clone(), None, "failed".into()));
            continue;
        };
        let note = suite.limit.as_ref().and_then(|group| limit(group, measured.get(&0)?));
        let note = note.unwrap_or_default();
        let mut add = |workload: String, at: Option<usize>| {
            let value = value(&formula, &values, at);
            let is_zero = figure.mean == Mean::Geometric && value == Some(0.0);
            let note = match value {
                Some(_) if is_zero => "zero: not in the mean".to_string(),
                Some(_) => note.clone(),
                None => "no number: the formula divides by zero".to_string(),
            };
            rows.push(row(workload, value, note));
        };
        match &figure.each {
            None => add(program.name.clone(), None),
            Some(each) => {
                let names = measured.get(&0).and_then(|all| all.get(each.get_ref()));
                let Some(Value::List(names)) = names else { return Err(each.get_ref().clone()) };
                for (at, name) in names.iter().enumerate() {
                    let name = match name {
                        Value::Text(name) => name.clone(),
                        Value::Count(number) => number.to_string(),
                        other => format!("{other:?}"),
                    };
                    add(format!("{}:{name}", program.name), Some(at));
                }
            }
        }
    }
    rows.extend(mean(figure, &rows));
    Ok(rows)
}

/// The mean of the rows that have a value.
fn mean(figure: &Figure, rows: &[Row]) -> Option<Row> {
    let values: Vec<f64> = rows.iter().filter_map(|row| row.measured).collect();
    let positive: Vec<f64> = values.iter().copied().filter(|value| *value > 0.0).collect();
    let average = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let measured = match figure.mean {
        Mean::None => return None,
        Mean::Geometric => {
            average(&positive.iter().map(|value| value.ln()).collect::<Vec<_>>()).exp()
        }
        Mean::Arithmetic => average(&values),
    };
    let of = if figure.mean == Mean::Geometric { positive.len() } else { values.len() };
    let missing = rows.len() - of;
    Some(Row {
        figure: figure.name.clone(),
        workload: MEAN.into(),
        paper: figure.paper.get(MEAN).copied(),
        measured: measured.is_finite().then_some(measured),
        note: if missing == 0 {
            String::new()
        } else {
            format!("without {missing} of {}", rows.len())
        },
    })
}

/// The values of the names of a formula; `None` where a run that they are of failed.
fn named(
    suite: &Suite,
    formula: &Formula,
    measured: &Measured,
) -> Result<Option<Vec<Value>>, String> {
    let mut values = Vec::new();
    for name in &formula.names {
        let variant = match &name.variant {
            Some(variant) => suite.variants.iter().position(|known| known.name == *variant),
            None => Some(0),
        };
        let Some(all) = variant.and_then(|variant| measured.get(&variant)) else {
            return Ok(None);
        };
        values.push(all.get(&name.key).cloned().ok_or_else(|| name.key.clone())?);
    }
    Ok(Some(values))
}

/// The value of a formula over statistics, of lists the element `at`; `None` where it is no number.
fn value(formula: &Formula, values: &[Value], at: Option<usize>) -> Option<f64> {
    fn number(value: &Value, at: Option<usize>) -> Option<f64> {
        match value {
            Value::Count(count) => Some(*count as f64),
            Value::Real(real) => Some(*real),
            Value::Text(_) | Value::None => None,
            Value::List(list) => number(list.get(at?)?, None),
        }
    }
    let values: Option<Vec<f64>> = values.iter().map(|value| number(value, at)).collect();
    let value = formula.value(&values?, &mut Vec::new(), || 0.0);
    value.is_finite().then_some(value)
}

/// The greatest statistic of a group, with its share.
fn limit(group: &str, values: &BTreeMap<String, Value>) -> Option<String> {
    let mut all: Vec<(&str, f64)> = Vec::new();
    for (key, value) in values {
        let name = key.strip_prefix(group).and_then(|rest| rest.strip_prefix('.'));
        if let (Some(name), Value::Count(count)) = (name, value) {
            all.push((name, *count as f64));
        }
    }
    let sum: f64 = all.iter().map(|(_, count)| count).sum();
    let (name, most) = all.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    (sum > 0.0).then(|| format!("{} {:.0} %", name.replace(['_', '.'], " "), 100.0 * most / sum))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suite(figure: &str) -> Suite {
        let text = format!(
            "title = 't'\ntarget = 'x'\nlimit = 'stall'\n[[program]]\nname = 'a'\nsource = 'a'\n\
             [[program]]\nname = 'b'\nsource = 'b'\n[[variant]]\nname = 'new'\n[[variant]]\n\
             name = 'old'\n[[figure]]\nname = 'f'\n{figure}\n"
        );
        toml::from_str(&text).expect("a suite")
    }

    fn measured(new: u64, old: Option<u64>) -> Option<Measured> {
        let of = |cycles: u64| {
            let list = |a: u64, b: u64| Value::List(vec![Value::Count(a), Value::Count(b)]);
            let names = Value::List(vec![Value::from("3"), Value::from("7")]);
            BTreeMap::from([
                ("cycles".to_string(), Value::Count(cycles)),
                ("stall.memory".to_string(), Value::Count(3)),
                ("stall.fetch".to_string(), Value::Count(1)),
                ("loop.ii".to_string(), list(4, 6)),
                ("loop.mii".to_string(), list(4, 3)),
                ("loop.line".to_string(), names),
            ])
        };
        let mut all = Measured::from([(0, of(new))]);
        all.extend(old.map(|old| (1, of(old))));
        Some(all)
    }

    #[test]
    fn ratios_and_their_mean() {
        let suite = suite("value = 'cycles@old / cycles'\npaper = { mean = 3.0, b = 9.0 }");
        let rows =
            rows(&suite, &suite.figures[0], &[measured(1, Some(2)), measured(1, Some(8))]).unwrap();
        let short: Vec<_> = rows.iter().map(|r| (&*r.workload, r.paper, r.measured)).collect();
        assert_eq!(short[..2], [("a", None, Some(2.0)), ("b", Some(9.0), Some(8.0))]);
        assert_eq!((short[2].0, short[2].1), ("mean", Some(3.0)));
        assert!((short[2].2.unwrap() - 4.0).abs() < 1e-12);
        assert_eq!(rows[0].note, "memory 75 %");
    }

    #[test]
    fn programs_without_a_run_say_so_and_are_not_averaged() {
        let suite = suite("value = 'cycles@old / cycles'\nmean = 'arithmetic'");
        let rows =
            rows(&suite, &suite.figures[0], &[measured(1, None), measured(2, Some(6))]).unwrap();
        assert_eq!((rows[0].measured, &*rows[0].note), (None, "failed"));
        assert_eq!((rows[2].measured, &*rows[2].note), (Some(3.0), "without 1 of 2"));
    }

    #[test]
    fn lists_have_a_row_an_element() {
        let suite = suite("value = 'loop.ii / loop.mii'\neach = 'loop.line'\nmean = 'arithmetic'");
        let rows = rows(&suite, &suite.figures[0], &[measured(1, None), None]).unwrap();
        let short: Vec<_> = rows.iter().map(|r| (&*r.workload, r.measured)).collect();
        assert_eq!(short, [("a:3", Some(1.0)), ("a:7", Some(2.0)), ("mean", Some(1.5))]);
    }

    #[test]
    fn statistics_that_nothing_counts_are_named() {
        let suite = suite("value = 'cylces'");
        let found = rows(&suite, &suite.figures[0], &[measured(1, None), None]);
        assert_eq!(found, Err("cylces".to_string()));
    }
}
