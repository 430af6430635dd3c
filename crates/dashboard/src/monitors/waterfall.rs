//! Waterfalls: the phases of an exchange as bars on one scale, and as one bar of parts.

use std::fmt::Write as _;

use contract::monitor::wire::Phases;

use super::units;

/// Width of the scale in SVG units.
const WIDTH: f64 = 1_000.0;
/// Minimum width of a bar, so that a short phase remains visible.
const WIDTH_MIN: f64 = 3.0;

/// Phases with their classes of the style sheet, in their order.
const PHASES: [(&str, &str); 5] = [
    ("DNS", "phase-dns"),
    ("Connect", "phase-connect"),
    ("TLS", "phase-tls"),
    ("First byte", "phase-wait"),
    ("Transfer", "phase-transfer"),
];

/// Bar of a phase.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PhaseBar {
    pub(crate) label: &'static str,
    pub(crate) class: &'static str,
    pub(crate) text: String,
    /// Position and width in SVG units.
    pub(crate) x: String,
    pub(crate) width: String,
}

/// Returns the bars of each of these exchanges, which follow each other.
pub(super) fn bars(exchanges: &[&Phases]) -> Vec<Vec<PhaseBar>> {
    let total: i64 = exchanges.iter().map(|it| total(it)).sum();
    let scale = WIDTH / (total.max(1) as f64);
    let mut elapsed = 0_i64;
    let bars_of = |phases: &&Phases| {
        let reached = PHASES.into_iter().zip(values(phases));
        let reached = reached.filter_map(|((label, class), micros)| {
            let micros = micros?;
            let x = elapsed as f64 * scale;
            elapsed += i64::from(micros);
            let width = (f64::from(micros) * scale).max(WIDTH_MIN);
            Some(PhaseBar {
                label,
                class,
                text: units::latency(micros),
                x: format!("{:.1}", x.min(WIDTH - WIDTH_MIN)),
                width: format!("{width:.1}"),
            })
        });
        reached.collect()
    };
    exchanges.iter().map(bars_of).collect()
}

/// Returns one bar whose parts are the phases. `most_us` is the latency that fills it.
pub(super) fn stacked(phases: &Phases, most_us: i32) -> String {
    let scale = WIDTH / f64::from(most_us.max(1));
    let (mut svg, mut x) = (
        "<svg class=\"stack\" viewBox=\"0 0 1000 8\" preserveAspectRatio=\"none\" \
         aria-hidden=\"true\">"
            .to_owned(),
        0.0,
    );
    for ((_, class), micros) in PHASES.into_iter().zip(values(phases)) {
        let width = f64::from(micros.unwrap_or_default()) * scale;
        if width >= 0.5 {
            let _ = write!(
                svg,
                "<rect class=\"{class}\" x=\"{x:.1}\" width=\"{width:.1}\" height=\"8\"/>"
            );
        }
        x += width;
    }
    svg + "</svg>"
}

/// Returns the name and duration of each phase that was reached.
pub(super) fn named(phases: &Phases) -> Vec<(&'static str, i32)> {
    let all = PHASES.into_iter().zip(values(phases));
    all.filter_map(|((label, _), micros)| Some((label, micros?))).collect()
}

/// Returns the sum of all phases, in microseconds.
fn total(phases: &Phases) -> i64 {
    values(phases).into_iter().flatten().map(i64::from).sum()
}

fn values(phases: &Phases) -> [Option<i32>; 5] {
    let Phases { dns_us, connect_us, tls_us, first_byte_us, transfer_us, .. } = phases;
    [*dns_us, *connect_us, *tls_us, *first_byte_us, *transfer_us]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_follow_each_other_over_redirects() {
        let first =
            Phases { dns_us: Some(10_000), first_byte_us: Some(40_000), ..Phases::default() };
        let second = Phases { first_byte_us: Some(50_000), ..Phases::default() };
        let drawn = bars(&[&first, &second]);
        let places: Vec<_> =
            drawn.iter().flatten().map(|it| (it.label, &*it.x, &*it.width)).collect();
        assert_eq!(
            places,
            [
                ("DNS", "0.0", "100.0"),
                ("First byte", "100.0", "400.0"),
                ("First byte", "500.0", "500.0")
            ]
        );
    }

    #[test]
    fn bar_of_parts_leaves_missing_phases_out() {
        let phases = Phases { connect_us: Some(250), transfer_us: Some(250), ..Phases::default() };
        let svg = stacked(&phases, 1_000);
        assert_eq!(svg.matches("<rect").count(), 2);
        assert!(svg.contains("class=\"phase-transfer\" x=\"250.0\" width=\"250.0\""), "{svg}");
    }
}
