//! All monitors of a workspace at one time, sorted by name.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use rules::{MonitorId, MonitorStatus, Tag, Timestamp};
use store::{
    ChangedDefinitions, DefinitionsVersion, FleetStatus, MonitorDefinition, MonitorNumber,
};

/// Time after which a snapshot is read again, in case nothing changes.
pub(crate) const AGE_MAX: Duration = Duration::from_mins(5);

/// Number of tags that filters offer.
const TAGS_MAX: usize = 200;

/// Health of a monitor as lists show it, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Health {
    Down,
    Degraded,
    /// Active, but no region has a vote.
    Unknown,
    Up,
    Paused,
}

/// Definitions of all monitors, sorted by name.
#[derive(Debug)]
pub(crate) struct Definitions {
    pub(crate) version: DefinitionsVersion,
    pub(crate) monitors: Vec<Arc<FleetMonitor>>,
    /// The most used tags by name, each as the first monitor has it.
    pub(crate) tags: Vec<Tag>,
}

/// A monitor as people defined it, and the text that a search looks at.
#[derive(Debug)]
pub(crate) struct FleetMonitor {
    pub(crate) definition: MonitorDefinition,
    /// Name and target in lower case.
    pub(crate) search_text: Box<str>,
    /// Key of each tag, in the order of the definition.
    tag_keys: Box<[Box<str>]>,
}

/// State of a monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MonitorState {
    pub(crate) health: Health,
    /// Start of the status. For a monitor that was not judged yet, its creation.
    pub(crate) since: Timestamp,
    /// End of the current maintenance.
    pub(crate) maintenance_until: Option<Timestamp>,
}

/// Numbers of monitors by their health.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FleetCounts {
    pub(crate) total: usize,
    pub(crate) down: usize,
    pub(crate) degraded: usize,
    pub(crate) unknown: usize,
    pub(crate) up: usize,
    pub(crate) paused: usize,
    pub(crate) in_maintenance: usize,
}

/// All monitors of a workspace at one time.
#[derive(Debug)]
pub(crate) struct FleetSnapshot {
    pub(crate) definitions: Arc<Definitions>,
    /// State of each monitor, in the order of the definitions.
    pub(crate) states: Vec<MonitorState>,
    pub(crate) counts: FleetCounts,
    /// Time until maintenance begins or ends, or the snapshot is read again anyway.
    pub(crate) fresh_for: Duration,
}

/// One monitor of a snapshot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FleetRow<'f> {
    pub(crate) monitor: &'f FleetMonitor,
    pub(crate) state: MonitorState,
}

impl Health {
    pub(crate) const ALL: [Self; 5] =
        [Self::Down, Self::Degraded, Self::Unknown, Self::Up, Self::Paused];

    /// Returns the word of the URL, of the icon and of the style.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Down => "down",
            Self::Degraded => "degraded",
            Self::Unknown => "unknown",
            Self::Up => "up",
            Self::Paused => "paused",
        }
    }

    /// Returns the word that people read.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Down => "Down",
            Self::Degraded => "Degraded",
            Self::Unknown => "Unknown",
            Self::Up => "Up",
            Self::Paused => "Paused",
        }
    }

    /// Returns the health of a monitor with this status.
    const fn new(active: bool, status: MonitorStatus) -> Self {
        match status {
            _ if !active => Self::Paused,
            MonitorStatus::Error => Self::Down,
            MonitorStatus::Degraded => Self::Degraded,
            MonitorStatus::Unknown => Self::Unknown,
            MonitorStatus::Active => Self::Up,
        }
    }
}

impl Definitions {
    /// Applies changes to the last definitions, which are sorted.
    pub(crate) fn new(
        version: DefinitionsVersion,
        last: &[Arc<FleetMonitor>],
        found: ChangedDefinitions,
    ) -> Self {
        let mut kept: HashSet<MonitorNumber> = found.present.into_iter().collect();
        for changed in &found.changed {
            kept.remove(&changed.number);
        }
        let is_kept = |it: &&Arc<FleetMonitor>| kept.contains(&it.definition.number);
        let mut monitors: Vec<Arc<FleetMonitor>> =
            last.iter().filter(is_kept).map(Arc::clone).collect();
        monitors.extend(found.changed.into_iter().map(|it| Arc::new(FleetMonitor::new(it))));
        // Nearly all are in order already, which makes the sort fast.
        monitors.sort_by(|one, other| one.sort_key().cmp(&other.sort_key()));
        Self { version, tags: most_used(&monitors), monitors }
    }
}

impl FleetMonitor {
    fn new(definition: MonitorDefinition) -> Self {
        let text = format!("{}\n{}", definition.name, definition.target).to_lowercase();
        let tag_keys = definition.tags.iter().map(|tag| tag.key().into()).collect();
        Self { definition, search_text: text.into(), tag_keys }
    }

