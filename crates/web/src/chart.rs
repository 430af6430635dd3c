//! Charts as inline SVG, for status pages and the dashboard: lines of percentiles and stacked bars of
//! phases. They need no script. A surface gives them padding on the left, for the values of the axis, and
//! on the right, for the names of lines. A table next to each chart contains the same values. Lines have
//! their names at their ends, and parts of bars the order of their legend, so that no meaning depends on
//! colour alone.

use std::fmt::Write as _;

use crate::escape::escaped;

/// Height of the chart, and the top and bottom edge of the plot area.
const HEIGHT: u32 = 240;
const TOP: u32 = 20;
const BOTTOM: u32 = 214;
/// Number of intervals on the value axis.
const PARTS: u32 = 4;
/// Width of a time step in SVG units. The browser stretches them.
const STEP: u32 = 10;
/// Possible ends of the value axis, in tenths of a power of ten. A quarter of each is a short
/// number.
const TENTHS: [u32; 9] = [10, 12, 16, 20, 24, 32, 40, 60, 80];
/// Maximum number of labels on the time axis.
const LABELS: usize = 4;

/// Width of each line, whose colours are shades of one.
const LINES: [&str; 5] = ["2.4", "1.6", "1.6", "1.6", "1.2"];
/// Minimum distance of the names of lines.
const NAME_STEP: f64 = 13.0;
/// Height of the highest name: beside the top of the values.
const NAME_TOP: f64 = 4.0;

/// Data of a chart: a value in microseconds for each series and time step.
#[derive(Debug)]
pub struct Chart<'a> {
    /// Identifier, unique within the page.
    pub id: &'a str,
    pub title: &'a str,
    /// Description for assistive technology.
    pub about: &'a str,
    /// Names of the series.
    pub names: [&'a str; 5],
    /// Start of each step, formatted.
    pub times: &'a [String],
    /// Start of each step, abbreviated for the time axis.
    pub labels: &'a [String],
    /// Values of each step. `None` if there is no data.
    pub values: &'a [Option<[u32; 5]>],
    /// Format of milliseconds.
    pub unit: &'a str,
}

