//! Which badge is asked for, as its address says it. What an address may say is a small table, and what it
//! says beyond that is refused with what there is: a badge that shows something else than was meant would
//! stand on other people's pages for years.

use rules::ComponentId;
use url::form_urlencoded;

/// What a badge shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Subject {
    /// The state of now.
    State,
    /// The uptime of some days.
    Uptime,
    /// How long checks of the last day took.
    Latency,
}

/// How a badge looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Style {
    /// With round corners.
    Flat,
    /// With square ones.
    FlatSquare,
}

/// A badge as it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::status_page) struct Wish {
    pub(super) subject: Subject,
    /// `None` is the whole page.
    pub(in crate::status_page) component: Option<ComponentId>,
    pub(super) style: Style,
    /// How many days of uptime, today included.
    pub(super) days: usize,
    /// The percentile of latencies.
    pub(super) percentile: u8,
}

/// Spans of days that a badge tells of, the last is for those who name none.
const DAYS: [usize; 3] = [30, 60, 90];
/// Percentiles, likewise.
const PERCENTILES: [u8; 2] = [50, 95];

impl Subject {
    /// The parameters that its address may have.
    const fn parameters(self) -> &'static [&'static str] {
        match self {
            Self::State => &["component", "style"],
            Self::Uptime => &["component", "days", "style"],
            Self::Latency => &["component", "percentile", "style"],
        }
    }
}

impl Wish {
    /// What the rest of an address behind its question mark asks for, or what is wrong with it and what
    /// would be right.
    pub(in crate::status_page) fn read(
        subject: Subject,
        query: Option<&str>,
    ) -> Result<Self, String> {
        let mut wish = Self {
            subject,
            component: None,
            style: Style::Flat,
            days: DAYS[DAYS.len() - 1],
            percentile: PERCENTILES[PERCENTILES.len() - 1],
        };
        let mut named: Vec<String> = Vec::new();
        for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            let known = subject.parameters();
            if !known.contains(&&*name) {
                let known = known.join("`, `");
                return Err(format!("unknown parameter `{name}`; expected one of `{known}`"));
            }
            if named.iter().any(|before| *before == name) {
                return Err(format!("`{name}` is given twice"));
            }
            wish.take(&name, &value)?;
            named.push(name.into_owned());
        }
        Ok(wish)
    }

    fn take(&mut self, name: &str, value: &str) -> Result<(), String> {
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
            other => panic!("the table has a parameter `{other}` that nobody reads here"),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUBJECTS: [Subject; 3] = [Subject::State, Subject::Uptime, Subject::Latency];

    #[test]
    fn an_address_without_parameters_asks_for_the_usual_badge() {
        for subject in SUBJECTS {
            for query in [None, Some("")] {
                let wish = Wish::read(subject, query).unwrap();
                let usual = (None, Style::Flat, 90, 95);
                assert_eq!((wish.component, wish.style, wish.days, wish.percentile), usual);
            }
        }
    }

    #[test]
    fn every_parameter_of_the_table_is_read() {
        for subject in SUBJECTS {
            for name in subject.parameters() {
                let wrong = Wish::read(subject, Some(&format!("{name}=?"))).unwrap_err();
                assert!(wrong.contains(&format!("`{name}` must be")), "{wrong}");
            }
        }
        let wish = Wish::read(Subject::Uptime, Some("days=30&style=flat-square")).unwrap();
        assert_eq!((wish.days, wish.style), (30, Style::FlatSquare));
        let wish = Wish::read(Subject::Latency, Some("percentile=50")).unwrap();
        assert_eq!(wish.percentile, 50);
        let id = ComponentId::from_bits(7);
        let wish = Wish::read(Subject::State, Some(&format!("component={id}"))).unwrap();
        assert_eq!(wish.component, Some(id));
    }

    // issue 7: badges; a wrong parameter is told, and never shows another badge than was meant
    #[test]
    fn what_an_address_says_beyond_the_table_is_refused_with_what_there_is() {
        let told: Vec<String> = [
            (Subject::State, "days=30"),
            (Subject::Uptime, "days=31"),
            (Subject::Uptime, "days=30&days=90"),
            (Subject::Latency, "percentile=p95"),
            (Subject::Latency, "style=plastic"),
            (Subject::State, "component=mon_1"),
            (Subject::State, "Style=flat"),
        ]
        .into_iter()
        .map(|(subject, query)| Wish::read(subject, Some(query)).unwrap_err())
        .collect();
        insta::assert_snapshot!(told.join("\n"), @"
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
