//! The entry to the importers: reads a source of a peer into an [`Import`].

use std::io::Write;
use std::path::Path;

use crate::assembly::Assembly;
use crate::configuration::{Configuration, heading};
use crate::history::{History, HistoryTotals};
use crate::preview::{Entry, Preview};
use crate::secrets::{SecretStyle, Secrets};
use crate::{ImportError, gatus, kuma};

/// Looks up an environment variable. Gatus reads some values from there.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A program or service to import from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// Uptime Kuma 1.23 and 2.
    UptimeKuma,
    /// Gatus 5.
    Gatus,
}

/// What an importer read, before references are resolved.
pub(crate) struct Reading {
    pub(crate) assembly: Assembly,
    pub(crate) history: History,
}

/// A source that was read: valid resources and the fate of every object.
#[derive(Debug)]
pub struct Import {
    peer: Peer,
    configuration: Configuration,
    entries: Vec<Entry>,
    secrets: Secrets,
    history: History,
}

/// A configuration file with what belongs to it. `Debug` does not print its secrets.
pub struct Written {
    /// Text of the configuration file.
    pub text: String,
    /// Lines of the file with the values of the secrets; empty if there are none.
    pub secrets: String,
    pub preview: Preview,
}

impl Peer {
    /// All peers.
    pub const ALL: &'static [Self] = &[Self::UptimeKuma, Self::Gatus];

    /// Returns the name on the command line, which is also the name of the configuration.
    pub const fn word(self) -> &'static str {
        match self {
            Self::UptimeKuma => "uptime-kuma",
            Self::Gatus => "gatus",
        }
    }

    /// Returns the name in texts.
    pub const fn title(self) -> &'static str {
        match self {
            Self::UptimeKuma => "Uptime Kuma",
            Self::Gatus => "Gatus",
        }
    }
}

/// Reads a source: a file, or a folder of files. Changes nothing there.
pub fn read(peer: Peer, path: &Path, environment: Environment<'_>) -> Result<Import, ImportError> {
    let reading = match peer {
        Peer::UptimeKuma => kuma::read(path)?,
        Peer::Gatus => gatus::read(path, environment)?,
    };
    let (configuration, entries, secrets) = reading.assembly.finish();
    if entries.is_empty() {
        let problem = format!("has nothing of {} to import", peer.title());
        return Err(ImportError::unusable(path, problem, "check that it is the right file"));
    }
    Ok(Import { peer, configuration, entries, secrets, history: reading.history })
}

impl Import {
    /// Returns the configuration file. The same source always gives the same text.
    pub fn write(&self, style: SecretStyle) -> Written {
        let mut secrets = self.secrets.clone();
        let body = self.configuration.to_yaml(self.peer.word(), style, &mut secrets);
        let names = secrets.names();
        let text = format!("{}{body}", heading(self.peer.title(), &names));
        let preview = Preview { objects: self.entries.clone(), secrets: names };
        Written { text, secrets: secrets.to_lines(), preview }
    }

    /// Writes past results and incidents as JSON Lines, row by row.
    pub fn write_history(&self, out: &mut dyn Write) -> Result<HistoryTotals, ImportError> {
        self.history.write(self.peer, &self.configuration, out)
    }
}