impl Chart<'_> {
    /// Renders the values of a step as separate lines.
    pub fn lines(&self) -> String {
        let most = self.values.iter().flatten().flatten().copied().max().unwrap_or(0);
        let scale = Scale::for_max(most);
        let mut drawing = String::new();
        // The median is drawn last, over the others.
        for (series, width) in LINES.iter().enumerate().rev() {
            let _ = write!(
                drawing,
                "<path d=\"{}\" stroke=\"{}\" stroke-width=\"{width}\"/>",
                self.path(series, scale),
                shade(series)
            );
        }
        // The drawing is stretched to the width of the page. The strokes keep their width.
        let (width, height) = (self.count() * STEP, BOTTOM - TOP);
        let drawing = format!(
            "<svg width=\"100%\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             preserveAspectRatio=\"none\" fill=\"none\" stroke-linecap=\"round\" stroke-linejoin=\"round\">{}</svg>",
            drawing.replace("<path ", "<path vector-effect=\"non-scaling-stroke\" ")
        );
        self.wrap_svg(scale, &(drawing + &self.line_names(scale)))
    }

    /// Renders the values of a step as parts of a stacked bar.
    pub fn stacks(&self) -> String {
        let sum =
            |values: &[u32; 5]| values.iter().fold(0_u32, |all, one| all.saturating_add(*one));
        let scale = Scale::for_max(self.values.iter().flatten().map(sum).max().unwrap_or(0));
        let mut drawing = String::new();
        for (place, values) in self.values.iter().enumerate() {
            let Some(values) = values else { continue };
            let (left, width) = (self.percent(place as f64 + 0.1), self.percent(0.8));
            let mut below = 0_u32;
            for (part, value) in values.iter().enumerate() {
                let (bottom, top) = (scale.y(below), scale.y(below.saturating_add(*value)));
                below = below.saturating_add(*value);
                let height = bottom - top;
                if height >= 0.05 {
                    let _ = write!(
                        drawing,
                        "<rect x=\"{left}\" y=\"{top:.1}\" width=\"{width}\" height=\"{height:.1}\" \
                         fill=\"{}\"/>",
                        phase(part)
                    );
                }
            }
        }
        self.wrap_svg(scale, &drawing)
    }

    /// Returns the legend of the lines, with a sample of each.
    pub fn legend_of_lines(&self) -> String {
        self.legend(|place| {
            let (width, shade) = (LINES[place], shade(place));
            format!(
                "<line x1=\"1\" x2=\"31\" y1=\"6\" y2=\"6\" stroke=\"{shade}\" \
                 stroke-linecap=\"round\" stroke-width=\"{width}\"/>"
            )
        })
    }

    /// Returns the legend of the stacked bars, with a sample of each part.
    pub fn legend_of_stacks(&self) -> String {
        self.legend(|place| {
            format!("<rect width=\"32\" height=\"12\" rx=\"2\" fill=\"{}\"/>", phase(place))
        })
    }

    fn legend(&self, sample: impl Fn(usize) -> String) -> String {
        let mut html = String::from("<ul class=\"legend\">");
        for (place, name) in self.names.iter().enumerate() {
            let _ = write!(
                html,
                "<li><svg width=\"32\" height=\"12\" aria-hidden=\"true\">{}</svg> {}</li>",
                sample(place),
                escaped(name)
            );
        }
        html + "</ul>"
    }

    /// Adds the axes, the title and the description to a drawing.
    fn wrap_svg(&self, scale: Scale, drawing: &str) -> String {
        let (id, title, about) = (self.id, escaped(self.title), escaped(self.about));
        let mut svg = format!(
            "<svg role=\"img\" aria-labelledby=\"{id}t {id}d\" width=\"100%\" height=\"{HEIGHT}\" \
             overflow=\"visible\" direction=\"ltr\" font-size=\"12\" fill=\"var(--soft)\"><title id=\"{id}t\">{title}</title>\
             <desc id=\"{id}d\">{about}</desc>"
        );
        for part in 0..=PARTS {
            let y = height_of(part);
            let _ = write!(svg, "<line x2=\"100%\" y1=\"{y}\" y2=\"{y}\" stroke=\"var(--line)\"/>");
        }
        let height = BOTTOM - TOP;
        let _ = write!(
            svg,
            "<svg y=\"{TOP}\" width=\"100%\" height=\"{height}\" overflow=\"visible\">{drawing}{}</svg>",
            self.hints(height)
        );
        svg.push_str(&self.scale_of_values(scale));
        svg.push_str(&self.scale_of_time());
        svg + "</svg>"
    }

    /// Returns the tooltip of each step.
    fn hints(&self, height: u32) -> String {
        let mut hints = String::from("<g fill=\"transparent\">");
        for (place, (time, values)) in self.times.iter().zip(self.values).enumerate() {
            let Some(values) = values else { continue };
            let values_by_name = self.names.iter().zip(values);
            let values_by_name = values_by_name
                .map(|(name, value)| format!("{name} {}", milliseconds(*value, self.unit)));
            let values_by_name: Vec<String> = values_by_name.collect();
            let _ = write!(
                hints,
                "<rect x=\"{}\" width=\"{}\" height=\"{height}\"><title>{}: {}</title></rect>",
                self.percent(place as f64),
                self.percent(1.0),
                escaped(time),
                escaped(&values_by_name.join(", "))
            );
        }
        hints + "</g>"
    }

    /// Returns the number of steps, at least one.
    fn count(&self) -> u32 {
        self.values.len().max(1) as u32
    }

    /// Returns the horizontal position of a step as a percentage.
    fn percent(&self, steps: f64) -> String {
        format!("{:.2}%", steps * 100.0 / f64::from(self.count()))
    }

    /// Renders the labels of the value axis before its lines: in the padding of the chart, which the
    /// style sheets of the surfaces add.
    fn scale_of_values(&self, scale: Scale) -> String {
        let mut labels = String::from("<g text-anchor=\"end\">");
        for part in 0..=PARTS {
            let label = milliseconds(scale.top_us / PARTS * part, self.unit);
            let y = height_of(part) + 4;
            let _ = write!(labels, "<text x=\"-8\" y=\"{y}\">{}</text>", escaped(&label));
        }
        labels + "</g>"
    }

    /// Renders the name of each line right of its last value. Names that would overlap move apart.
    fn line_names(&self, scale: Scale) -> String {
        let mut labels = String::from("<g>");
        let Some(last) = self.values.iter().flatten().next_back() else { return String::new() };
        let mut below = f64::INFINITY;
        let apart = last.iter().map(|value| {
            below = (scale.y(*value) + 4.0).min(below - NAME_STEP);
            below
        });
        let heights: Vec<f64> = apart.collect();
        // Names at the top move down together, so that they stay within the chart.
        let down = heights.last().map_or(0.0, |top| (NAME_TOP - top).max(0.0));
        for (name, height) in self.names.iter().zip(heights) {
            let (name, y) = (escaped(name), height + down);
            let _ = write!(labels, "<text x=\"100%\" dx=\"6\" y=\"{y:.1}\">{name}</text>");
        }
        labels + "</g>"
    }

    /// Renders labels for some of the times, always including the first and the last.
    fn scale_of_time(&self) -> String {
        let mut labels = String::new();
        let Some(last) = self.labels.len().checked_sub(1) else { return labels };
        for place in 0..LABELS {
            let anchor = match place {
                0 => "start",
                place if place + 1 == LABELS => "end",
                _ => "middle",
            };
            let _ = write!(
                labels,
                "<text x=\"{}%\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
                place * 100 / (LABELS - 1),
                HEIGHT - 8,
                escaped(&self.labels[last * place / (LABELS - 1)])
            );
        }
        labels
    }

    /// Returns the path of a line, with a gap for each step without data.
    fn path(&self, series: usize, scale: Scale) -> String {
        let (mut path, mut is_drawn) = (String::new(), false);
        for (place, values) in self.values.iter().enumerate() {
            let Some(values) = values else {
                is_drawn = false;
                continue;
            };
            let (x, y) = (place as u32 * STEP + STEP / 2, scale.y(values[series]));
            // A single step between gaps is a dot: a line of no length with round ends.
            let _ =
                if is_drawn { write!(path, "L{x} {y:.1}") } else { write!(path, "M{x} {y:.1}h.1") };
            is_drawn = true;
        }
        path
    }
}

