//! The files that an import writes: all of them, or none.

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::{HistoryTotals, Import, ImportError, Peer, SecretStyle, Written};

/// Mode of files with secrets: only their owner may read them.
const SECRETS_MODE: u32 = 0o600;
/// Mode of other files, before the umask.
const FILE_MODE: u32 = 0o666;
/// Ends of the names of files that belong to a database of SQLite.
const OF_DATABASES: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Destinations of an import.
#[derive(Clone, Debug, Default)]
pub struct Destinations {
    /// File for the configuration.
    pub output: Option<PathBuf>,
    /// File for the values of secrets.
    pub secrets: Option<PathBuf>,
    /// File for past results and incidents.
    pub history: Option<PathBuf>,
    /// Whether files that exist are replaced. The source never is.
    pub force: bool,
}

impl Destinations {
    fn files(&self) -> impl Iterator<Item = &Path> {
        [&self.output, &self.secrets, &self.history].into_iter().flatten().map(PathBuf::as_path)
    }

    /// Fails if a file cannot be written: it exists, it is there twice, or it belongs to the source.
    pub fn check(&self, peer: Peer, source: Option<&Path>) -> Result<(), ImportError> {
        let mut seen: Vec<PathBuf> = Vec::new();
        for path in self.files() {
            let place = place_of(path)?;
            if source.is_some_and(|source| is_of_source(&place, peer, source)) {
                let problem = "belongs to the source, which an import never changes";
                return Err(ImportError::unusable(path, problem, "choose another file"));
            }
            if seen.contains(&place) {
                let problem = "is the destination of two things";
                return Err(ImportError::unusable(path, problem, "choose a file for each"));
            }
            if path.is_dir() {
                return Err(ImportError::unusable(path, "is a folder", "name a file in it"));
            }
            if !self.force && path.symlink_metadata().is_ok() {
                let remedy = "choose another file, or add `--force`";
                return Err(ImportError::unusable(path, "already exists", remedy));
            }
            seen.push(place);
        }
        Ok(())
    }

    /// Writes all files. After an error, none of them is there, except those that existed before.
    pub fn write(
        &self,
        import: &Import,
        written: &Written,
        style: SecretStyle,
    ) -> Result<Option<HistoryTotals>, ImportError> {
        let mode = match style {
            SecretStyle::Inline => SECRETS_MODE,
            SecretStyle::Named => FILE_MODE,
        };
        let mut parts = Vec::new();
        if let Some(path) = &self.secrets {
            parts.push(Unfinished::of_text(path, SECRETS_MODE, &written.secrets)?);
        }
        let mut totals = None;
        if let Some(path) = &self.history {
            let (part, file) = Unfinished::create(path, FILE_MODE)?;
            let mut file = BufWriter::new(file);
            totals = Some(import.write_history(&mut file)?);
            parts.push(part);
        }
        if let Some(path) = &self.output {
            parts.push(Unfinished::of_text(path, mode, &written.text)?);
        }
        for at in 0..parts.len() {
            if let Err(error) = parts[at].publish() {
                if !self.force {
                    parts[..at].iter().for_each(Unfinished::withdraw);
                }
                return Err(error);
            }
        }
        Ok(totals)
    }
}

/// A file under another name until it is complete. It is removed if it is not published.
struct Unfinished {
    temporary: PathBuf,
    path: PathBuf,
}

impl Unfinished {
    fn create(path: &Path, mode: u32) -> Result<(Self, File), ImportError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let temporary = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
        let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&temporary);
        let file = file.map_err(|error| ImportError::write(path, error))?;
        Ok((Self { temporary, path: path.to_owned() }, file))
    }

    fn of_text(path: &Path, mode: u32, text: &str) -> Result<Self, ImportError> {
        let (part, mut file) = Self::create(path, mode)?;
        file.write_all(text.as_bytes())
            .and_then(|()| file.sync_all())
            .map_err(|error| ImportError::write(path, error))?;
        Ok(part)
    }

    fn publish(&self) -> Result<(), ImportError> {
        fs::rename(&self.temporary, &self.path)
            .map_err(|error| ImportError::write(&self.path, error))
    }

    /// Removes a file that was published.
    fn withdraw(&self) {
        // The error that led here is the one to report.
        let _ = fs::remove_file(&self.path);
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // After `publish`, there is nothing to remove.
        let _ = fs::remove_file(&self.temporary);
    }
}

/// Returns the absolute path of a file that may not exist. Fails if its folder does not.
fn place_of(path: &Path) -> Result<PathBuf, ImportError> {
    if let Ok(place) = path.canonicalize() {
        return Ok(place);
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    let folder = folder.canonicalize().map_err(|error| ImportError::write(path, error))?;
    Ok(folder.join(path.file_name().unwrap_or_default()))
}

/// Returns whether a path is a file of the source: the file itself, one that is read from a folder, or the
/// log of a database.
fn is_of_source(place: &Path, peer: Peer, source: &Path) -> bool {
    let Ok(source) = source.canonicalize() else { return false };
    let source = match peer {
        Peer::UptimeKuma if source.is_dir() => source.join("kuma.db"),
        Peer::UptimeKuma
        | Peer::Gatus
        | Peer::OpenStatus
        | Peer::BetterStack
        | Peer::UptimeRobot
        | Peer::Statuspage => source,
    };
    if source.is_dir() {
        let ends: &[&str] = if peer == Peer::Gatus { &["yaml", "yml"] } else { &["json"] };
        let is_read = place.extension().is_some_and(|end| ends.iter().any(|known| end == *known));
        return place.starts_with(&source) && is_read && place.exists();
    }
    let is_beside = |end: &str| {
        let mut name = source.as_os_str().to_owned();
        name.push(end);
        place.as_os_str() == name
    };
    place == source || OF_DATABASES.iter().any(|end| is_beside(end))
}
