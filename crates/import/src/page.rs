//! Parts of status pages that several importers share.

use rules::Secret;
use rules::status_page::PageDraft;

use crate::assembly::Assembly;
use crate::preview::{Entry, ObjectKind};

/// Returns a password that the configuration reads from the environment, because interfaces do not return
/// it.
pub(crate) fn password_from_environment(
    draft: &PageDraft,
    assembly: &mut Assembly,
    entry: &mut Entry,
) -> Secret<String> {
    let slug = draft.slug.as_deref().unwrap_or_default();
    let words: String = slug
        .chars()
        .map(
            |letter| if letter.is_ascii_alphanumeric() { letter.to_ascii_uppercase() } else { '_' },
        )
        .collect();
    let name = format!("PAGE_{words}_PASSWORD");
    let placeholder = format!("the value of {name}");
    assembly.secrets.refer(&name, &placeholder, false);
    entry.lose("the password, which the interface does not return", format!("set {name}"));
    Secret::new(placeholder)
}

/// Notes a number of incidents. The history has their texts. `what` names them.
pub(crate) fn note_incidents(count: usize, what: &str, assembly: &mut Assembly) {
    if count == 0 {
        return;
    }
    let mut entry = Entry::new(ObjectKind::Incident, &format!("{count} {what}"));
    let remedy =
        "`--history` exports them; create those that still matter with `aloft reports create`";
    entry.lose("incidents of status pages", remedy);
    assembly.note(entry);
}
