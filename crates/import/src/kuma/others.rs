//! Objects of Uptime Kuma that are not part of a configuration.

use super::Rows;
use crate::assembly::Assembly;
use crate::preview::{Entry, ObjectKind};

/// Notes maintenance, and objects that people create again by hand.
pub(super) fn note(rows: &mut Rows, assembly: &mut Assembly) {
    for mut record in std::mem::take(&mut rows.maintenance) {
        let title = record.text("title").unwrap_or_default();
        let mut entry = Entry::new(ObjectKind::Maintenance, &title);
        let strategy = record.text("strategy").unwrap_or_default();
        let mut words = vec![strategy];
        for field in [
            "start_date",
            "end_date",
            "start_time",
            "end_time",
            "cron",
            "timezone",
            "weekdays",
            "days_of_month",
            "duration",
            "interval_day",
        ] {
            words.extend(record.text(field).map(|value| format!("{field} {value}")));
        }
        entry.lose(words.join(", "), "plan it with `aloft maintenance plan`; it takes an RRULE");
        let links = record.id("id").and_then(|id| rows.maintained.get(&id).cloned());
        for link in links.unwrap_or_default() {
            entry.lose(link, "name it in the maintenance");
        }
        if record.take("description").is_some() {
            entry.lose("its description", "write it into the maintenance");
        }
        if record.flag("active") == Some(false) {
            entry.lose("that it is paused", "plan it once it applies");
        }
        record.ignore(&["user_id", "last_start_date"]);
        entry.close(record);
        assembly.note(entry);
    }
    for (words, count) in std::mem::take(&mut rows.counts) {
        let remedy = match words {
            "user" => "invite people in the dashboard",
            "API key" => "create keys with `aloft keys create`",
            "proxy" => "run a probe in the network that the proxy reaches",
            "setting of the program" => {
                "docs/reference/settings.md lists the settings of the server"
            }
            "daily statistic" | "hourly statistic" | "statistic of a minute" => {
                "keep the database; `--history` exports single heartbeats only, of which Uptime Kuma 2 \
                 keeps about a day"
            }
            _ => "check the services themselves",
        };
        if count > 0 {
            let mut entry = Entry::new(ObjectKind::Setting, words);
            entry.lose(format!("{count} of the kind {words}"), remedy);
            assembly.note(entry);
        }
    }
}