/// Returns the colour of a line.
fn shade(series: usize) -> String {
    format!("var(--scale-{})", series + 1)
}

/// Returns the colour of a part of a bar.
fn phase(part: usize) -> String {
    format!("var(--phase-{})", part + 1)
}

/// Returns the vertical position of a grid line, counted from the bottom.
const fn height_of(part: u32) -> u32 {
    BOTTOM - (BOTTOM - TOP) * part / PARTS
}

/// Formats microseconds as milliseconds. Small values have a decimal place.
pub fn milliseconds(micros: u32, unit: &str) -> String {
    let number = match micros {
        0 => "0".to_owned(),
        1..10_000 => format!("{:.1}", f64::from(micros) / 1_000.0),
        _ => (micros / 1_000).to_string(),
    };
    unit.replace("{}", &number)
}

/// Value axis, from zero to a round number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Scale {
    top_us: u32,
}

impl Scale {
    /// Returns the smallest scale that ends at a round number and fits this value.
    fn for_max(most_us: u32) -> Self {
        let mut unit = 1_000_u32;
        loop {
            for tenths in TENTHS {
                let top_us = (unit / 10).saturating_mul(tenths);
                if top_us >= most_us {
                    return Self { top_us };
                }
            }
            unit = unit.saturating_mul(10);
        }
    }

