//! Terms of other tools and their equivalents here, so that new users find them.

/// Foreign terms, each with ours.
const SYNONYMS: &[(&str, &[&str])] = &[
    ("2fa", &["password", "key"]),
    ("alarm", &["alert", "notification"]),
    ("cron", &["periodicity", "rrule"]),
    ("downtime", &["incident", "outage", "maintenance"]),
    ("endpoint", &["monitor", "url"]),
    ("frequency", &["periodicity"]),
    ("helm", &["container", "kubernetes"]),
    ("interval", &["periodicity"]),
    ("k8s", &["kubernetes", "container"]),
    ("k3s", &["kubernetes", "container"]),
    ("location", &["region"]),
    ("oncall", &["grafana", "pagerduty", "opsgenie"]),
    ("ping", &["tcp"]),
    ("podman", &["container", "docker"]),
    ("prometheus", &["metrics"]),
    ("schedule", &["periodicity", "maintenance"]),
    ("sla", &["uptime"]),
    ("slo", &["uptime"]),
    ("ssl", &["tls", "certificate"]),
    ("token", &["key"]),
    ("user", &["member", "key"]),
];

/// Returns the synonyms of a word in lower case.
pub(super) fn for_word(word: &str) -> &'static [&'static str] {
    let word = word.replace('-', "");
    SYNONYMS.iter().find(|(given, _)| *given == word).map_or(&[], |(_, ours)| ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_small_and_named_once() {
        for (at, (word, ours)) in SYNONYMS.iter().enumerate() {
            assert!(!ours.is_empty() && !ours.contains(word), "{word}");
            assert!(
                word.chars().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit()),
                "{word}"
            );
            assert!(SYNONYMS[at + 1..].iter().all(|(other, _)| other != word), "{word}");
        }
        assert_eq!(for_word("cron"), ["periodicity", "rrule"]);
        assert_eq!(for_word("on-call"), ["grafana", "pagerduty", "opsgenie"]);
        assert!(for_word("monitor").is_empty());
    }
}
