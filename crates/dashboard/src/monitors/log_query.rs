//! Filter and position of the response log, as they are in the URL.

use contract::monitor::encode_instant;
use contract::monitor::wire::{ListMissedSlotsRequest, ListResponseLogsRequest};
use rules::{Region, Timestamp};
use url::form_urlencoded::Serializer;

use crate::time::parse_input;

/// Outcomes with their labels. The last is that of slots without a check.
pub(super) const OUTCOMES: [(&str, &str); 5] = [
    ("success", "Success"),
    ("degraded", "Degraded"),
    ("failure", "Failure"),
    ("skipped", "Skipped"),
    (MISSED, "Missed"),
];
/// Triggers with their labels.
pub(super) const TRIGGERS: [(&str, &str); 3] =
    [("scheduled", "Schedule"), ("confirmation", "Confirmation"), ("manual", "Manual")];
const MISSED: &str = "missed";
/// Number of checks on a page.
const CHECKS_PER_PAGE: i32 = 50;
/// Number of ranges of missed slots in a call.
const MISSED_PER_CALL: i32 = 100;

/// Filter of the log. An empty list matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LogQuery {
    pub(super) outcomes: Vec<String>,
    pub(super) regions: Vec<String>,
    pub(super) triggers: Vec<String>,
    /// Bounds as typed, in UTC.
    pub(super) from: String,
    pub(super) to: String,
    /// Token of the page of checks, or of missed slots if only they are listed.
    pub(super) page: String,
    /// Missed slots at or after this time are on earlier pages, in milliseconds.
    pub(super) before: Option<Timestamp>,
}

impl LogQuery {
    /// Parses the query of a URL. Unknown values are ignored.
    pub(super) fn parse(pairs: Vec<(String, String)>) -> Self {
        let mut query = Self::default();
        for (name, value) in pairs {
            let is_of = |known: &[(&str, &str)]| known.iter().any(|(word, _)| *word == value);
            match name.as_str() {
                "outcome" if is_of(&OUTCOMES) => query.outcomes.push(value),
                "trigger" if is_of(&TRIGGERS) => query.triggers.push(value),
                "region" if Region::parse(&value).is_ok() => query.regions.push(value),
                "from" => query.from = value,
                "to" => query.to = value,
                "page" => query.page = value,
                "before" => query.before = value.parse().ok().map(Timestamp::from_millis),
                _ => {}
            }
        }
        query
    }

    /// Returns the filter as a query, with a question mark unless it is empty. The position is left
    /// out.
    pub(super) fn filter(&self) -> String {
        self.encoded(None)
    }

    /// Returns the query of the next page.
    pub(super) fn next(&self, token: &str, before: Option<Timestamp>) -> String {
        self.encoded(Some((token, before)))
    }

    /// Returns whether a filter is set.
    pub(super) fn is_filtered(&self) -> bool {
        !self.filter().is_empty()
    }

    /// Returns whether checks match, skipped slots included.
    pub(super) fn wants_checks(&self) -> bool {
        self.outcomes.is_empty() || self.outcomes.iter().any(|it| it != MISSED)
    }

    /// Returns whether missed slots match. All of them were scheduled.
    pub(super) fn wants_missed(&self) -> bool {
        let by_outcome = self.outcomes.is_empty() || self.outcomes.iter().any(|it| it == MISSED);
        let by_trigger =
            self.triggers.is_empty() || self.triggers.iter().any(|it| it == "scheduled");
        by_outcome && by_trigger
    }

    /// Returns the request of this page of checks.
    pub(super) fn checks(&self, id: &str) -> ListResponseLogsRequest {
        let outcomes = self.outcomes.iter().filter(|it| *it != MISSED).cloned();
        ListResponseLogsRequest {
            id: id.to_owned(),
            limit: Some(CHECKS_PER_PAGE),
            page_token: Some(self.page.clone()).filter(|it| !it.is_empty()),
            outcomes: outcomes.collect(),
            regions: self.regions.clone(),
            triggers: self.triggers.clone(),
            from: parse_input(&self.from).map(encode_instant).unwrap_or_default(),
            to: parse_input(&self.to).map(encode_instant).unwrap_or_default(),
            ..ListResponseLogsRequest::default()
        }
    }

    /// Returns the request of the missed slots from `from` on, which are not on an earlier page.
    pub(super) fn missed(
        &self,
        id: &str,
        from: Option<Timestamp>,
        token: &str,
    ) -> ListMissedSlotsRequest {
        let from = from.or_else(|| parse_input(&self.from));
        let to = self.before.or_else(|| parse_input(&self.to));
        ListMissedSlotsRequest {
            id: id.to_owned(),
            limit: Some(MISSED_PER_CALL),
            page_token: Some(token.to_owned()).filter(|it| !it.is_empty()),
            regions: self.regions.clone(),
            from: from.map(encode_instant).unwrap_or_default(),
            to: to.map(encode_instant).unwrap_or_default(),
            ..ListMissedSlotsRequest::default()
        }
    }

    /// Returns the message about a bound that is not a time. Empty if both are.
    pub(super) fn bound_errors(&self) -> [&'static str; 2] {
        [&self.from, &self.to].map(|it| match parse_input(it) {
            None if !it.is_empty() => "Enter a time such as 2026-11-21T08:30.",
            None | Some(_) => "",
        })
    }

    fn encoded(&self, next: Option<(&str, Option<Timestamp>)>) -> String {
        let mut query = Serializer::new(String::new());
        let lists =
            [("outcome", &self.outcomes), ("region", &self.regions), ("trigger", &self.triggers)];
        for (name, values) in lists {
            query.extend_pairs(values.iter().map(|value| (name, value)));
        }
        for (name, value) in [("from", &self.from), ("to", &self.to)] {
            if !value.is_empty() {
                query.append_pair(name, value);
            }
        }
        if let Some((token, before)) = next {
            query.append_pair("page", token);
            if let Some(before) = before {
                query.append_pair("before", &before.as_millis().to_string());
            }
        }
        let query = query.finish();
        if query.is_empty() { query } else { format!("?{query}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(query: &str) -> LogQuery {
        LogQuery::parse(url::form_urlencoded::parse(query.as_bytes()).into_owned().collect())
    }

    #[test]
    fn filter_survives_the_url() {
        let text = "outcome=failure&outcome=missed&region=fly-ams&trigger=scheduled\
                    &from=2026-11-21T08%3A30";
        let query = parse(&format!("{text}&page=abc&before=5&outcome=made-up"));
        assert_eq!(query.filter(), format!("?{text}"));
        assert_eq!(query.before, Some(Timestamp::from_millis(5)));
        assert_eq!(parse(&query.next("t", query.before)[1..]).page, "t");
        assert_eq!(query.bound_errors(), ["", ""]);
        assert_eq!(query.checks("mon_1").outcomes, ["failure"]);
        assert_ne!(parse("to=soon").bound_errors()[1], "");
    }

    #[test]
    fn filter_decides_which_lists_are_read() {
        for (query, checks, missed) in [
            ("", true, true),
            ("outcome=missed", false, true),
            ("outcome=skipped", true, false),
            ("trigger=manual", true, false),
        ] {
            let query = parse(query);
            assert_eq!((query.wants_checks(), query.wants_missed()), (checks, missed), "{query:?}");
        }
    }
}
