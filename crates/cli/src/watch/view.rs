//! The state of the live view: which monitors are shown, which one is selected, and what a key does. Has no
//! IO, so that tests press keys and read the screen.

use std::collections::{HashMap, HashSet};

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use rules::Timestamp;

use super::fleet::{Cause, RecentCheck, WatchedIncident, WatchedMonitor, WatchedStatus};
use super::source::{News, Wanted};

/// Longest filter, in characters.
const FILTER_CHARS: usize = 64;

/// The content of the screen.
#[derive(Debug)]
pub(super) struct View {
    /// Workspace and host.
    pub(super) place: String,
    /// All monitors, broken ones first.
    monitors: Vec<WatchedMonitor>,
    pub(super) incidents: Vec<WatchedIncident>,
    /// Indexes of the monitors that match the filter.
    shown: Vec<usize>,
    pub(super) filter: String,
    pub(super) mode: Mode,
    selected: usize,
    offset: usize,
    /// Rows of the list on the screen.
    rows: usize,
    causes: HashMap<String, Cause>,
    recent: HashMap<String, Vec<RecentCheck>>,
    /// Monitors whose details were requested since the last list.
    requested: HashSet<String>,
    pub(super) notice: Notice,
    pub(super) updated_at: Option<Timestamp>,
}

/// The meaning of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    List,
    /// Keys change the filter.
    Filter,
    /// The recent checks of the selected monitor.
    Details {
        monitor: String,
    },
    /// A question before an acknowledgement; then the mode is `after`.
    Confirm {
        incident: String,
        name: String,
        after: Box<Mode>,
    },
}

/// A message in the last line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Notice {
    #[default]
    None,
    Info(String),
    /// A list was not read.
    Lost(String),
    /// An action failed.
    Error(String),
}

/// A decision of the user that needs a call, or the end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Action {
    Quit,
    Acknowledge { incident: String },
    Check { monitor: String, name: String },
}

impl View {
    /// Creates a view without data.
    pub(super) fn new(place: String, filter: String) -> Self {
        Self {
            place,
            monitors: Vec::new(),
            incidents: Vec::new(),
            shown: Vec::new(),
            filter,
            mode: Mode::List,
            selected: 0,
            offset: 0,
            rows: 0,
            causes: HashMap::new(),
            recent: HashMap::new(),
            requested: HashSet::new(),
            notice: Notice::None,
            updated_at: None,
        }
    }

