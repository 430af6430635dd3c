//! Query of a badge. The parameters and their values are a small table, and anything else is
//! rejected with the valid choices. A badge that shows something unintended could remain on other
//! sites for years.

use rules::ComponentId;
use url::form_urlencoded;

/// Metric of a badge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum BadgeMetric {
    /// The current state.
    State,
    /// The uptime over some days.
    Uptime,
    /// The latency of checks in the last day.
    Latency,
}

/// Shape of a badge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Style {
    /// Rounded corners.
    Flat,
    /// Square corners.
    FlatSquare,
}

/// A requested badge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct BadgeQuery {
    pub(super) metric: BadgeMetric,
    /// `None` means the whole page.
    pub(crate) component: Option<ComponentId>,
    pub(super) style: Style,
    /// Number of days of uptime, including today.
    pub(super) days: usize,
    /// Percentile of latencies.
    pub(super) percentile: u8,
}

/// Valid numbers of days. The last is the default.
const DAYS: [usize; 3] = [30, 60, 90];
/// Valid percentiles. The last is the default.
const PERCENTILES: [u8; 2] = [50, 95];

impl BadgeMetric {
    /// Returns the parameters that the metric accepts.
    const fn parameters(self) -> &'static [&'static str] {
        match self {
            Self::State => &["component", "style"],
            Self::Uptime => &["component", "days", "style"],
            Self::Latency => &["component", "percentile", "style"],
        }
    }
}

impl BadgeQuery {
    /// Parses the query of a badge. Returns an error that names the problem and the valid choices.
    pub(crate) fn parse(metric: BadgeMetric, query: Option<&str>) -> Result<Self, String> {
        let mut badge_query = Self {
            metric,
            component: None,
            style: Style::Flat,
            days: DAYS[DAYS.len() - 1],
            percentile: PERCENTILES[PERCENTILES.len() - 1],
        };
        let mut named: Vec<String> = Vec::new();
        for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            let known = metric.parameters();
            if !known.contains(&&*name) {
                let known = known.join("`, `");
                return Err(format!("unknown parameter `{name}`; expected one of `{known}`"));
            }
            if named.iter().any(|before| *before == name) {
                return Err(format!("`{name}` is given twice"));
            }
            badge_query.set_parameter(&name, &value)?;
            named.push(name.into_owned());
        }
        Ok(badge_query)
    }

    fn set_parameter(&mut self, name: &str, value: &str) -> Result<(), String> {
        let one_of =
            |words: &[&str]| format!("`{name}` must be one of {}, not `{value}`", words.join(", "));
        match name {
            "component" => {
                let id = ComponentId::parse(value);
                let id =
                    id.map_err(|_| format!("`component` must be an id, `cmp_…`, not `{value}`"))?;
                self.component = Some(id);
            }
            "style" => {
                self.style = match value {
                    "flat" => Style::Flat,
                    "flat-square" => Style::FlatSquare,
                    _ => return Err(one_of(&["flat", "flat-square"])),
                };
            }
            "days" => {
                let wanted = DAYS.into_iter().find(|days| days.to_string() == value);
                self.days = wanted.ok_or_else(|| {
                    one_of(&DAYS.map(|it| it.to_string()).each_ref().map(String::as_str))
                })?;
            }
            "percentile" => {
                let wanted = PERCENTILES.into_iter().find(|it| it.to_string() == value);
                self.percentile = wanted.ok_or_else(|| {
                    one_of(&PERCENTILES.map(|it| it.to_string()).each_ref().map(String::as_str))
                })?;
            }
            other => panic!("unhandled parameter `{other}` of the table"),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const METRICS: [BadgeMetric; 3] =
        [BadgeMetric::State, BadgeMetric::Uptime, BadgeMetric::Latency];

    #[test]
    fn query_without_parameters_gives_the_default_badge() {
        for metric in METRICS {
            for query in [None, Some("")] {
                let badge_query = BadgeQuery::parse(metric, query).unwrap();
                let usual = (None, Style::Flat, 90, 95);
                assert_eq!(
                    (
                        badge_query.component,
                        badge_query.style,
                        badge_query.days,
                        badge_query.percentile
                    ),
                    usual
                );
            }
        }
    }

    #[test]
    fn every_parameter_of_the_table_is_read() {
        for metric in METRICS {
            for name in metric.parameters() {
                let wrong = BadgeQuery::parse(metric, Some(&format!("{name}=?"))).unwrap_err();
                assert!(wrong.contains(&format!("`{name}` must be")), "{wrong}");
            }
        }
        let badge_query =
            BadgeQuery::parse(BadgeMetric::Uptime, Some("days=30&style=flat-square")).unwrap();
        assert_eq!((badge_query.days, badge_query.style), (30, Style::FlatSquare));
        let badge_query = BadgeQuery::parse(BadgeMetric::Latency, Some("percentile=50")).unwrap();
        assert_eq!(badge_query.percentile, 50);
        let id = ComponentId::from_bits(7);
        let badge_query =
            BadgeQuery::parse(BadgeMetric::State, Some(&format!("component={id}"))).unwrap();
        assert_eq!(badge_query.component, Some(id));
    }

    // issue 7: badges; a wrong parameter is rejected and never shows an unintended badge
    #[test]
    fn invalid_parameter_error_lists_valid_choices() {
        let errors: Vec<String> = [
            (BadgeMetric::State, "days=30"),
            (BadgeMetric::Uptime, "days=31"),
            (BadgeMetric::Uptime, "days=30&days=90"),
            (BadgeMetric::Latency, "percentile=p95"),
            (BadgeMetric::Latency, "style=plastic"),
            (BadgeMetric::State, "component=mon_1"),
            (BadgeMetric::State, "Style=flat"),
        ]
        .into_iter()
        .map(|(metric, query)| BadgeQuery::parse(metric, Some(query)).unwrap_err())
        .collect();
        insta::assert_snapshot!(errors.join("\n"), @"
        unknown parameter `days`; expected one of `component`, `style`
        `days` must be one of 30, 60, 90, not `31`
        `days` is given twice
        `percentile` must be one of 50, 95, not `p95`
        `style` must be one of flat, flat-square, not `plastic`
        `component` must be an id, `cmp_…`, not `mon_1`
        unknown parameter `Style`; expected one of `component`, `style`
        ");
    }
}
