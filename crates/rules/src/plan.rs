//! Plans: named limits of workspaces. Unknown plans and omitted limits restrict nothing.
//!
//! Format: `team monitors=50 shortest_period=1m pages=3 weight=4, trial monitors=5 retention_days=7`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Periodicity, limits};

/// Names of the limits.
const LIMITS: [&str; 6] =
    ["monitors", "shortest_period", "pages", "channels", "retention_days", "weight"];

/// The limits of one plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Maximum number of monitors.
    pub monitors: Option<u32>,
    /// Shortest period of a monitor.
    pub shortest_period: Option<Periodicity>,
    /// Maximum number of status pages.
    pub pages: Option<u32>,
    /// Maximum number of notification channels.
    pub channels: Option<u32>,
    /// Maximum retention of results, in days.
    pub retention_days: Option<u32>,
    /// Share of the capacity for checks, relative to the weights of other workspaces.
    pub weight: u32,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            monitors: None,
            shortest_period: None,
            pages: None,
            channels: None,
            retention_days: None,
            weight: 1,
        }
    }
}

/// All plans by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plans(BTreeMap<String, Plan>);

impl Plans {
    /// Parses plans separated by commas. Errors describe the first fault.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut plans = BTreeMap::new();
        for plan in text.split(',').map(str::trim).filter(|plan| !plan.is_empty()) {
            let (name, limits) = plan.split_once(char::is_whitespace).unwrap_or((plan, ""));
            let is_letter = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
            if !name.chars().all(|letter| is_letter(letter) || letter == '-') {
                return Err(format!(
                    "`{name}` is not a name of lower-case letters, digits and `-`"
                ));
            }
            if plans.insert(name.to_owned(), Plan::parse(limits)?).is_some() {
                return Err(format!("duplicate plan `{name}`"));
            }
        }
        Ok(Self(plans))
    }

    /// Returns the limits of the plan with this name; an unknown plan limits nothing.
    pub fn get(&self, name: &str) -> Plan {
        self.0.get(name).copied().unwrap_or_default()
    }

    /// Returns all plans with their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Plan)> {
        self.0.iter().map(|(name, plan)| (name.as_str(), *plan))
    }

    /// Returns whether no plan is set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether there is a plan with this name.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}

impl Plan {
    fn parse(limits: &str) -> Result<Self, String> {
        let mut plan = Self::default();
        for limit in limits.split_whitespace() {
            let (name, value) = limit
                .split_once('=')
                .ok_or_else(|| format!("`{limit}` must be written as `monitors=50`"))?;
            let count = || {
                let count: Option<u32> = value.parse().ok();
                count.ok_or_else(|| format!("`{name}` must be a whole number (given: `{value}`)"))
            };
            match name {
                "monitors" => plan.monitors = Some(count()?),
                "pages" => plan.pages = Some(count()?),
                "channels" => plan.channels = Some(count()?),
                "retention_days" => plan.retention_days = Some(days(count()?)?),
                "weight" => plan.weight = weight(count()?)?,
                "shortest_period" => {
                    let period = Periodicity::parse(value).map_err(|_| {
                        let words = Periodicity::WORDS.join(", ");
                        format!("`{name}` must be one of {words} (given: `{value}`)")
                    })?;
                    plan.shortest_period = Some(period);
                }
                _ => {
                    return Err(format!(
                        "unknown limit `{name}`; expected one of {}",
                        LIMITS.join(", ")
                    ));
                }
            }
        }
        Ok(plan)
    }
}

fn days(days: u32) -> Result<u32, String> {
    let (least, most) = (limits::RETENTION_DAYS_MIN, limits::RETENTION_DAYS_MAX);
    if (least..=most).contains(&days) {
        return Ok(days);
    }
    Err(format!("`retention_days` must be {least} to {most} (given: `{days}`)"))
}

fn weight(weight: u32) -> Result<u32, String> {
    let most = limits::PLAN_WEIGHT_MAX;
    if (1..=most).contains(&weight) {
        return Ok(weight);
    }
    Err(format!("`weight` must be 1 to {most} (given: `{weight}`)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_parse_with_their_limits() {
        let text = "team monitors=50 shortest_period=1m pages=3 channels=10 retention_days=90 weight=4, free";
        let plans = Plans::parse(text).unwrap();
        let team = Plan {
            monitors: Some(50),
            shortest_period: Some(Periodicity::OneMinute),
            pages: Some(3),
            channels: Some(10),
            retention_days: Some(90),
            weight: 4,
        };
        assert_eq!((plans.get("team"), plans.get("free")), (team, Plan::default()));
        assert_eq!(plans.get("other"), Plan::default(), "an unknown plan limits nothing");
        assert!(plans.has("free") && !plans.has("other"));
        assert!(Plans::parse("").unwrap().is_empty());
    }

    #[test]
    fn invalid_plan_shows_its_fault() {
        for (text, expected) in [
            ("Team", "`Team` is not a name of lower-case letters, digits and `-`"),
            ("a, a", "duplicate plan `a`"),
            ("a monitors", "`monitors` must be written as `monitors=50`"),
            ("a monitors=x", "`monitors` must be a whole number (given: `x`)"),
            ("a retention_days=0", "`retention_days` must be 1 to 3650 (given: `0`)"),
            ("a weight=0", "`weight` must be 1 to 100 (given: `0`)"),
            ("a weight=101", "`weight` must be 1 to 100 (given: `101`)"),
            ("a seats=1", "unknown limit `seats`"),
            ("a shortest_period=2m", "`shortest_period` must be one of 30s, 1m"),
        ] {
            let why = Plans::parse(text).unwrap_err();
            assert!(why.starts_with(expected), "{text}: {why}");
        }
    }
}
