//! The settings of a monitor and its draft: the arguments of every monitor and the check of its kind.
//! Both are expansions of [`monitor_arguments`](crate::monitor_arguments).

use serde::{Deserialize, Serialize};

use super::check::{Check, CheckDraft};
use crate::argument::FieldValue;
use crate::mask::{check, replace};
use crate::{Periodicity, Region, Tag, Validator, Violation, Violations, tables};

/// Declares [`MonitorSettings`] and [`MonitorDraft`].
macro_rules! monitor {
    ([] $($(#[$doc:meta])* $name:ident $field:ident: $type:ty,)+) => {
        /// The arguments of §2.1–2.3. [`MonitorDraft::parse`] validates what callers send; the store
        /// reads what was validated; [`MonitorSettings::new`] takes the check as it is.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub struct MonitorSettings {
            $($(#[$doc])* pub $field: $type,)+
            pub check: Check,
        }

        /// A monitor as sent by a caller: not validated, every field optional; `None` and empty lists
        /// mean omitted. RPC, the Terraform provider and the command line create drafts.
        #[derive(Clone, Debug, PartialEq)]
        pub struct MonitorDraft {
            $(pub $name: <$type as FieldValue>::Draft,)+
            pub check: CheckDraft,
        }

        impl MonitorDraft {
            /// Creates an empty draft for this check.
            pub fn new(check: CheckDraft) -> Self {
                Self { $($name: Default::default(),)+ check }
            }

            /// Validates the draft; returns all violations. Omitted fields get the defaults of the
            /// tables, and arguments that the kind does not have get their fixed values.
            pub fn parse(self) -> Result<MonitorSettings, Violations> {
                let mut validator = Validator::new(tables::monitor(self.check.kind()));
                let settings = self.read(&mut validator, CheckDraft::read);
                validator.finish(settings)
            }

            fn read(
                self,
                validator: &mut Validator,
                read_check: impl FnOnce(CheckDraft, &mut Validator) -> Option<Check>,
            ) -> Option<MonitorSettings> {
                let mut fixed = Validator::new(&tables::UNPROBED);
                let table = tables::monitor(self.check.kind());
                $(let $name = if table.writable().any(|it| it == stringify!($name)) {
                    <$type>::read(validator, stringify!($name), self.$name)
                } else {
                    <$type>::read(&mut fixed, stringify!($name), Default::default())
                };)+
                let check = read_check(self.check, validator);
                Some(MonitorSettings { $($field: $name?,)+ check: check? })
            }

            /// Copies the fields that are `named` from `other`.
            fn apply_named(&mut self, other: Self, named: impl Fn(&str) -> bool) {
                $(replace(&mut self.$name, other.$name, named(stringify!($name)));)+
                self.check.apply_named(other.check, named);
            }
        }

        impl From<&MonitorSettings> for MonitorDraft {
            /// Creates the draft that parses to these settings, the base of a masked update.
            fn from(settings: &MonitorSettings) -> Self {
                let table = tables::monitor(settings.check.kind());
                Self {
                    $($name: if table.writable().any(|it| it == stringify!($name)) {
                        settings.$field.draft()
                    } else {
                        Default::default()
                    },)+
                    check: CheckDraft::from(&settings.check),
                }
            }
        }
    };
}

crate::monitor_arguments!(monitor);

impl MonitorDraft {
    /// Copies the fields in `mask` (the specification's names) from `other`, clearing those that
    /// `other` omits. Rejects unknown names and another kind of monitor without copying anything.
    pub fn apply_mask(&mut self, other: Self, mask: &[String]) -> Result<(), Violations> {
        let kind = self.check.kind();
        if other.check.kind() != kind {
            let allowed = format!("must stay {kind}: a monitor keeps its kind");
            return Err(Violation::new("type", other.check.kind(), allowed).into());
        }
        check(tables::monitor(kind), mask)?;
        self.apply_named(other, |name| mask.iter().any(|named| named == name));
        Ok(())
    }
}

impl MonitorSettings {
    /// Creates settings with the defaults of the table. The check is not validated.
    pub fn new(name: impl Into<String>, periodicity: Periodicity, check: Check) -> Self {
        let mut draft = MonitorDraft::new(CheckDraft::from(&check));
        (draft.name, draft.periodicity) = (Some(name.into()), periodicity.draft());
        let mut validator = Validator::new(tables::monitor(check.kind()));
        let settings = draft.read(&mut validator, |_, _| Some(check));
        settings.expect("all other arguments have defaults")
    }
}
