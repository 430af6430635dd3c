//! Recurrences in words, such as “every week on Wed”. Rare rules stay as they are written.

use rules::maintenance::{Frequency, Recurrence};

use super::calendar::WEEKDAYS;

/// Returns a rule in words, or as it is written if it has parts that most rules do not have.
pub(super) fn recurrence(rule: &Recurrence) -> String {
    let rare = [&rule.months, &rule.weeks, &rule.year_days, &rule.month_days, &rule.positions];
    let rare = rare.into_iter().chain([&rule.hours, &rule.minutes, &rule.seconds]);
    let is_rare = rule.end.is_some() || rare.into_iter().any(|list| !list.is_empty());
    if is_rare || rule.days.iter().any(|(ordinal, _)| *ordinal != 0) {
        return rule.to_string();
    }
    let (one, many) = match rule.frequency {
        Frequency::Minutely => ("minute", "minutes"),
        Frequency::Hourly => ("hour", "hours"),
        Frequency::Daily => ("day", "days"),
        Frequency::Weekly => ("week", "weeks"),
        Frequency::Monthly => ("month", "months"),
        Frequency::Yearly => ("year", "years"),
    };
    let every = match rule.interval {
        1 => format!("every {one}"),
        interval => format!("every {interval} {many}"),
    };
    let mut days: Vec<usize> = rule
        .days
        .iter()
        .map(|(_, day)| day.to_monday_zero_offset().unsigned_abs().into())
        .collect();
    days.sort_unstable();
    let days: Vec<&str> = days.into_iter().filter_map(|day| WEEKDAYS.get(day).copied()).collect();
    if days.is_empty() { every } else { format!("{every} on {}", days.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_rules_have_words() {
        for (rule, expected) in [
            ("FREQ=DAILY", "every day"),
            ("FREQ=WEEKLY;INTERVAL=2", "every 2 weeks"),
            ("FREQ=WEEKLY;BYDAY=SU,WE", "every week on Wed, Sun"),
            ("FREQ=MONTHLY;BYDAY=1SU", "FREQ=MONTHLY;BYDAY=1SU"),
            ("FREQ=DAILY;COUNT=3", "FREQ=DAILY;COUNT=3"),
            ("FREQ=MONTHLY;BYMONTHDAY=1", "FREQ=MONTHLY;BYMONTHDAY=1"),
        ] {
            assert_eq!(recurrence(&Recurrence::parse(rule).unwrap()), expected);
        }
    }
}