    /// Returns the tags, each with the key by which equal ones are found.
    pub(crate) fn tags(&self) -> impl Iterator<Item = (&str, &Tag)> {
        self.tag_keys.iter().map(|key| &**key).zip(&self.definition.tags)
    }

    /// Returns the approximate size in bytes.
    fn bytes(&self) -> usize {
        let tags = self.tag_keys.iter().map(|key| key.len() * 2 + size_of::<(Tag, Box<str>)>());
        self.search_text.len() * 3 + size_of::<Self>() + tags.sum::<usize>()
    }

    fn sort_key(&self) -> (&str, MonitorId) {
        (&self.search_text, self.definition.id)
    }
}

impl FleetSnapshot {
    /// Combines the definitions with the statuses that were read at `now`.
    pub(crate) fn new(
        definitions: Arc<Definitions>,
        statuses: &FleetStatus,
        now: Timestamp,
    ) -> Self {
        let states = definitions.monitors.iter().map(|it| state(&it.definition, statuses));
        let states: Vec<MonitorState> = states.collect();
        let next = statuses.changes_at.map(|at| at.since(now));
        Self {
            counts: FleetCounts::new(&states),
            fresh_for: next.map_or(AGE_MAX, |next| next.min(AGE_MAX)),
            definitions,
            states,
        }
    }

    /// Returns all monitors, by name.
    pub(crate) fn rows(&self) -> impl Iterator<Item = FleetRow<'_>> {
        let rows = self.definitions.monitors.iter().zip(&self.states);
        rows.map(|(monitor, state)| FleetRow { monitor, state: *state })
    }

    /// Returns the approximate size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.definitions.monitors.iter().map(|it| it.bytes()).sum::<usize>()
            + self.states.len() * size_of::<MonitorState>()
    }
}

impl FleetRow<'_> {
    /// Returns the place of the monitor in a list whose worst is first: those that are not well, the
    /// latest change first, then those of them in maintenance, then all others.
    pub(crate) fn urgency(&self) -> (u8, Health, Reverse<Timestamp>) {
        let MonitorState { health, since, maintenance_until } = self.state;
        match (health, maintenance_until) {
            (Health::Up | Health::Paused, _) => (2, health, Reverse(Timestamp::default())),
            (Health::Down | Health::Degraded | Health::Unknown, Some(_)) => {
                (1, health, Reverse(since))
            }
            (Health::Down | Health::Degraded | Health::Unknown, None) => {
                (0, health, Reverse(since))
            }
        }
    }
}

impl FleetCounts {
    fn new(states: &[MonitorState]) -> Self {
        let mut counts = Self { total: states.len(), ..Self::default() };
        for state in states {
            counts.in_maintenance += usize::from(state.maintenance_until.is_some());
            *match state.health {
                Health::Down => &mut counts.down,
                Health::Degraded => &mut counts.degraded,
                Health::Unknown => &mut counts.unknown,
                Health::Up => &mut counts.up,
                Health::Paused => &mut counts.paused,
            } += 1;
        }
        counts
    }

    /// Returns the number of monitors with this health.
    pub(crate) const fn of(&self, health: Health) -> usize {
        match health {
            Health::Down => self.down,
            Health::Degraded => self.degraded,
            Health::Unknown => self.unknown,
            Health::Up => self.up,
            Health::Paused => self.paused,
        }
    }
}

fn most_used(monitors: &[Arc<FleetMonitor>]) -> Vec<Tag> {
    let mut counts: HashMap<&str, (usize, &Tag)> = HashMap::new();
    for (key, tag) in monitors.iter().flat_map(|it| it.tags()) {
        counts.entry(key).or_insert((0, tag)).0 += 1;
    }
    let mut tags: Vec<(&str, (usize, &Tag))> = counts.into_iter().collect();
    tags.sort_unstable_by_key(|(key, (count, _))| (Reverse(*count), *key));
    tags.truncate(TAGS_MAX);
    tags.sort_unstable_by_key(|(key, _)| *key);
    tags.into_iter().map(|(_, (_, tag))| tag.clone()).collect()
}

