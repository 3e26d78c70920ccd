//! Figures for people: a table a figure, and their means one below the other.

use std::fmt::Write;

use super::figures::Row;
use super::suite::{Figure, MEAN, Mean};
use crate::style::{BOLD, DIM};

/// The tables of all figures.
pub fn tables(figures: &[(&Figure, Vec<Row>)]) -> String {
    let mut tables: Vec<String> =
        figures.iter().map(|(figure, rows)| table(figure, rows)).collect();
    let means: Vec<&Row> =
        figures.iter().filter_map(|(_, rows)| rows.last()).filter(|r| r.workload == MEAN).collect();
    if means.len() > 1 {
        let width = means.iter().map(|row| row.figure.chars().count()).max().unwrap_or(0);
        let heading = format!("{:width$}  {:>10}  {:>10}", "means", "paper", "measured");
        let mut text = format!("{BOLD}{heading}{BOLD:#}\n");
        for row in means {
            let (paper, measured) = (number(row.paper), number(row.measured));
            let line = format!("{:width$}  {paper:>10}  {measured:>10}  {}", row.figure, row.note);
            let _ = writeln!(text, "{}", line.trim_end());
        }
        tables.push(text);
    }
    tables.join("\n")
}

fn table(figure: &Figure, rows: &[Row]) -> String {
    let width = rows.iter().map(|row| row.workload.chars().count()).max().unwrap_or(0).max(8);
    let how = match figure.mean {
        Mean::Geometric => "geometric mean",
        Mean::Arithmetic => "arithmetic mean",
        Mean::None => "",
    };
    let about: Vec<&str> =
        [&*figure.about, how].into_iter().filter(|part| !part.is_empty()).collect();
    let mut text = format!("{BOLD}{}{BOLD:#}", figure.name);
    if !about.is_empty() {
        let _ = write!(text, "  {DIM}{}{DIM:#}", about.join("; "));
    }
    let _ = writeln!(text, "\n  {:width$}  {:>10}  {:>10}", "workload", "paper", "measured");
    for row in rows {
        let (paper, measured) = (number(row.paper), number(row.measured));
        let line = format!("  {:width$}  {paper:>10}  {measured:>10}  {}", row.workload, row.note);
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// A number with four digits or so; a dash where there is none.
pub fn number(value: Option<f64>) -> String {
    match value {
        None => "-".into(),
        Some(value) if value.abs() >= 1000.0 => format!("{value:.0}"),
        Some(value) if value.abs() >= 100.0 => format!("{value:.1}"),
        Some(value) if value.abs() >= 10.0 => format!("{value:.2}"),
        Some(value) => format!("{value:.3}"),
    }
}
