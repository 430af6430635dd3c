//! Lists of monitors to choose from: search, pages and what is chosen, all in the URL. It works with
//! 10,000 monitors, because a browser gets one page of them.

use std::collections::HashSet;

use serde::Deserialize;
use store::MonitorName;

use crate::html::encoded;

/// Monitors on a page of the list.
const ROWS: usize = 50;

/// Search of a person, in the query of the URL.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct MonitorSearch {
    /// Text in the name or the ID.
    pub(crate) q: String,
    /// Which monitors: `chosen` ones, `other` ones, or all.
    pub(crate) show: String,
    /// Number of the page, from 1 on.
    pub(crate) page: usize,
}

/// A page of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MonitorChoices {
    pub(crate) q: String,
    pub(crate) show: String,
    pub(crate) rows: Vec<MonitorChoice>,
    /// Number of monitors that match the search.
    pub(crate) matches: usize,
    /// Number of monitors of the workspace.
    pub(crate) total: usize,
    pub(crate) page: usize,
    pub(crate) pages: usize,
}

/// A monitor of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MonitorChoice {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) active: bool,
    pub(crate) is_chosen: bool,
}

impl MonitorSearch {
    /// Returns the IDs of all monitors that match.
    pub(crate) fn matching(&self, all: &[MonitorName], chosen: &HashSet<String>) -> Vec<String> {
        let words = self.words();
        let found = all.iter().filter(|it| self.takes(it, &words, chosen));
        found.map(|it| it.id.to_string()).collect()
    }

    /// Returns a page of the monitors that match.
    pub(crate) fn choices(&self, all: &[MonitorName], chosen: &HashSet<String>) -> MonitorChoices {
        let words = self.words();
        let found: Vec<&MonitorName> =
            all.iter().filter(|it| self.takes(it, &words, chosen)).collect();
        let pages = found.len().div_ceil(ROWS).max(1);
        let page = self.page.clamp(1, pages);
        let rows = found.iter().skip((page - 1) * ROWS).take(ROWS).map(|it| {
            let id = it.id.to_string();
            let is_chosen = chosen.contains(&id);
            MonitorChoice { id, name: it.name.clone(), active: it.active, is_chosen }
        });
        MonitorChoices {
            q: self.q.clone(),
            show: self.show.clone(),
            rows: rows.collect(),
            matches: found.len(),
            total: all.len(),
            page,
            pages,
        }
    }

    fn words(&self) -> Vec<String> {
        self.q.split_whitespace().map(str::to_lowercase).collect()
    }

    fn takes(&self, it: &MonitorName, words: &[String], chosen: &HashSet<String>) -> bool {
        let is_shown = match self.show.as_str() {
            "chosen" => chosen.contains(&it.id.to_string()),
            "other" => !chosen.contains(&it.id.to_string()),
            _ => true,
        };
        if !is_shown || words.is_empty() {
            return is_shown;
        }
        let name = it.name.to_lowercase();
        let id = it.id.to_string();
        words.iter().all(|word| name.contains(word) || id == *word)
    }
}

impl MonitorChoices {
    /// Returns the query of another page of this list.
    pub(crate) fn query(&self, page: usize) -> String {
        let q = encoded(&self.q);
        format!("q={q}&show={}&page={page}", self.show_word())
    }

    /// Returns the query of this page of this list.
    pub(crate) fn current(&self) -> String {
        self.query(self.page)
    }

    /// Returns the query of this list with other monitors.
    pub(crate) fn showing(&self, show: &str) -> String {
        let q = encoded(&self.q);
        format!("q={q}&show={show}")
    }

    /// Returns which monitors are listed, as one of the known words.
    pub(crate) fn show_word(&self) -> &'static str {
        match self.show.as_str() {
            "chosen" => "chosen",
            "other" => "other",
            _ => "all",
        }
    }
}

#[cfg(test)]
mod tests {
    use rules::MonitorId;

    use super::*;

    fn monitors(count: u64) -> Vec<MonitorName> {
        let monitor = |number| MonitorName {
            id: MonitorId::from_bits(number),
            name: format!("Shop {number}"),
            active: true,
        };
        (1..=count).map(monitor).collect()
    }

    #[test]
    fn search_finds_words_in_any_order_and_ids() {
        let all = monitors(120);
        let none = HashSet::new();
        let ids = |q: &str| {
            MonitorSearch { q: q.to_owned(), ..MonitorSearch::default() }.matching(&all, &none)
        };
        assert_eq!(ids("17 shop"), [all[16].id.to_string(), all[116].id.to_string()]);
        assert_eq!(ids(&all[4].id.to_string()), [all[4].id.to_string()]);
        assert_eq!(ids("nothing"), Vec::<String>::new());
    }

    #[test]
    fn list_has_pages_and_knows_chosen_monitors() {
        let all = monitors(120);
        let chosen = HashSet::from([all[0].id.to_string()]);
        let search =
            |show: &str, page| MonitorSearch { show: show.to_owned(), page, q: String::new() };
        let list = search("all", 3).choices(&all, &chosen);
        assert_eq!((list.rows.len(), list.matches, list.pages), (20, 120, 3));
        let list = search("chosen", 9).choices(&all, &chosen);
        assert_eq!((list.rows.len(), list.page, list.rows[0].is_chosen), (1, 1, true));
        assert_eq!(search("other", 1).choices(&all, &chosen).matches, 119);
    }
}
