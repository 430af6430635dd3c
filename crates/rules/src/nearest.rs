//! Suggests the name that a user meant by an unknown one: a similar name, or our name for another
//! tool's term.

/// Names in other tools, and our names for them; the first one that exists is suggested.
const OTHERS: &[(&str, &[&str])] = &[
    ("address", &["url", "uri"]),
    ("enabled", &["active"]),
    ("endpoint", &["url", "uri"]),
    ("frequency", &["periodicity"]),
    ("host", &["uri"]),
    ("interval", &["periodicity"]),
    ("paused", &["active"]),
    ("period", &["periodicity"]),
    ("retries", &["retry"]),
    ("schedule", &["periodicity"]),
    ("target", &["url", "uri"]),
    ("title", &["name"]),
    ("name", &["title"]),
    ("uri", &["url"]),
    ("url", &["uri"]),
];

/// Returns the name in `known` that `given` most likely means.
pub fn nearest<'k>(given: &str, known: &[&'k str]) -> Option<&'k str> {
    let plain = |name: &str| -> String {
        name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
    };
    let wanted = plain(given);
    let distance = |name: &str| strsim::damerau_levenshtein(&plain(name), &wanted);
    let most = (wanted.chars().count() / 3).max(1);
    let close = known
        .iter()
        .map(|name| (distance(name), *name))
        .filter(|(distance, name)| *distance <= most && *distance < name.len())
        .min_by_key(|(distance, _)| *distance);
    if let Some((_, name)) = close {
        return Some(name);
    }
    let (_, ours) = OTHERS.iter().find(|(other, _)| *other == wanted)?;
    ours.iter().find_map(|name| known.iter().find(|known| *known == name)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_or_foreign_name_is_recognised() {
        let known = ["name", "url", "periodicity", "degradedAt", "timeout", "retry", "active"];
        for (given, expected) in [
            ("interval", Some("periodicity")),
            ("periodicty", Some("periodicity")),
            ("degraded_at", Some("degradedAt")),
            ("Timeout", Some("timeout")),
            ("retries", Some("retry")),
            ("enabled", Some("active")),
            ("uri", Some("url")),
            ("nmae", Some("name")),
            ("colour", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(given, &known), expected, "{given}");
        }
    }
}
