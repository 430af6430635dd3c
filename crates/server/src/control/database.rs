//! What is done to a whole database while no server holds it: putting a copy back, and carrying
//! everything over to another engine. The store does both; here is what the command line says.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::{fmt, io};

use rules::Secret;
use store::{Database, MasterKeySource, Restored, Settings, Transferred};

use super::ControlError;

/// Where a database is, as the command line names it.
#[derive(Clone, Debug)]
pub enum Place {
    /// The embedded database of this data folder: `sqlite:DIR`.
    Folder(PathBuf),
    /// PostgreSQL at this address: `postgres://…`.
    Postgres(Secret<String>),
}

impl Place {
    /// The same place with an absolute folder.
    pub fn absolute(self) -> io::Result<Self> {
        match self {
            Self::Folder(folder) => {
                Ok(Self::Folder(std::path::absolute(folder)?.components().collect()))
            }
            Self::Postgres(address) => Ok(Self::Postgres(address)),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => write!(f, "{}", folder.display()),
            Self::Postgres(address) => {
                f.write_str(&Database::Postgres(address.clone()).place(Path::new("")))
            }
        }
    }
}

impl FromStr for Place {
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

/// Puts a copy of the embedded database in its place.
pub async fn restore(settings: &Settings, file: &Path) -> Result<Restored, ControlError> {
    Ok(store::restore(settings, file).await?)
}

/// Carries everything from one database to another, of which one is PostgreSQL and the other is
/// embedded, and says what; also which data folder it is, whose key both are sealed with.
pub async fn migrate(
    from: Place,
    to: Place,
    master_key: &MasterKeySource,
) -> Result<(PathBuf, Vec<Transferred>), ControlError> {
    let (folder, from, to) = match (from, to) {
        (Place::Folder(folder), Place::Postgres(address)) => {
            (folder, Database::Embedded, Database::Postgres(address))
        }
        (Place::Postgres(address), Place::Folder(folder)) => {
            (folder, Database::Postgres(address), Database::Embedded)
        }
        (Place::Folder(_), Place::Folder(_)) | (Place::Postgres(_), Place::Postgres(_)) => {
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
