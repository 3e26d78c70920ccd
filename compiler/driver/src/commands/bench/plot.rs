//! Figures as a picture: a chart of bars a figure, a pair of bars a workload, the paper's and ours.
//! SVG 1.1 without scripts or fonts of its own, so that browsers and papers take it.

use std::fmt::Write;

use super::figures::Row;
use super::suite::{Figure, MEAN};
use super::table::number;

/// Pixels: of a chart, its margins, a pair of bars.
const HEIGHT: f64 = 120.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 62.0;
const LEFT: f64 = 56.0;
const PAIR: f64 = 46.0;
const BAR: f64 = 17.0;

const OURS: &str = "#2b6cb0";
const PAPER: &str = "#c9a227";

/// The picture of all figures.
pub fn svg(title: &str, figures: &[(&Figure, Vec<Row>)]) -> String {
    let most = figures.iter().map(|(_, rows)| rows.len()).max().unwrap_or(0);
    let width = LEFT + PAIR * most as f64 + 24.0;
    let step = TOP + HEIGHT + BOTTOM;
    let height = 44.0 + step * figures.len() as f64;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"10\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"8\" y=\"18\" font-size=\"14\">{}</text>\n\
         <rect x=\"8\" y=\"26\" width=\"9\" height=\"9\" fill=\"{PAPER}\"/>\
         <text x=\"20\" y=\"34\">paper</text>\n\
         <rect x=\"60\" y=\"26\" width=\"9\" height=\"9\" fill=\"{OURS}\"/>\
         <text x=\"72\" y=\"34\">measured</text>\n",
        escaped(title)
    );
    for (index, (figure, rows)) in figures.iter().enumerate() {
        chart(&mut text, figure, rows, 44.0 + step * index as f64);
    }
    text.push_str("</svg>\n");
    text
}

fn chart(text: &mut String, figure: &Figure, rows: &[Row], top: f64) {
    let values = rows.iter().flat_map(|row| [row.paper, row.measured]).flatten();
    let greatest = values.fold(0.0, f64::max);
    let tick = tick(greatest);
    let ticks = if tick > 0.0 { (greatest / tick).ceil().max(1.0) } else { 1.0 };
    let scale = if tick > 0.0 { HEIGHT / (tick * ticks) } else { 0.0 };
    let base = top + TOP + HEIGHT;
    let right = LEFT + PAIR * rows.len() as f64;
    let name = escaped(&figure.name);
    let _ = writeln!(text, "<text x=\"8\" y=\"{}\" font-size=\"12\">{name}</text>", top + 20.0);
    for step in 0..=ticks as u32 {
        let value = tick * f64::from(step);
        let y = base - value * scale;
        let _ = writeln!(
            text,
            "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\" stroke=\"#ddd\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 4.0,
            y + 3.0,
            number(Some(value))
        );
    }
    for (index, row) in rows.iter().enumerate() {
        let x = LEFT + PAIR * index as f64 + 5.0;
        for (value, fill, at) in [(row.paper, PAPER, x), (row.measured, OURS, x + BAR + 1.0)] {
            let Some(value) = value else { continue };
            let height = value.max(0.0) * scale;
            let _ = writeln!(
                text,
                "<rect x=\"{at}\" y=\"{:.1}\" width=\"{BAR}\" height=\"{height:.1}\" \
                 fill=\"{fill}\"><title>{}: {}</title></rect>",
                base - height,
                escaped(&row.workload),
                number(Some(value))
            );
        }
        let weight = if row.workload == MEAN { " font-weight=\"bold\"" } else { "" };
        let (x, y) = (x + BAR, base + 12.0);
        let _ = writeln!(
            text,
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"end\" transform=\"rotate(-35 {x} {y})\"{weight}>\
             {}</text>",
            escaped(&row.workload)
        );
    }
}

/// A distance of lines, 1, 2 or 5 times a power of ten, of which there are up to five.
fn tick(greatest: f64) -> f64 {
    if greatest <= 0.0 {
        return 0.0;
    }
    let power = 10f64.powf((greatest / 5.0).log10().floor());
    let fits = |factor: &&f64| **factor * power * 5.0 >= greatest;
    [1.0, 2.0, 5.0, 10.0].iter().find(fits).map_or(10.0 * power, |factor| factor * power)
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_few_and_round() {
        for (greatest, expected) in [(1.0, 0.2), (2.83, 1.0), (99.0, 20.0), (5000.0, 1000.0)] {
            assert!((tick(greatest) - expected).abs() < 1e-9, "{greatest}: {}", tick(greatest));
        }
        assert_eq!(tick(0.0), 0.0);
    }

    #[test]
    fn names_are_escaped() {
        assert_eq!(escaped("a<b> & \"c\"\u{1}"), "a&lt;b&gt; &amp; &quot;c&quot;");
    }
}
