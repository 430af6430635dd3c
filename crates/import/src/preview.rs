//! The preview of an import: what each object of the source becomes, what changes, and what is
//! impossible. `--json` prints these types as they are.

use std::fmt::{Display, Write as _};

use serde::Serialize;

use crate::record::Record;
use crate::text;

/// Maximum length of a value that the preview repeats, in characters.
const SHOWN_CHARS_MAX: usize = 80;
/// Maximum length of the words for a loss, in characters.
const LOSS_CHARS_MAX: usize = 240;

/// Kind of an object of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ObjectKind {
    /// A check.
    Monitor,
    /// A receiver of alerts.
    Channel,
    /// A status page, with its groups and components.
    StatusPage,
    /// A group of monitors that is only used to sort them.
    Group,
    /// Planned maintenance.
    Maintenance,
    /// An incident or announcement of the past.
    Incident,
    /// Somebody who gets messages of a status page.
    Subscriber,
    /// A setting of the whole installation.
    Setting,
}

/// Result for an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// All of it is in the configuration.
    Imported,
    /// It is in the configuration, with differences.
    Changed,
    /// It is not in the configuration.
    Impossible,
}

/// A value that differs from the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Name of the field in the source.
    pub field: String,
    pub before: String,
    pub after: String,
    pub why: String,
}

/// A setting that has no counterpart, and the way out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Loss {
    pub what: String,
    pub remedy: String,
}

/// An object of the source and its fate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    pub kind: ObjectKind,
    /// Name in the source, in one line.
    pub name: String,
    /// Keys in the configuration: none if it is impossible, several if it becomes several objects.
    pub keys: Vec<String>,
    pub outcome: Outcome,
    pub changes: Vec<Change>,
    pub losses: Vec<Loss>,
    /// Fields of the source that the import does not know.
    pub unknown_fields: Vec<String>,
    /// Whether the import would mean something else than the source.
    #[serde(skip)]
    pub(crate) is_refused: bool,
}

/// All objects of a source, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    pub objects: Vec<Entry>,
    /// Names of the environment variables that the configuration reads.
    pub secrets: Vec<String>,
}

/// Numbers of objects by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub imported: usize,
    pub changed: usize,
    pub impossible: usize,
}

impl ObjectKind {
    /// Returns the kind in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Monitor => "monitor",
            Self::Channel => "channel",
            Self::StatusPage => "status page",
            Self::Group => "group",
            Self::Maintenance => "maintenance",
            Self::Incident => "incident",
            Self::Subscriber => "subscriber",
            Self::Setting => "setting",
        }
    }
}

impl Entry {
    /// Creates the entry of an object that is not yet in the configuration.
    pub(crate) fn new(kind: ObjectKind, name: &str) -> Self {
        Self {
            kind,
            name: shown(name),
            keys: Vec::new(),
            outcome: Outcome::Impossible,
            changes: Vec::new(),
            losses: Vec::new(),
            unknown_fields: Vec::new(),
            is_refused: false,
        }
    }

    /// Notes a setting without which the object would mean something else. It is not imported.
    pub(crate) fn refuse(&mut self, what: impl AsRef<str>, remedy: impl Into<String>) {
        self.is_refused = true;
        self.lose(what, remedy);
    }

    /// Notes a value that differs from the source.
    pub(crate) fn change(
        &mut self,
        field: &str,
        before: impl Display,
        after: impl Display,
        why: impl Into<String>,
    ) {
        self.changes.push(Change {
            field: shown(field),
            before: shown(&before.to_string()),
            after: shown(&after.to_string()),
            why: why.into(),
        });
    }

    /// Notes a setting without a counterpart.
    pub(crate) fn lose(&mut self, what: impl AsRef<str>, remedy: impl Into<String>) {
        let what = text::shortened(&text::one_line(what.as_ref()), LOSS_CHARS_MAX);
        let loss = Loss { what, remedy: remedy.into() };
        if !self.losses.contains(&loss) {
            self.losses.push(loss);
        }
    }

    /// Notes the fields that nobody read, and those with a value of the wrong type.
    pub(crate) fn close(&mut self, record: Record) {
        let (rest, wrong) = record.finish();
        self.unknown_fields.extend(rest.iter().map(|field| shown(field)));
        for problem in wrong {
            self.lose(problem, "correct the value in the source, and import again");
        }
    }

    /// Notes the key of an object in the configuration.
    pub(crate) fn imported_as(&mut self, key: &str) {
        self.keys.push(key.to_owned());
    }

    /// Replaces texts of the source that the preview must not show.
    pub(crate) fn replace(&mut self, with: impl Fn(&mut String)) {
        with(&mut self.name);
        for Change { field, before, after, why } in &mut self.changes {
            [field, before, after, why].into_iter().for_each(&with);
        }
        for Loss { what, remedy } in &mut self.losses {
            [what, remedy].into_iter().for_each(&with);
        }
        self.unknown_fields.iter_mut().for_each(&with);
    }

    /// Decides the outcome, once all is noted.
    pub(crate) fn decide(&mut self) {
        let is_same =
            self.changes.is_empty() && self.losses.is_empty() && self.unknown_fields.is_empty();
        self.outcome = match (self.keys.is_empty(), is_same) {
            // Its monitors have it as a tag.
            (true, _) if self.kind == ObjectKind::Group => Outcome::Changed,
            (true, _) => Outcome::Impossible,
            (false, true) => Outcome::Imported,
            (false, false) => Outcome::Changed,
        };
    }
}

impl Preview {
    /// Counts the objects by outcome.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for entry in &self.objects {
            match entry.outcome {
                Outcome::Imported => totals.imported += 1,
                Outcome::Changed => totals.changed += 1,
                Outcome::Impossible => totals.impossible += 1,
            }
        }
        totals
    }

    /// Returns the preview as text for people.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for entry in &self.objects {
            entry.write_to(&mut text);
        }
        let Totals { imported, changed, impossible } = self.totals();
        line(
            &mut text,
            format_args!("{imported} imported, {changed} changed, {impossible} impossible"),
        );
        if !self.secrets.is_empty() {
            line(&mut text, format_args!("set before `aloft apply`: {}", self.secrets.join(", ")));
        }
        text
    }
}

impl Entry {
    fn write_to(&self, text: &mut String) {
        let sign = match self.outcome {
            Outcome::Imported => "imported  ",
            Outcome::Changed => "changed   ",
            Outcome::Impossible => "impossible",
        };
        let keys = match self.keys.as_slice() {
            [] => String::new(),
            keys => format!(" as {}", keys.join(", ")),
        };
        line(text, format_args!("{sign} {} `{}`{keys}", self.kind.words(), self.name));
        for Change { field, before, after, why } in &self.changes {
            line(text, format_args!("    {field}: {before} -> {after} ({why})"));
        }
        for Loss { what, remedy } in &self.losses {
            line(text, format_args!("    impossible: {what}; {remedy}"));
        }
        if !self.unknown_fields.is_empty() {
            line(text, format_args!("    unknown fields: {}", self.unknown_fields.join(", ")));
        }
    }
}

fn line(text: &mut String, content: std::fmt::Arguments<'_>) {
    writeln!(text, "{content}").expect("writing to a string cannot fail");
}

/// Returns a value of the source in one line of bounded length.
fn shown(value: &str) -> String {
    text::shortened(&text::one_line(value), SHOWN_CHARS_MAX)
}
