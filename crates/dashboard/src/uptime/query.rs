//! The query of a report: parsed from a URL, and written back to one.

use domain::history::UptimeTarget;
use rules::Tag;
use serde::Deserialize;

use super::period::Period;

/// Rows of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subjects {
    Monitors,
    Tags,
    Pages,
}

/// Order of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReportOrder {
    /// Lowest uptime first.
    Worst,
    Name,
    /// Most incidents first.
    Incidents,
}

/// Query as it was written.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct UptimeQuery {
    period: String,
    by: String,
    tag: String,
    target: String,
    sort: String,
    q: String,
    rows: String,
    pub(super) page: Option<u32>,
}

/// Valid query of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReportQuery {
    pub(super) period: Period,
    pub(super) subjects: Subjects,
    /// Tag that the monitors have. Rows of tags and pages ignore it.
    pub(super) tag: Option<Tag>,
    pub(super) target: UptimeTarget,
    /// Target of the workspace. A URL names only another one.
    pub(super) stored_target: UptimeTarget,
    pub(super) order: ReportOrder,
    /// Part of the names of the rows.
    pub(super) search: String,
    /// Whether all rows are on one page, for printing.
    pub(super) is_whole: bool,
}

impl UptimeQuery {
    /// Returns the query in a workspace with this target. Unknown words mean the default.
    pub(super) fn parse(&self, stored_target: UptimeTarget) -> ReportQuery {
        ReportQuery {
            period: Period::parse(&self.period),
            subjects: match self.by.as_str() {
                "tag" => Subjects::Tags,
                "page" => Subjects::Pages,
                _ => Subjects::Monitors,
            },
            tag: Tag::parse(self.tag.trim()).ok(),
            target: UptimeTarget::parse(&self.target).unwrap_or(stored_target),
            stored_target,
            order: match self.sort.as_str() {
                "name" => ReportOrder::Name,
                "incidents" => ReportOrder::Incidents,
                _ => ReportOrder::Worst,
            },
            search: self.q.trim().to_owned(),
            is_whole: self.rows == "all",
        }
    }

    /// Returns the target as it was written, if it is invalid.
    pub(super) fn invalid_target(&self) -> Option<&str> {
        let is_valid = self.target.is_empty() || UptimeTarget::parse(&self.target).is_some();
        (!is_valid).then_some(self.target.as_str())
    }
}

impl Subjects {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Monitors => "monitor",
            Self::Tags => "tag",
            Self::Pages => "page",
        }
    }
}

impl ReportOrder {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Worst => "worst",
            Self::Name => "name",
            Self::Incidents => "incidents",
        }
    }
}

impl ReportQuery {
    /// Returns the query in a URL, without the parts that have their default.
    pub(super) fn url(&self) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.append_pair("period", &self.period.name());
        if self.target != self.stored_target {
            query.append_pair("target", &self.target.to_string());
        }
        if self.subjects != Subjects::Monitors {
            query.append_pair("by", self.subjects.name());
        } else if let Some(tag) = &self.tag {
            query.append_pair("tag", tag.as_str());
        }
        if self.order != ReportOrder::Worst {
            query.append_pair("sort", self.order.name());
        }
        if !self.search.is_empty() {
            query.append_pair("q", &self.search);
        }
        query.finish()
    }

    /// Returns whether the monitors with this tag are chosen.
    pub(super) fn has_tag(&self, tag: &str) -> bool {
        self.tag.as_ref().is_some_and(|chosen| chosen.key() == tag.to_lowercase())
    }

    /// Returns this query in another order.
    pub(super) fn ordered(&self, order: ReportOrder) -> String {
        Self { order, ..self.clone() }.url()
    }

    /// Returns this query for other rows.
    pub(super) fn by(&self, subjects: Subjects) -> String {
        Self { subjects, tag: None, search: String::new(), ..self.clone() }.url()
    }

    /// Returns this query for the monitors with a tag.
    pub(super) fn of_tag(&self, tag: &str) -> String {
        let (subjects, tag) = (Subjects::Monitors, Tag::parse(tag).ok());
        Self { subjects, tag, search: String::new(), ..self.clone() }.url()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_survives_its_url() {
        let asked = UptimeQuery {
            period: "2026-10".to_owned(),
            by: "page".to_owned(),
            target: "99.95".to_owned(),
            sort: "name".to_owned(),
            q: " a&b ".to_owned(),
            ..UptimeQuery::default()
        };
        let query = asked.parse(UptimeTarget::DEFAULT);
        assert_eq!(query.url(), "period=2026-10&target=99.95&by=page&sort=name&q=a%26b");
        let default = UptimeQuery::default().parse(UptimeTarget::DEFAULT);
        assert_eq!(default.url(), "period=this-month");
        assert_eq!(query.of_tag("team a"), "period=2026-10&target=99.95&tag=team+a&sort=name");
    }

    #[test]
    fn target_of_the_workspace_is_the_default() {
        let stored = UptimeTarget::parse("99.5").unwrap();
        assert_eq!(UptimeQuery::default().parse(stored).target, stored);
        let asked = UptimeQuery { target: "99.9".to_owned(), ..UptimeQuery::default() };
        assert_eq!(asked.parse(stored).url(), "period=this-month&target=99.9");
    }

    #[test]
    fn invalid_target_is_reported() {
        let asked =
            |target: &str| UptimeQuery { target: target.to_owned(), ..UptimeQuery::default() };
        assert_eq!(asked("101").invalid_target(), Some("101"));
        assert_eq!(asked("101").parse(UptimeTarget::DEFAULT).target, UptimeTarget::DEFAULT);
        assert!(asked("").invalid_target().is_none() && asked("99").invalid_target().is_none());
    }
}