    /// Returns the distance of a value from the top of the plot area.
    fn y(self, micros: u32) -> f64 {
        let share = f64::from(micros.min(self.top_us)) / f64::from(self.top_us);
        f64::from(BOTTOM - TOP) * (1.0 - share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 5] = ["p50", "p75", "p90", "p95", "p99"];

    fn chart<'a>(times: &'a [String], values: &'a [Option<[u32; 5]>]) -> Chart<'a> {
        let (title, about, unit) = ("Time & <more>", "Of checks", "{} ms");
        Chart { id: "l", title, about, names: NAMES, times, labels: times, values, unit }
    }

    fn times(count: usize) -> Vec<String> {
        (0..count).map(|hour| format!("{hour:02}:00")).collect()
    }

    #[test]
    fn missing_values_leave_gaps_and_lines_are_named() {
        let values = [Some([100_000; 5]), None, Some([400_000; 5]), Some([200_000; 5])];
        let svg = chart(&times(4), &values).lines();
        assert!(svg.contains("d=\"M5 145.5h.1M25 0.0h.1L35 97.0\""), "{svg}");
        // The last values are equal, so the names are one above the other.
        for (place, name) in NAMES.into_iter().enumerate() {
            let y = 101.0 - NAME_STEP * place as f64;
            let label = format!("<text x=\"100%\" dx=\"6\" y=\"{y:.1}\">{name}</text>");
            assert!(svg.contains(&label), "{label} is not in {svg}");
            assert_eq!(svg.matches(&shade(place)).count(), 1, "{name}");
        }
        assert!(svg.contains(">400 ms</text>") && svg.contains(">0 ms</text>"), "{svg}");
        assert!(svg.contains("<title>02:00: p50 400 ms, p75 400 ms"), "{svg}");
        assert!(svg.contains("<title id=\"lt\">Time &amp; &lt;more&gt;</title>"), "{svg}");
    }

    #[test]
    fn names_at_the_top_stay_in_the_chart() {
        let svg = chart(&times(1), &[Some([400_000; 5])]).lines();
        for (place, name) in NAMES.into_iter().rev().enumerate() {
            let y = NAME_TOP + NAME_STEP * place as f64;
            assert!(svg.contains(&format!("dx=\"6\" y=\"{y:.1}\">{name}</text>")), "{svg}");
        }
    }

    #[test]
    fn bar_parts_are_stacked_in_distinct_colours() {
        let svg = chart(&times(1), &[Some([1_000, 0, 2_000, 0, 1_000])]).stacks();
        for part in [
            "y=\"145.5\" width=\"80.00%\" height=\"48.5\" fill=\"var(--phase-1)\"",
            "y=\"48.5\" width=\"80.00%\" height=\"97.0\" fill=\"var(--phase-3)\"",
            "y=\"0.0\" width=\"80.00%\" height=\"48.5\" fill=\"var(--phase-5)\"",
        ] {
            assert!(svg.contains(part), "{part} is not in {svg}");
        }
        assert!(!svg.contains("--phase-2"), "what took no time is not drawn");
    }

    #[test]
    fn a_chart_of_nothing_is_drawn_too() {
        let svg = chart(&[], &[]).lines();
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>"), "{svg}");
        // The content security policy of pages forbids style attributes.
        assert!(!svg.contains("style="), "{svg}");
    }

    #[test]
    fn scales_end_at_round_numbers() {
        for (most, top) in
            [(0, 1_000), (1_000, 1_000), (1_001, 1_200), (8_001, 10_000), (123_456, 160_000)]
        {
            assert_eq!(Scale::for_max(most).top_us, top, "{most}");
        }
        assert_eq!(Scale::for_max(u32::MAX).top_us, u32::MAX);
        assert_eq!(milliseconds(1_234, "{} ms"), "1.2 ms");
        assert_eq!(milliseconds(12_345, "{} ms"), "12 ms");
    }
}
