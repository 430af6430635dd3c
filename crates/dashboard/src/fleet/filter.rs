//! A person's choice of monitors: search, filters, order and part of the list. The URL has all of it,
//! so that a view can be shared and reloaded.

use std::cmp::Reverse;
use std::ops::Range;

use rules::{MonitorKind, Tag};
use url::form_urlencoded::Serializer;

use super::snapshot::{FleetRow, FleetSnapshot, Health};

/// Number of monitors on a page.
pub(crate) const PAGE_ROWS: usize = 50;
/// Maximum length of a search in characters.
const SEARCH_CHARS_MAX: usize = 256;

/// Chosen monitors and their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FleetFilter {
    /// Words that name or target contain.
    pub(crate) search: String,
    pub(crate) status: Option<StatusChoice>,
    pub(crate) kind: Option<MonitorKind>,
    pub(crate) tag: Option<Tag>,
    /// Whether the list is grouped by tag.
    pub(crate) is_grouped: bool,
    pub(crate) order: Order,
    /// Page of the list, from 0.
    pub(crate) page: usize,
}

/// Monitors by their status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StatusChoice {
    Health(Health),
    /// Those in maintenance, whatever their status.
    Maintenance,
}

/// Column by which the list is sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SortColumn {
    /// Worst first.
    #[default]
    Status,
    Name,
    Kind,
    /// Latest change first.
    Since,
}

/// Order of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) column: SortColumn,
    pub(crate) is_reversed: bool,
}

impl StatusChoice {
    /// Returns the word of the URL.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Health(health) => health.as_str(),
            Self::Maintenance => "maintenance",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        if word == Self::Maintenance.as_str() {
            return Some(Self::Maintenance);
        }
        Health::ALL.into_iter().find(|health| health.as_str() == word).map(Self::Health)
    }

    fn matches(self, row: &FleetRow<'_>) -> bool {
        match self {
            Self::Health(health) => row.state.health == health,
            Self::Maintenance => row.state.maintenance_until.is_some(),
        }
    }
}

impl SortColumn {
    pub(crate) const ALL: [Self; 4] = [Self::Status, Self::Name, Self::Kind, Self::Since];

    /// Returns the word of the URL.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Name => "name",
            Self::Kind => "kind",
            Self::Since => "since",
        }
    }
}

impl Order {
    fn parse(text: &str) -> Self {
        let (is_reversed, word) = match text.strip_prefix('-') {
            Some(word) => (true, word),
            None => (false, text),
        };
        let column = SortColumn::ALL.into_iter().find(|column| column.as_str() == word);
        column.map_or_else(Self::default, |column| Self { column, is_reversed })
    }
}

impl std::fmt::Display for Order {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.is_reversed { "-" } else { "" };
        write!(f, "{sign}{}", self.column.as_str())
    }
}

impl FleetFilter {
    /// Reads the parameters of a URL or of a form. Unknown ones are ignored.
    pub(crate) fn parse<'p>(parameters: impl IntoIterator<Item = (&'p str, &'p str)>) -> Self {
        let mut filter = Self::default();
        for (name, value) in parameters {
            match name {
                "q" => filter.search = value.trim().chars().take(SEARCH_CHARS_MAX).collect(),
                "status" => filter.status = StatusChoice::parse(value),
                "kind" => filter.kind = MonitorKind::parse(value).ok(),
                "tag" => filter.tag = Tag::parse(value.trim()).ok(),
                "group" => filter.is_grouped = value == "tag",
                "sort" => filter.order = Order::parse(value),
                "page" => filter.page = value.parse().unwrap_or(1_usize).saturating_sub(1),
                _ => {}
            }
        }
        filter
    }

    /// Returns the parameters that differ from the defaults.
    pub(crate) fn parameters(&self) -> Vec<(&'static str, String)> {
        let mut all = Vec::new();
        if !self.search.is_empty() {
            all.push(("q", self.search.clone()));
        }
        if let Some(status) = self.status {
            all.push(("status", status.as_str().to_owned()));
        }
        if let Some(kind) = self.kind {
            all.push(("kind", kind.as_str().to_owned()));
        }
        if let Some(tag) = &self.tag {
            all.push(("tag", tag.to_string()));
        }
        if self.is_grouped {
            all.push(("group", "tag".to_owned()));
        }
        if self.order != Order::default() {
            all.push(("sort", self.order.to_string()));
        }
        if self.page > 0 {
            all.push(("page", (self.page + 1).to_string()));
        }
        all
    }

    /// Returns the query of the URL, with `?` unless it is empty.
    pub(crate) fn query(&self) -> String {
        let parameters = self.parameters();
        if parameters.is_empty() {
            return String::new();
        }
        let query = Serializer::new(String::new()).extend_pairs(parameters).finish();
        format!("?{query}")
    }

    /// Returns whether some monitors may be left out.
    pub(crate) const fn narrows(&self) -> bool {
        !self.search.is_empty()
            || self.status.is_some()
            || self.kind.is_some()
            || self.tag.is_some()
    }

    /// Returns this view from its first monitor on, with a status.
    pub(crate) fn with_status(&self, status: Option<StatusChoice>) -> Self {
        Self { status, page: 0, ..self.clone() }
    }

    /// Returns this view from its first monitor on, with a tag.
    pub(crate) fn with_tag(&self, tag: &Tag) -> Self {
        Self { tag: Some(tag.clone()), page: 0, ..self.clone() }
    }

    /// Returns this view sorted by a column, the other way around if it is sorted by it already.
    pub(crate) fn sorted_by(&self, column: SortColumn) -> Self {
        let is_reversed = self.order.column == column && !self.order.is_reversed;
        Self { order: Order { column, is_reversed }, page: 0, ..self.clone() }
    }

    /// Returns another page of this view.
    pub(crate) fn at_page(&self, page: usize) -> Self {
        Self { page, ..self.clone() }
    }

    /// Returns the matching monitors in their order.
    pub(crate) fn select<'f>(&self, fleet: &'f FleetSnapshot) -> Vec<FleetRow<'f>> {
        let search = self.search.to_lowercase();
        let words: Vec<&str> = search.split_whitespace().collect();
        let tag = self.tag.as_ref().map(Tag::key);
        let matches = |row: &FleetRow<'_>| {
            self.status.is_none_or(|status| status.matches(row))
                && self.kind.is_none_or(|kind| row.monitor.definition.kind == kind)
                && tag.as_ref().is_none_or(|tag| row.monitor.tags().any(|(key, _)| key == tag))
                && words.iter().all(|word| row.monitor.search_text.contains(word))
        };
        let mut rows: Vec<FleetRow<'f>> = fleet.rows().filter(matches).collect();
        // Rows are sorted by name already, and the sort is stable.
        match self.order.column {
            SortColumn::Name => {}
            SortColumn::Status => rows.sort_by_key(FleetRow::urgency),
            SortColumn::Kind => rows.sort_by_key(|row| row.monitor.definition.kind.as_str()),
            SortColumn::Since => rows.sort_by_key(|row| Reverse(row.state.since)),
        }
        if self.order.is_reversed {
            rows.reverse();
        }
        rows
    }

    /// Returns the part of the list on this page, or on the last one if the list is shorter.
    pub(crate) fn part(&self, total: usize) -> Range<usize> {
        let last = total.saturating_sub(1) / PAGE_ROWS;
        let from = self.page.min(last) * PAGE_ROWS;
        from..total.min(from + PAGE_ROWS)
    }
}

