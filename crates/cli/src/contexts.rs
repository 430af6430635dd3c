//! The contexts of a person: services with a key for each, in one file that only this person can
//! read. Leaves their use to `service`, and the commands that change them to `login`.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use rules::field::Shape;
use rules::{Secret, nearest};
use rustix::process::geteuid;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use server::boot;

/// Folder of the program in the user's configuration folder.
const FOLDER: &str = "aloft";
const FILE: &str = "contexts.json";
/// Ending of the next version of the file while it is written.
const NEXT_ENDING: &str = "json.next";
/// Modes: only the owner may read and write.
const FILE_MODE: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;
/// Permissions of everybody else.
const OTHERS: u32 = 0o077;
/// Maximum size of the file, in bytes.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// Names of contexts.
const NAME: Shape = Shape::Slug { min: 1, max: 64 };

/// All contexts, and the one in use.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Contexts {
    /// Name of the context in use.
    pub(crate) current: Option<String>,
    #[serde(rename = "contexts")]
    pub(crate) all: Vec<StoredContext>,
}

/// A service with a key.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoredContext {
    pub(crate) name: String,
    /// Address of the service. The key is sent to no other address.
    pub(crate) base_url: String,
    /// Slug of the key's workspace.
    pub(crate) workspace: String,
    pub(crate) key_id: String,
    #[serde(serialize_with = "write_key", deserialize_with = "read_key")]
    pub(crate) key: Secret<String>,
}

impl Contexts {
    /// Reads the file. Without one, there are no contexts. Rejects a file that others can read.
    pub(crate) fn read() -> Result<Self> {
        path().map_or_else(|| Ok(Self::default()), |path| read_file(&path))
    }

    /// Changes the file. Programs that change it at the same time wait for each other.
    pub(crate) fn change<T>(change: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let path = require_folder()?;
        let folder = path.parent().expect("the file is in a folder");
        let locked = lock_folder(folder)
            .with_context(|| format!("preparing the folder `{}`", folder.display()))?;
        let mut contexts = read_file(&path)?;
        let result = change(&mut contexts)?;
        let text = Secret::new(serde_json::to_vec_pretty(&contexts)?);
        write_file(&path, &text, &locked)
            .with_context(|| format!("writing `{}`", path.display()))?;
        Ok(result)
    }

    /// Returns the context in use.
    pub(crate) fn current(&self) -> Option<&StoredContext> {
        let name = self.current.as_deref()?;
        self.all.iter().find(|it| it.name == name)
    }

    /// Returns the context with this name.
    pub(crate) fn get(&self, name: &str) -> Result<&StoredContext> {
        self.all.iter().find(|it| it.name == name).ok_or_else(|| self.unknown(name))
    }

    /// Adds a context, or replaces the one of the same name, and uses it.
    pub(crate) fn put(&mut self, context: StoredContext) {
        self.current = Some(context.name.clone());
        self.all.retain(|it| it.name != context.name);
        self.all.push(context);
        self.all.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    }

    /// Removes a context and returns it.
    pub(crate) fn remove(&mut self, name: &str) -> Result<StoredContext> {
        let at = self.all.iter().position(|it| it.name == name);
        let removed = self.all.remove(at.ok_or_else(|| self.unknown(name))?);
        self.current.take_if(|current| *current == name);
        Ok(removed)
    }

    fn unknown(&self, name: &str) -> anyhow::Error {
        let known: Vec<&str> = self.all.iter().map(|it| it.name.as_str()).collect();
        match (nearest(name, &known), known.is_empty()) {
            (_, true) => anyhow!("context `{name}` not found; `aloft login` stores the first one"),
            (Some(meant), _) => anyhow!("context `{name}` not found; did you mean `{meant}`?"),
            (None, _) => anyhow!("context `{name}` not found; known are {}", known.join(", ")),
        }
    }
}

/// Parses the name of a context, for clap.
pub(crate) fn name(given: &str) -> Result<String> {
    if NAME.takes(given) {
        return Ok(given.to_owned());
    }
    bail!("a name has 1 to 64 lower-case letters and digits, joined by single hyphens")
}

/// Returns the path of the file. Fails if the user has no home for it.
pub(crate) fn require_folder() -> Result<PathBuf> {
    path().context("no folder for contexts; set HOME or XDG_CONFIG_HOME to an absolute path")
}