    /// Changes the state by a key. Returns what to do.
    pub(super) fn on_key(&mut self, key: KeyEvent) -> Option<Action> {
        if key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c') {
            return Some(Action::Quit);
        }
        match self.mode.clone() {
            Mode::Filter => self.on_filter_key(key.code),
            Mode::Confirm { incident, after, .. } => {
                self.mode = *after;
                return matches!(key.code, KeyCode::Char('y' | 'Y'))
                    .then_some(Action::Acknowledge { incident });
            }
            Mode::List | Mode::Details { .. } => return self.on_command_key(key.code),
        }
        None
    }

    /// Changes the state by what the service returned.
    pub(super) fn on_news(&mut self, news: News) {
        match news {
            News::Fleet { monitors, incidents, read_at } => {
                self.set_fleet(monitors, incidents);
                self.updated_at = Some(read_at);
                if let Notice::Lost(_) = self.notice {
                    self.notice = Notice::None;
                }
            }
            News::Cause { monitor, cause } => {
                self.causes.insert(monitor, cause);
            }
            News::Recent { monitor, checks } => {
                self.recent.insert(monitor, checks);
            }
            News::Acknowledged(incident) => {
                self.notice =
                    Notice::Info(format!("acknowledged the incident of `{}`", incident.name));
                if let Some(known) = self.incidents.iter_mut().find(|it| it.id == incident.id) {
                    *known = incident;
                }
            }
            News::Checked { monitor, words } => {
                self.requested.remove(&monitor);
                self.notice = Notice::Info(words);
            }
            News::Lost(why) => self.notice = Notice::Lost(why),
            News::Failed(why) => self.notice = Notice::Error(why),
        }
    }

    /// Sets the number of rows of the list, and scrolls to the selected one.
    pub(super) fn set_rows(&mut self, rows: usize) {
        self.rows = rows;
        self.selected = self.selected.min(self.shown.len().saturating_sub(1));
        self.offset = self.offset.min(self.shown.len().saturating_sub(rows));
        if self.selected < self.offset {
            self.offset = self.selected;
        } else if self.selected >= self.offset + rows {
            self.offset = (self.selected + 1).saturating_sub(rows);
        }
    }

    /// Returns the monitors on the screen, and whether each is selected.
    pub(super) fn visible(&self) -> impl Iterator<Item = (&WatchedMonitor, bool)> {
        let rows = self.shown.iter().enumerate().skip(self.offset).take(self.rows);
        rows.map(|(at, index)| (&self.monitors[*index], at == self.selected))
    }

    /// Returns the requests for what the screen lacks. Each is made once per list.
    pub(super) fn take_wanted(&mut self) -> Vec<Wanted> {
        let mut monitors: Vec<(String, WatchedStatus)> =
            self.visible().map(|(it, _)| (it.id.clone(), it.status)).collect();
        if let Mode::Details { monitor } = &self.mode
            && !monitors.iter().any(|(id, _)| id == monitor)
        {
            monitors.push((monitor.clone(), WatchedStatus::Unknown));
        }
        // A paused monitor in the list has nothing new.
        let missing = monitors.into_iter().filter(|(id, status)| {
            let is_paused = *status == WatchedStatus::Paused;
            (!is_paused || self.is_detailed(id)) && !self.requested.contains(id)
        });
        let wanted: Vec<Wanted> = missing
            .map(|(monitor, _)| Wanted {
                incident: self.incident_of(&monitor).map(|it| it.id.clone()),
                monitor,
            })
            .collect();
        self.requested.extend(wanted.iter().map(|it| it.monitor.clone()));
        wanted
    }

    fn is_detailed(&self, id: &str) -> bool {
        self.detailed() == Some(id)
    }

    /// Returns the monitor whose details are shown, if only below a question.
    fn detailed(&self) -> Option<&str> {
        let mode = match &self.mode {
            Mode::Confirm { after, .. } => after,
            mode @ (Mode::List | Mode::Filter | Mode::Details { .. }) => mode,
        };
        match mode {
            Mode::Details { monitor } => Some(monitor),
            Mode::List | Mode::Filter | Mode::Confirm { .. } => None,
        }
    }

    /// Returns the selected monitor, or the one of the details.
    pub(super) fn current(&self) -> Option<&WatchedMonitor> {
        if let Some(monitor) = self.detailed() {
            return self.monitors.iter().find(|it| it.id == monitor);
        }
        self.shown.get(self.selected).map(|index| &self.monitors[*index])
    }

    /// Returns the open incident of a monitor.
    pub(super) fn incident_of(&self, monitor: &str) -> Option<&WatchedIncident> {
        self.incidents.iter().find(|it| it.monitor == monitor)
    }

    pub(super) fn cause(&self, monitor: &str) -> Option<&Cause> {
        self.causes.get(monitor)
    }

    pub(super) fn recent(&self, monitor: &str) -> &[RecentCheck] {
        self.recent.get(monitor).map_or(&[], Vec::as_slice)
    }

    /// Returns the number of monitors with a status.
    pub(super) fn count(&self, status: WatchedStatus) -> usize {
        // The list is sorted by status.
        let end = self.monitors.partition_point(|it| it.status <= status);
        end - self.monitors.partition_point(|it| it.status < status)
    }

    /// Returns the number of monitors that match the filter, and of all.
    pub(super) const fn counts(&self) -> (usize, usize) {
        (self.shown.len(), self.monitors.len())
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "all other keys do nothing")]
    fn on_filter_key(&mut self, code: KeyCode) {
        match code {
            KeyCode::Esc => {
                self.filter.clear();
                self.mode = Mode::List;
            }
            KeyCode::Enter | KeyCode::Up | KeyCode::Down => self.mode = Mode::List,
            KeyCode::Backspace => {
                self.filter.pop();
            }
            KeyCode::Char(character) if self.filter.chars().count() < FILTER_CHARS => {
                self.filter.push(character);
            }
            _ => {}
        }
        self.apply_filter(None);
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "all other keys do nothing")]
    fn on_command_key(&mut self, code: KeyCode) -> Option<Action> {
        self.notice = Notice::None;
        let page = self.rows.saturating_sub(1).max(1);
        match code {
            KeyCode::Char('q') => return Some(Action::Quit),
            KeyCode::Char('a') => self.ask(),
            KeyCode::Char('r') => return self.check(),
            KeyCode::Char('/') => self.mode = Mode::Filter,
            KeyCode::Esc if self.mode == Mode::List => {
                self.filter.clear();
                self.apply_filter(None);
            }
            KeyCode::Esc | KeyCode::Left | KeyCode::Backspace => self.mode = Mode::List,
            KeyCode::Enter | KeyCode::Right => {
                if let Some(monitor) = self.current().map(|it| it.id.clone()) {
                    self.mode = Mode::Details { monitor };
                }
            }
            KeyCode::Up | KeyCode::Char('k') => self.select(self.selected.saturating_sub(1)),
            KeyCode::Down | KeyCode::Char('j') => self.select(self.selected + 1),
            KeyCode::PageUp => self.select(self.selected.saturating_sub(page)),
            KeyCode::PageDown => self.select(self.selected + page),
            KeyCode::Home => self.select(0),
            KeyCode::End => self.select(usize::MAX),
            _ => {}
        }
        None
    }

    /// Selects a row of the list. The details follow.
    fn select(&mut self, at: usize) {
        self.selected = at.min(self.shown.len().saturating_sub(1));
        if let (Mode::Details { monitor }, Some(index)) =
            (&mut self.mode, self.shown.get(self.selected))
        {
            monitor.clone_from(&self.monitors[*index].id);
        }
    }

    /// Asks before the acknowledgement of the current monitor's incident.
    fn ask(&mut self) {
        let Some(monitor) = self.current() else { return };
        let name = monitor.name.clone();
        match self.incident_of(&monitor.id) {
            None => self.notice = Notice::Info(format!("`{name}` has no open incident")),
            Some(WatchedIncident { acknowledged_by: Some(by), .. }) => {
                self.notice = Notice::Info(format!("`{name}` is acknowledged already by {by}"));
            }
            Some(WatchedIncident { id, acknowledged_by: None, .. }) => {
                let after = Box::new(self.mode.clone());
                self.mode = Mode::Confirm { incident: id.clone(), name, after };
            }
        }
    }

    fn check(&mut self) -> Option<Action> {
        let monitor = self.current()?;
        let (monitor, name) = (monitor.id.clone(), monitor.name.clone());
        self.notice = Notice::Info(format!("checking `{name}` …"));
        Some(Action::Check { monitor, name })
    }

    /// Replaces the lists, and keeps the selected monitor.
    fn set_fleet(&mut self, mut monitors: Vec<WatchedMonitor>, incidents: Vec<WatchedIncident>) {
        let selected = self.shown.get(self.selected).map(|index| self.monitors[*index].id.clone());
        self.incidents = incidents;
        let opened: HashMap<&str, Option<Timestamp>> =
            self.incidents.iter().map(|it| (it.monitor.as_str(), it.opened_at)).collect();
        // The newest problem first, then by name.
        monitors.sort_by_cached_key(|it| {
            let opened = opened.get(it.id.as_str()).copied().flatten();
            (it.status, std::cmp::Reverse(opened), it.name.to_lowercase(), it.id.clone())
        });
        self.monitors = monitors;
        let known: HashSet<&str> = self.monitors.iter().map(|it| it.id.as_str()).collect();
        self.causes.retain(|id, _| known.contains(id.as_str()));
        self.recent.retain(|id, _| known.contains(id.as_str()));
        self.requested.clear();
        self.apply_filter(selected.as_deref());
        if let Some(monitor) = self.detailed()
            && !self.monitors.iter().any(|it| it.id == monitor)
        {
            self.mode = Mode::List;
        }
    }

    /// Finds the monitors that match all words of the filter, and selects the given one or the first. A
    /// selection at the top stays there, because the worst problem is there.
    fn apply_filter(&mut self, selected: Option<&str>) {
        let filter = self.filter.to_lowercase();
        let words: Vec<&str> = filter.split_whitespace().collect();
        let is_shown = |it: &WatchedMonitor| words.iter().all(|word| it.searched.contains(word));
        let all = self.monitors.iter().enumerate();
        self.shown = all.filter(|(_, it)| is_shown(it)).map(|(index, _)| index).collect();
        let was_first = self.selected == 0 && self.detailed().is_none();
        let found = selected.filter(|_| !was_first);
        let found =
            found.and_then(|id| self.shown.iter().position(|it| self.monitors[*it].id == id));
        self.selected = found.unwrap_or(0);
    }
}