#[cfg(test)]
mod tests {
    use rules::MonitorStatus;

    use super::super::snapshot::tests::{definition, snapshot, tagged};
    use super::*;

    fn parse(query: &str) -> FleetFilter {
        let pairs: Vec<(String, String)> =
            url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        FleetFilter::parse(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())))
    }

    fn names(query: &str) -> Vec<String> {
        let all = vec![definition(1, "Shop"), definition(2, "api"), definition(3, "API docs")];
        let statuses = [(1, MonitorStatus::Error, 5), (2, MonitorStatus::Active, 9)];
        let fleet = snapshot(all, &statuses);
        let rows = parse(query).select(&fleet);
        rows.iter().map(|row| row.monitor.definition.name.clone()).collect()
    }

    #[test]
    fn view_survives_its_url() {
        let all = "?q=a+b%26c&status=down&kind=tcp&tag=Prod+EU&group=tag&sort=-since&page=3";
        for query in ["", all, "?status=maintenance"] {
            assert_eq!(parse(query.trim_start_matches('?')).query(), query);
        }
        assert_eq!(
            parse("status=none&sort=color&page=x&kind=icmp&tag=a,b&group=kind&other=1"),
            FleetFilter::default()
        );
    }

    #[test]
    fn words_match_names_and_targets_in_any_case() {
        for (query, expected) in [
            ("q=api", &["API docs", "api"][..]),
            ("q=DOCS+api", &["API docs"]),
            ("q=2.example", &["api"]),
            ("q=none", &[]),
            ("status=down", &["Shop"]),
            ("kind=tcp", &[]),
        ] {
            let mut found = names(query);
            found.sort_unstable();
            assert_eq!(found, expected, "{query}");
        }
    }

    #[test]
    fn tag_matches_in_any_case() {
        let fleet = snapshot(vec![tagged(1, &["Prod"]), tagged(2, &["prod 2"])], &[]);
        for (query, expected) in [("tag=PROD", 1), ("tag=pro", 0), ("", 2)] {
            assert_eq!(parse(query).select(&fleet).len(), expected, "{query}");
        }
    }

    #[test]
    fn list_is_sorted_by_the_chosen_column() {
        for (query, expected) in [
            ("", ["Shop", "API docs", "api"]),
            ("sort=-status", ["api", "API docs", "Shop"]),
            ("sort=name", ["api", "API docs", "Shop"]),
            ("sort=-name", ["Shop", "API docs", "api"]),
            ("sort=since", ["api", "Shop", "API docs"]),
        ] {
            assert_eq!(names(query), expected, "{query}");
        }
    }

    #[test]
    fn page_after_the_last_shows_the_last() {
        for (page, total, expected) in
            [(1, 0, 0..0), (1, 50, 0..50), (2, 51, 50..51), (9, 51, 50..51), (1, 51, 0..50)]
        {
            assert_eq!(parse(&format!("page={page}")).part(total), expected);
        }
    }
}