fn state(definition: &MonitorDefinition, statuses: &FleetStatus) -> MonitorState {
    let judged = statuses.by_monitor.get(&definition.number);
    let status = judged.map_or(MonitorStatus::Unknown, |it| it.status);
    let since = match judged {
        Some(judged) => judged.since,
        // The state of a paused monitor is deleted, and the pause was its last change or before it.
        None if definition.active => definition.created_at,
        None => definition.updated_at,
    };
    MonitorState {
        health: Health::new(definition.active, status),
        since,
        maintenance_until: statuses.maintenance.get(&definition.number).copied(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use rules::MonitorKind;
    use store::MonitorVerdict;

    use super::*;

    pub(in crate::fleet) fn definition(number: i64, name: &str) -> MonitorDefinition {
        MonitorDefinition {
            number: MonitorNumber::from_row(number),
            id: MonitorId::from_bits(number as u64),
            name: name.to_owned(),
            kind: MonitorKind::Http,
            active: true,
            created_at: Timestamp::from_millis(number),
            updated_at: Timestamp::from_millis(number),
            target: format!("https://{number}.example.com/"),
            tags: Vec::new(),
        }
    }

    pub(in crate::fleet) fn tagged(number: i64, tags: &[&str]) -> MonitorDefinition {
        let tags = tags.iter().map(|tag| Tag::parse(tag).unwrap()).collect();
        MonitorDefinition { tags, ..definition(number, &format!("monitor {number:03}")) }
    }

    /// Applies changes to these definitions. `kept` has the rows of those that did not change.
    fn definitions(
        last: &[Arc<FleetMonitor>],
        kept: &[i64],
        changed: Vec<MonitorDefinition>,
    ) -> Definitions {
        let kept = kept.iter().map(|row| MonitorNumber::from_row(*row));
        let present = kept.chain(changed.iter().map(|it| it.number)).collect();
        let found = ChangedDefinitions { present, changed };
        Definitions::new(DefinitionsVersion::default(), last, found)
    }

    pub(in crate::fleet) fn snapshot(
        all: Vec<MonitorDefinition>,
        statuses: &[(i64, MonitorStatus, i64)],
    ) -> FleetSnapshot {
        let judged = |(number, status, since): &(i64, MonitorStatus, i64)| {
            let since = Timestamp::from_millis(*since);
            (MonitorNumber::from_row(*number), MonitorVerdict { status: *status, since })
        };
        let by_monitor = statuses.iter().map(judged).collect();
        let statuses = FleetStatus { by_monitor, ..FleetStatus::default() };
        let definitions = definitions(&[], &[], all);
        FleetSnapshot::new(Arc::new(definitions), &statuses, Timestamp::from_millis(0))
    }

    #[test]
    fn monitors_are_counted_by_health() {
        let paused = MonitorDefinition { active: false, ..definition(4, "d") };
        let all = vec![definition(1, "a"), definition(2, "b"), definition(3, "c"), paused];
        let statuses = [
            (1, MonitorStatus::Error, 5),
            (2, MonitorStatus::Active, 5),
            (4, MonitorStatus::Error, 5),
        ];
        let counts = snapshot(all, &statuses).counts;
        let expected = FleetCounts {
            total: 4,
            down: 1,
            up: 1,
            unknown: 1,
            paused: 1,
            ..FleetCounts::default()
        };
        assert_eq!(counts, expected);
    }

    #[test]
    fn most_used_tags_are_offered_by_name() {
        let mut all: Vec<_> =
            (0..300).map(|number| tagged(number, &[&format!("a{number:03}"), "z"])).collect();
        all.push(tagged(300, &["A299"]));
        let tags = definitions(&[], &[], all).tags;
        let texts = [0, TAGS_MAX - 2, TAGS_MAX - 1].map(|place| tags[place].as_str());
        assert_eq!((tags.len(), texts), (TAGS_MAX, ["a000", "a299", "z"]));
    }

    #[test]
    fn changes_are_applied_to_the_last_definitions() {
        let all = vec![definition(1, "c"), definition(2, "b"), definition(3, "d")];
        let last = definitions(&[], &[], all).monitors;
        let next = definitions(&last, &[1], vec![definition(2, "e"), definition(4, "a")]).monitors;
        let names: Vec<&str> = next.iter().map(|it| it.definition.name.as_str()).collect();
        assert_eq!(names, ["a", "c", "e"]);
        assert!(next.iter().any(|it| Arc::ptr_eq(it, &last[1])), "an unchanged one is reused");
    }

    #[test]
    fn snapshot_is_fresh_until_maintenance_changes() {
        let definitions = Arc::new(definitions(&[], &[], vec![]));
        for (changes_at, expected) in [(None, AGE_MAX), (Some(9), Duration::from_millis(4))] {
            let changes_at = changes_at.map(Timestamp::from_millis);
            let statuses = FleetStatus { changes_at, ..FleetStatus::default() };
            let now = Timestamp::from_millis(5);
            let fresh_for = FleetSnapshot::new(Arc::clone(&definitions), &statuses, now).fresh_for;
            assert_eq!(fresh_for, expected);
        }
    }
}