/// Returns the path of the file, or `None` without a home. Ignores relative paths, as the XDG
/// specification requires.
fn path() -> Option<PathBuf> {
    let folder = |variable: &str| {
        boot::variable(variable).map(PathBuf::from).filter(|folder| folder.is_absolute())
    };
    let configuration = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")));
    Some(configuration?.join(FOLDER).join(FILE))
}

fn read_file(path: &Path) -> Result<Contexts> {
    let shown = path.display();
    let file = match File::open(path) {
        Ok(file) => file,
        // A service user may have a home without a folder.
        Err(error) if [ErrorKind::NotFound, ErrorKind::NotADirectory].contains(&error.kind()) => {
            return Ok(Contexts::default());
        }
        Err(error) => return Err(error).with_context(|| format!("reading `{shown}`")),
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.uid() != geteuid().as_raw() {
        bail!("`{shown}` is not a file of yours; remove it, and log in again");
    }
    let mode = metadata.permissions().mode() & 0o777;
    if mode & OTHERS != 0 {
        bail!(
            "`{shown}` has keys, and its mode {mode:o} lets others read it; run `chmod 600 \
             '{shown}'`, and replace the keys if somebody may have read them"
        );
    }
    let mut text = Vec::new();
    let read = file.take(FILE_BYTES_MAX + 1).read_to_end(&mut text);
    read.with_context(|| format!("reading `{shown}`"))?;
    let text = Secret::new(text);
    if text.expose().len() as u64 > FILE_BYTES_MAX {
        bail!("`{shown}` is larger than {FILE_BYTES_MAX} bytes; remove it and log in again");
    }
    // The cause may quote a part of the file, so only its place is shown.
    serde_json::from_slice(text.expose()).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        anyhow!(
            "`{shown}` is damaged at line {line}, column {column}; correct it, or remove it and \
             log in again"
        )
    })
}

/// Creates the folder, makes it private, and locks it until the result is dropped.
fn lock_folder(folder: &Path) -> std::io::Result<File> {
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(folder)?;
    let locked = File::open(folder)?;
    if locked.metadata()?.permissions().mode() & OTHERS != 0 {
        locked.set_permissions(Permissions::from_mode(FOLDER_MODE))?;
    }
    locked.lock()?;
    Ok(locked)
}

/// Replaces the file at once: readers see the old text or the new one.
fn write_file(path: &Path, text: &Secret<Vec<u8>>, folder: &File) -> std::io::Result<()> {
    let next = path.with_extension(NEXT_ENDING);
    // A program that was killed may have left one.
    match fs::remove_file(&next) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(&next)?;
    file.write_all(text.expose())?;
    file.sync_all()?;
    fs::rename(&next, path)?;
    folder.sync_all()
}

/// Writes a key to the file, the only place that stores it.
fn write_key<S: Serializer>(key: &Secret<String>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(key.expose())
}

fn read_key<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Secret<String>, D::Error> {
    String::deserialize(deserializer).map(Secret::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(name: &str) -> StoredContext {
        StoredContext {
            name: name.to_owned(),
            base_url: "http://127.0.0.1:8080/rpc".to_owned(),
            workspace: "acme".to_owned(),
            key_id: "key_1".to_owned(),
            key: Secret::new("secret".to_owned()),
        }
    }

    #[test]
    fn removed_context_is_not_in_use() {
        let mut contexts = Contexts::default();
        contexts.put(context("two"));
        contexts.put(context("one"));
        assert_eq!(contexts.current().unwrap().name, "one");
        contexts.remove("two").unwrap();
        assert_eq!(contexts.current().unwrap().name, "one");
        contexts.remove("one").unwrap();
        assert!(contexts.current().is_none() && contexts.all.is_empty());
    }

    #[test]
    fn unknown_context_suggests_a_similar_name() {
        let mut contexts = Contexts::default();
        let why = |contexts: &Contexts, name| contexts.get(name).unwrap_err().to_string();
        assert_eq!(
            why(&contexts, "prod"),
            "context `prod` not found; `aloft login` stores the first one"
        );
        contexts.put(context("production"));
        contexts.put(context("test"));
        assert_eq!(
            why(&contexts, "producton"),
            "context `producton` not found; did you mean `production`?"
        );
        assert_eq!(why(&contexts, "x"), "context `x` not found; known are production, test");
    }

    #[test]
    fn names_are_slugs() {
        for (given, is_valid) in [("acme", true), ("acme-2", true), ("", false), ("a b", false)] {
            assert_eq!(name(given).is_ok(), is_valid, "{given}");
        }
    }
}
