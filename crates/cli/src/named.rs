//! Objects by name: the one that a user means by a name, and the confirmation of its deletion.

use std::io::{BufRead as _, IsTerminal as _, Read as _, Write as _, stderr, stdin};

use anyhow::{Result, anyhow, bail};
use clap::Args;
use rules::nearest;

use crate::output::one_line;

/// Maximum length of an answer, in bytes.
const ANSWER_BYTES_MAX: u64 = 64;

/// ID and name of an object.
#[derive(Clone, Debug)]
pub(crate) struct NamedId {
    pub(crate) id: String,
    /// Empty for an object without a name.
    pub(crate) name: String,
}

/// Agreement to a deletion.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ConfirmArgs {
    /// Delete without a question
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// Rejects an empty name, such as that of an unset variable: several kinds of objects may have none.
pub(crate) fn require_name(noun: &str, given: &str) -> Result<()> {
    if given.trim().is_empty() {
        bail!("give the name or the ID of the {noun}; this one is empty");
    }
    Ok(())
}

/// Returns the position of the object with this name. Rejects a name that several have.
pub(crate) fn position(noun: &str, name: &str, known: &[NamedId]) -> Result<usize> {
    require_name(noun, name)?;
    let found: Vec<usize> = (0..known.len()).filter(|at| known[*at].name == name).collect();
    let shown = one_line(name);
    match *found {
        [one] => Ok(one),
        [] => {
            let names: Vec<&str> = known.iter().map(|it| it.name.as_str()).collect();
            let meant = nearest(name, &names).map(one_line);
            let meant = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
            Err(anyhow!("{noun} `{shown}` not found in this workspace{meant}"))
        }
        _ => {
            let ids: Vec<&str> = found.iter().map(|at| known[*at].id.as_str()).collect();
            let count = ids.len();
            Err(anyhow!(
                "{count} {noun}s have the name `{shown}`; give the ID of one: {}",
                ids.join(", ")
            ))
        }
    }
}

/// Asks before a deletion on a terminal, unless `--yes` was given. Fails without an agreement.
pub(crate) fn confirm_deletion(noun: &str, object: &NamedId, yes: bool) -> Result<()> {
    if yes {
        return Ok(());
    }
    let NamedId { id, name } = object;
    if !stdin().is_terminal() {
        bail!("nobody can confirm the deletion of {id} without a terminal; add `--yes`");
    }
    let shown = if name.is_empty() { id.clone() } else { format!("`{}` ({id})", one_line(name)) };
    if ask(&format!("Delete the {noun} {shown}?"))? {
        return Ok(());
    }
    bail!("{id} was not deleted");
}

/// Asks before the deletion of an object without a name, see [`confirm_deletion`].
pub(crate) fn confirm_deletion_of(noun: &str, id: &str, confirm: ConfirmArgs) -> Result<()> {
    let object = NamedId { id: id.to_owned(), name: String::new() };
    confirm_deletion(noun, &object, confirm.yes)
}

/// Asks a question on the terminal. Returns whether the user agrees.
pub(crate) fn ask(question: &str) -> Result<bool> {
    write!(stderr(), "{question} [y/N] ")?;
    let mut answer = String::new();
    stdin().lock().take(ANSWER_BYTES_MAX).read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(names: &[&str]) -> Vec<NamedId> {
        let named = |(at, name): (usize, &&str)| NamedId {
            id: format!("mon_{at}"),
            name: (*name).to_owned(),
        };
        names.iter().enumerate().map(named).collect()
    }

    #[test]
    fn name_selects_exactly_one_object() {
        let known = known(&["API", "Shop", "API"]);
        assert_eq!(position("monitor", "Shop", &known).unwrap(), 1);
        let why = |name| position("monitor", name, &known).unwrap_err().to_string();
        assert_eq!(why("API"), "2 monitors have the name `API`; give the ID of one: mon_0, mon_2");
        assert_eq!(why("Shpo"), "monitor `Shpo` not found in this workspace; did you mean `Shop`?");
        assert_eq!(why("Something"), "monitor `Something` not found in this workspace");
    }
}
