//! Plans in words for people, and as JSON for programs.

use std::fmt::Write as _;

use rules::counted;
use serde_json::{Value as Json, json};

use crate::compare::Change;
use crate::kind::Kind;
use crate::plan::{Action, Plan, Step};

/// Maximum length of a shown value, in characters.
const VALUE_SHOWN: usize = 120;
/// Text in place of a secret.
const SECRET: &str = "(secret)";
/// Text of a plan for a creation whose end is not recorded.
const INTERRUPTED: &str =
    "; its creation was interrupted: look whether it exists, and delete it yourself";

impl Action {
    /// Returns the name of the action in JSON.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Recreate => "recreate",
            Self::Adopt => "adopt",
            Self::Resume => "resume",
            Self::Change => "change",
            Self::Replace => "replace",
            Self::Delete => "delete",
            Self::Forget => "forget",
        }
    }

    const fn sign(&self) -> &'static str {
        match self {
            Self::Create | Self::Recreate => "+",
            Self::Adopt | Self::Resume | Self::Change => "~",
            Self::Replace => "-/+",
            Self::Delete | Self::Forget => "-",
        }
    }

    /// Returns what happened after the action.
    pub const fn past(&self) -> &'static str {
        match self {
            Self::Create | Self::Recreate => "created",
            Self::Adopt | Self::Resume => "adopted",
            Self::Change => "changed",
            Self::Replace => "replaced",
            Self::Delete => "deleted",
            Self::Forget => "forgotten",
        }
    }

    /// Returns the remark of the plan on an action.
    const fn reason(&self, kind: Kind, has_id: bool) -> &'static str {
        match self {
            Self::Delete | Self::Replace if matches!(kind, Kind::Page) => {
                "; with its subscribers and reports"
            }
            Self::Forget if !has_id => INTERRUPTED,
            Self::Recreate => "; the recorded one no longer exists",
            Self::Resume => "; an interrupted run created it",
            Self::Replace => "; a field cannot change in place",
            Self::Forget => "; its resource does not exist",
            Self::Create | Self::Adopt | Self::Change | Self::Delete => "",
        }
    }
}

impl Plan {
    /// Returns whether nothing is to do.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.renamed.is_empty()
    }

    /// Returns the plan in words.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for renamed in &self.renamed {
            let _ = writeln!(text, "~ rename {} to `{}`", renamed.from, renamed.to.key);
        }
        for step in &self.steps {
            text.push_str(&self.step_text(step));
        }
        for kept in &self.kept {
            if kept.id.is_empty() {
                let _ = writeln!(
                    text,
                    "  keep the entry of {}{INTERRUPTED}; --prune forgets the entry",
                    kept.address
                );
                continue;
            }
            let _ = writeln!(
                text,
                "  keep {} ({}), which is no longer in the file: --prune deletes it",
                kept.address, kept.id
            );
        }
        if self.unseen > 0 {
            let _ = writeln!(
                text,
                "{} not compared, because a read key does not show secrets",
                counted(self.unseen, "value")
            );
        }
        text.push_str(&self.summary());
        text
    }

    /// Returns the counts of a plan.
    fn summary(&self) -> String {
        let count = |actions: &[Action]| {
            self.steps.iter().filter(|step| actions.contains(&step.action)).count()
        };
        let counts = [
            (count(&[Action::Create, Action::Recreate]), "to create"),
            (count(&[Action::Adopt, Action::Resume]), "to adopt"),
            (count(&[Action::Change]), "to change"),
            (count(&[Action::Replace]), "to replace"),
            (count(&[Action::Delete]), "to delete"),
            (count(&[Action::Forget]), "to forget"),
            (self.renamed.len(), "to rename"),
            (self.unchanged, "unchanged"),
        ];
        let shown = counts.iter().filter(|(count, _)| *count > 0);
        let shown: Vec<String> = shown.map(|(count, what)| format!("{count} {what}")).collect();
        if shown.is_empty() { "nothing to do".to_owned() } else { shown.join(", ") }
    }

    fn step_text(&self, step: &Step) -> String {
        let Step { action, address, id, changes, .. } = step;
        let has_id = id.is_some();
        let id = id.as_ref().map(|id| format!(" ({id})")).unwrap_or_default();
        let mut text = format!(
            "{} {} {address}{id}{}\n",
            action.sign(),
            action.as_str(),
            action.reason(address.kind, has_id)
        );
        for change in changes {
            let (old, new) = self.shown(change);
            let _ = writeln!(text, "    {}: {old} -> {new}", change.path);
        }
        text
    }

    fn shown(&self, change: &Change) -> (String, String) {
        let shown = |value: &Json| {
            if value.is_null() {
                "(none)".to_owned()
            } else if change.is_secret {
                SECRET.to_owned()
            } else {
                shortened(&self.with_keys(value).to_string())
            }
        };
        (shown(&change.old), shown(&change.new))
    }

    /// Replaces IDs of the configuration by their keys.
    fn with_keys(&self, value: &Json) -> Json {
        match value {
            Json::String(text) => match self.keys.get(text) {
                Some(key) => Json::String(key.clone()),
                None => value.clone(),
            },
            Json::Array(elements) => elements.iter().map(|it| self.with_keys(it)).collect(),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Object(_) => value.clone(),
        }
    }

    /// Returns the plan as JSON.
    pub fn json(&self) -> Json {
        let kept = self.kept.iter().map(|kept| {
            json!({ "kind": kept.address.kind.name(), "key": kept.address.key, "id": kept.id })
        });
        let renamed = self.renamed.iter().map(|it| {
            let (kind, from, to) = (it.to.kind.name(), &it.from.key, &it.to.key);
            json!({ "kind": kind, "from": from, "to": to, "id": it.id })
        });
        json!({
            "renamed": renamed.collect::<Vec<_>>(),
            "steps": self.steps.iter().map(Step::json).collect::<Vec<_>>(),
            "unchanged": self.unchanged,
            "kept": kept.collect::<Vec<_>>(),
            "notCompared": self.unseen,
        })
    }
}

impl Step {
    /// Returns the step as JSON.
    pub fn json(&self) -> Json {
        let changes = self.changes.iter().map(|change| {
            if change.is_secret {
                return json!({ "path": change.path, "secret": true });
            }
            json!({ "path": change.path, "old": change.old, "new": change.new })
        });
        json!({
            "action": self.action.as_str(),
            "kind": self.address.kind.name(),
            "key": self.address.key,
            "id": self.id,
            "changes": changes.collect::<Vec<_>>(),
        })
    }
}

/// Shortens a value, and replaces control characters, which could control a terminal.
fn shortened(value: &str) -> String {
    let mut shown: String = value.chars().take(VALUE_SHOWN).collect();
    if value.chars().nth(VALUE_SHOWN).is_some() {
        shown.push('…');
    }
    shown.replace(char::is_control, " ")
}
