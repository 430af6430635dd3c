//! Strings of the pages in seven languages, chosen by the `Accept-Language` header. Names,
//! descriptions and titles are the owner's and are not translated.

mod de;
mod details;
mod en;
mod es;
mod fr;
mod identity;
mod ja;
mod pt;
mod zh;

use domain::page::{State, StatusSummary};
use rules::Timestamp;

pub(super) use self::details::DetailStrings;

/// Strings of one language. `{}` is a placeholder.
#[derive(Debug)]
pub(super) struct Strings {
    /// Language tag for HTML.
    pub(super) lang: &'static str,
    pub(super) empty: &'static str,
    pub(super) all_up: &'static str,
    pub(super) all_down: &'static str,
    /// Singular and plural.
    pub(super) some_down: [&'static str; 2],
    pub(super) some_degraded: [&'static str; 2],
    pub(super) maintenance_on: [&'static str; 2],
    pub(super) some_unknown: [&'static str; 2],
    pub(super) all_unknown: &'static str,
    /// Number of names left out, singular and plural: "3 more".
    pub(super) more: [&'static str; 2],
    /// Separator of the last two names.
    pub(super) and: &'static str,
    /// Separator of the other names.
    pub(super) comma: &'static str,
    /// "Checked at {}".
    pub(super) checked: &'static str,
    /// "No check of {} for more than two periods, so its state may be out of date."
    pub(super) stale: [&'static str; 2],
    /// "The database is unavailable. This is the state at {}."
    pub(super) old: &'static str,
    pub(super) up: &'static str,
    pub(super) degraded: &'static str,
    pub(super) down: &'static str,
    pub(super) maintenance: &'static str,
    pub(super) unknown: &'static str,
    pub(super) open: &'static str,
    pub(super) planned: &'static str,
    pub(super) history: &'static str,
    pub(super) nothing_happened: &'static str,
    pub(super) components: &'static str,
    /// Title of an incident: "{} was down".
    pub(super) was_down: &'static str,
    /// "Since {}".
    pub(super) since: &'static str,
    /// "{} to {}".
    pub(super) from_to: &'static str,
    pub(super) being_worked_on: &'static str,
    pub(super) investigating: &'static str,
    pub(super) identified: &'static str,
    pub(super) monitoring: &'static str,
    pub(super) resolved: &'static str,
    /// Heading of the updates of a report.
    pub(super) updates: &'static str,
    /// "All {} updates".
    pub(super) all_updates: &'static str,
    /// Components of a report: "Affects {}".
    pub(super) affects: &'static str,
    pub(super) today: &'static str,
    /// "{} days ago".
    pub(super) days_ago: &'static str,
    pub(super) no_data: &'static str,
    /// "{} up".
    pub(super) uptime: &'static str,
    pub(super) as_table: &'static str,
    /// Period of a badge: "90 days".
    pub(super) last_days: &'static str,
    pub(super) response_time: &'static str,
    /// Number of components: "1 component", and the plural.
    pub(super) component_count: [&'static str; 2],
    pub(super) day: &'static str,
    pub(super) homepage: &'static str,
    pub(super) contact: &'static str,
    pub(super) subscribe: &'static str,
    pub(super) back: &'static str,
    pub(super) earlier: &'static str,
    pub(super) later: &'static str,
    /// Skip link to the components of the home page.
    pub(super) skip: &'static str,
    /// Skip link to the content of a detail page.
    pub(super) skip_to_content: &'static str,
    pub(super) how_counted: &'static str,
    pub(super) password: &'static str,
    pub(super) password_prompt: &'static str,
    pub(super) password_wrong: &'static str,
    pub(super) too_often: &'static str,
    pub(super) enter: &'static str,
    /// Label of the email field.
    pub(super) email: &'static str,
    /// Prompt for an email address.
    pub(super) email_prompt: &'static str,
    pub(super) send_link: &'static str,
    pub(super) link_sent: &'static str,
    pub(super) link_is_good: &'static str,
    pub(super) link_expired: &'static str,
    pub(super) no_address: &'static str,
    pub(super) no_email: &'static str,
    /// "Your link to {}", with the title of the page.
    pub(super) link_title: &'static str,
    /// Purpose and lifetime of the link.
    pub(super) link_text: &'static str,
    pub(super) link_unrequested: &'static str,
    pub(super) not_found: &'static str,
    /// Advice if the page was not found.
    pub(super) not_found_about: &'static str,
    pub(super) unavailable: &'static str,
    pub(super) utc: &'static str,
    /// Abbreviated hours and minutes: "3 h", "12 min".
    pub(super) hours: &'static str,
    pub(super) minutes: &'static str,
    pub(super) seconds: &'static str,
    pub(super) months: [&'static str; 12],
    /// Date format with `{d}`, `{m}` (the name of the month) and `{y}`.
    pub(super) date: &'static str,
    /// Strings of the detail pages.
    pub(super) detail: &'static DetailStrings,
}

/// All languages. The first is the default.
const ALL: [&Strings; 7] =
    [&en::WORDS, &de::WORDS, &fr::WORDS, &es::WORDS, &pt::WORDS, &ja::WORDS, &zh::WORDS];
/// Maximum number of names in a sentence. The rest is counted.
const NAMES_MAX: usize = 3;

/// Returns the language that an `Accept-Language` header prefers.
pub(super) fn choose(header: Option<&str>) -> &'static Strings {
    let mut best: Option<(f32, &Strings)> = None;
    for range in header.unwrap_or_default().split(',').take(32) {
        let (tag, weight) = range.trim().split_once(";q=").unwrap_or((range.trim(), "1"));
        let primary = tag.split('-').next().unwrap_or_default();
        let weight: f32 = weight.trim().parse().unwrap_or(0.0);
        let known = ALL.into_iter().find(|words| words.lang.eq_ignore_ascii_case(primary));
        if let Some(words) = known
            && weight > 0.0
            && best.is_none_or(|(most, _)| weight > most)
        {
            best = Some((weight, words));
        }
    }
    best.map_or(ALL[0], |(_, words)| words)
}

impl Strings {
    /// Returns English, the fallback for languages that cannot be drawn.
    pub(super) const fn english() -> &'static Self {
        &en::WORDS
    }

    /// Returns the summary sentence of a page.
    pub(super) fn summary(&self, summary: &StatusSummary) -> String {
        let about = |templates, names| self.about(templates, names);
        match summary {
            StatusSummary::Empty => self.empty.to_owned(),
            StatusSummary::AllUp => self.all_up.to_owned(),
            StatusSummary::AllDown => self.all_down.to_owned(),
            StatusSummary::SomeDown(names) => about(self.some_down, names),
            StatusSummary::SomeDegraded(names) => about(self.some_degraded, names),
            StatusSummary::Maintenance(names) => about(self.maintenance_on, names),
            StatusSummary::SomeUnknown(names) => about(self.some_unknown, names),
            StatusSummary::AllUnknown => self.all_unknown.to_owned(),
        }
    }

    /// Returns the warning that these components were not checked for long.
    pub(super) fn stale(&self, names: &[String]) -> String {
        self.about(self.stale, names)
    }

    /// Names one or several components in a sentence.
    fn about(&self, [one, several]: [&str; 2], names: &[String]) -> String {
        let template = if names.len() == 1 { one } else { several };
        template.replace("{}", &self.names(names))
    }

    /// Joins names into a list within a sentence.
    pub(super) fn names(&self, names: &[String]) -> String {
        let mut listed: Vec<String> = names.iter().take(NAMES_MAX).cloned().collect();
        if names.len() > NAMES_MAX {
            let left_out = names.len() - NAMES_MAX;
            let [one, several] = self.more;
            let more = if left_out == 1 { one } else { several };
            listed.push(more.replace("{}", &left_out.to_string()));
        }
        match listed.split_last() {
            None => String::new(),
            Some((only, [])) => only.clone(),
            Some((last, others)) => format!("{}{}{last}", others.join(self.comma), self.and),
        }
    }

    /// Returns the name of a state.
    pub(super) const fn state(&self, state: State) -> &'static str {
        match state {
            State::Up => self.up,
            State::Degraded => self.degraded,
            State::Down => self.down,
            State::Maintenance => self.maintenance,
            State::Unknown => self.unknown,
        }
    }

    /// Formats the number of components.
    pub(super) fn components_in_all(&self, count: usize) -> String {
        let [one, several] = self.component_count;
        (if count == 1 { one } else { several }).replace("{}", &count.to_string())
    }

    /// Formats a date in UTC.
    pub(super) fn date(&self, at: Timestamp) -> String {
        let Some(date) = civil(at) else { return at.to_string() };
        let month = self.months[date.month() as usize - 1];
        let texts = [("{d}", date.day().to_string()), ("{y}", date.year().to_string())];
        let text =
            texts.iter().fold(self.date.to_owned(), |text, (key, value)| text.replace(key, value));
        text.replace("{m}", month)
    }

    /// Formats a month in UTC.
    pub(super) fn month(&self, at: Timestamp) -> String {
        let Some(date) = civil(at) else { return at.to_string() };
        let month = self.months[date.month() as usize - 1];
        self.detail.month.replace("{m}", month).replace("{y}", &date.year().to_string())
    }

    /// Formats a date and time in UTC.
    pub(super) fn time(&self, at: Timestamp) -> String {
        let Some(date) = civil(at) else { return at.to_string() };
        format!("{}, {:02}:{:02} {}", self.date(at), date.hour(), date.minute(), self.utc)
    }

    /// Formats a duration in its two largest units.
    pub(super) fn format_duration(&self, millis: u64) -> String {
        let seconds = millis / 1_000;
        let (hours, minutes) = (seconds / 3_600, seconds % 3_600 / 60);
        let one = |unit: &str, count: u64| unit.replace("{}", &count.to_string());
        match (hours, minutes) {
            (0, 0) => one(self.seconds, seconds),
            (0, minutes) => one(self.minutes, minutes),
            (hours, 0) => one(self.hours, hours),
            (hours, minutes) => {
                format!("{} {}", one(self.hours, hours), one(self.minutes, minutes))
            }
        }
    }
}

fn civil(at: Timestamp) -> Option<jiff::civil::DateTime> {
    let instant = jiff::Timestamp::from_millisecond(at.as_millis()).ok()?;
    Some(instant.to_zoned(jiff::tz::TimeZone::UTC).datetime())
}

/// Formats the time of day in UTC, such as `14:35`.
pub(super) fn clock(at: Timestamp) -> String {
    at.to_string().chars().skip(11).take(5).collect()
}

/// Formats the date for URLs and `<time>`, such as `2026-11-21`.
pub(super) fn iso_date(at: Timestamp) -> String {
    at.to_string().chars().take(10).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // issue 7: "seven languages … chosen by the visitor's header"
    #[test]
    fn most_preferred_supported_language_is_chosen() {
        for (header, lang) in [
            (None, "en"),
            (Some("de-CH,de;q=0.9,en;q=0.8"), "de"),
            (Some("sv, fr;q=0.4, es;q=0.7"), "es"),
            (Some("zh-Hans-CN"), "zh"),
            (Some("pt;q=0, ja;q=0.1"), "ja"),
            (Some("*;q=broken,,;"), "en"),
        ] {
            assert_eq!(choose(header).lang, lang, "{header:?}");
        }
    }

    #[test]
    fn at_most_three_names_are_listed() {
        let names = |count: usize| (1..=count).map(|name| name.to_string()).collect::<Vec<_>>();
        let listed = |count| en::WORDS.names(&names(count));
        assert_eq!(
            [listed(0), listed(1), listed(2), listed(3)],
            ["", "1", "1 and 2", "1, 2 and 3"]
        );
        assert_eq!(listed(9), "1, 2, 3 and 6 more");
    }

    #[test]
    fn stale_components_agree_with_their_verb() {
        let names = ["API".to_owned(), "Mail".to_owned()];
        for words in ALL {
            let [one, several] = [words.stale(&names[..1]), words.stale(&names)];
            let joined = words.names(&names);
            let agrees = several != one.replace("API", &joined);
            // Verbs of Japanese and Chinese have no number.
            assert_eq!(agrees, !["ja", "zh"].contains(&words.lang), "{several}");
        }
        insta::assert_snapshot!(en::WORDS.stale(&names), @"API and Mail have not been checked for more than two check intervals, so this status may be out of date.");
    }

    #[test]
    fn single_name_left_out_is_singular() {
        let names = |count: usize| (1..=count).map(|name| name.to_string()).collect::<Vec<_>>();
        let negotiated =
            ALL.map(|words| format!("{}; {}", words.names(&names(4)), words.names(&names(5))));
        insta::assert_snapshot!(negotiated.join("\n"), @"
        1, 2, 3 and 1 more; 1, 2, 3 and 2 more
        1, 2, 3 und 1 weitere Komponente; 1, 2, 3 und 2 weitere
        1, 2, 3 et 1 autre; 1, 2, 3 et 2 autres
        1, 2, 3 y 1 más; 1, 2, 3 y 2 más
        1, 2, 3 e mais 1; 1, 2, 3 e mais 2
        1、2、3とほか1件; 1、2、3とほか2件
        1、2、3和另外1项; 1、2、3和另外2项
        ");
    }

    #[test]
    fn every_language_has_own_words_and_equal_placeholders() {
        for words in ALL {
            for (text, values) in [
                (words.checked, 1),
                (words.stale[0], 1),
                (words.stale[1], 1),
                (words.old, 1),
                (words.was_down, 1),
                (words.all_updates, 1),
                (words.affects, 1),
                (words.since, 1),
                (words.from_to, 2),
                (words.days_ago, 1),
                (words.uptime, 1),
                (words.last_days, 1),
                (words.component_count[0], 1),
                (words.component_count[1], 1),
                (words.more[0], 1),
                (words.more[1], 1),
                (words.hours, 1),
                (words.minutes, 1),
                (words.seconds, 1),
                (words.some_down[0], 1),
                (words.some_down[1], 1),
                (words.some_degraded[0], 1),
                (words.some_degraded[1], 1),
                (words.maintenance_on[0], 1),
                (words.maintenance_on[1], 1),
                (words.some_unknown[0], 1),
                (words.some_unknown[1], 1),
            ] {
                assert_eq!(text.matches("{}").count(), values, "{}: {text}", words.lang);
            }
            assert!(words.date.contains("{d}") && words.date.contains("{y}"), "{}", words.lang);
        }
        let mut sentences: Vec<_> = ALL.iter().map(|words| words.all_up).collect();
        sentences.sort_unstable();
        sentences.dedup();
        assert_eq!(sentences.len(), ALL.len());
    }

    #[test]
    fn dates_and_durations_are_formatted_by_language() {
        let at = Timestamp::from_millis(1_795_271_700_000);
        let negotiated: Vec<_> = ALL.iter().map(|words| words.time(at)).collect();
        insta::assert_snapshot!(negotiated.join(" | "), @"21 Nov 2026, 14:35 UTC | 21. November 2026, 14:35 UTC | 21 novembre 2026, 14:35 UTC | 21 de noviembre de 2026, 14:35 UTC | 21 de novembro de 2026, 14:35 UTC | 2026年11月21日, 14:35 UTC | 2026年11月21日, 14:35 UTC");
        let long = |millis| en::WORDS.format_duration(millis);
        assert_eq!(
            [long(900), long(61_000), long(7_200_000), long(7_260_000)],
            ["0 s", "1 min", "2 h", "2 h 1 min"]
        );
    }
}
