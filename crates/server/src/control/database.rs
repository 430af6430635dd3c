//! Operations on a whole database without a server: restoring a copy and migrating to another
//! engine.
//!
//! The store implements both; this module adds the settings and errors of the command line.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::{fmt, io};

use rules::Secret;
use store::{Database, MasterKeySource, Restored, Settings, Transferred};

use super::ControlError;

/// The location of a database on the command line.
#[derive(Clone, Debug)]
pub enum DatabaseUrl {
    /// Embedded database in this data folder: `sqlite:DIR`.
    Folder(PathBuf),
    /// PostgreSQL database at this URL: `postgres://…`.
    Postgres(Secret<String>),
}

impl DatabaseUrl {
    /// Makes the path of the folder absolute.
    pub fn absolute(self) -> io::Result<Self> {
        match self {
            Self::Folder(folder) => {
                Ok(Self::Folder(std::path::absolute(folder)?.components().collect()))
            }
            Self::Postgres(address) => Ok(Self::Postgres(address)),
        }
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => write!(f, "{}", folder.display()),
            Self::Postgres(address) => {
                f.write_str(&Database::Postgres(address.clone()).location(Path::new("")))
            }
        }
    }
}

impl FromStr for DatabaseUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some(folder) = text.strip_prefix("sqlite:").filter(|folder| !folder.is_empty()) {
            return Ok(Self::Folder(folder.into()));
        }
        if ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme)) {
            return Ok(Self::Postgres(Secret::new(text.to_owned())));
        }
        Err("a database is sqlite:DIR or postgres://USER@HOST/NAME".to_owned())
    }
}

/// Replaces the embedded database with a copy.
pub async fn restore(settings: &Settings, file: &Path) -> Result<Restored, ControlError> {
    Ok(store::restore(settings, file).await?)
}

/// Copies everything between an embedded database and PostgreSQL, in either direction. Returns the data
/// folder, whose key encrypts both, and a summary.
pub async fn migrate(
    from: DatabaseUrl,
    to: DatabaseUrl,
    master_key: &MasterKeySource,
) -> Result<(PathBuf, Vec<Transferred>), ControlError> {
    let (folder, from, to) = match (from, to) {
        (DatabaseUrl::Folder(folder), DatabaseUrl::Postgres(address)) => {
            (folder, Database::Embedded, Database::Postgres(address))
        }
        (DatabaseUrl::Postgres(address), DatabaseUrl::Folder(folder)) => {
            (folder, Database::Postgres(address), Database::Embedded)
        }
        (DatabaseUrl::Folder(_), DatabaseUrl::Folder(_))
        | (DatabaseUrl::Postgres(_), DatabaseUrl::Postgres(_)) => {
            let why = "one of the two is sqlite:DIR and the other postgres://…; a copy on the same engine is made by `aloft backup` or pg_dump";
            return Err(ControlError::Refused(why.to_owned()));
        }
    };
    if !folder.is_dir() {
        let why = format!("data folder `{}` not found", folder.display());
        return Err(ControlError::Refused(why));
    }
    let done = store::transfer(&folder, master_key, from, to).await?;
    Ok((folder, done))
}
