//! The entry to the importers: reads a source of a peer into an [`Import`].

use std::io::Write;
use std::path::Path;

use serde_json::Value;

use crate::configuration::{Configuration, heading};
use crate::history::{History, HistoryTotals, Line, push};
use crate::peer::Reading;
use crate::preview::{Entry, Preview};
use crate::saved::{self, Document};
use crate::secrets::{SecretStyle, Secrets};
use crate::{
    Environment, ImportError, Peer, better_stack, gatus, kuma, openstatus, statuspage, uptimerobot,
};

/// A source that was read: valid resources and the fate of every object.
#[derive(Debug)]
pub struct Import {
    peer: Peer,
    configuration: Configuration,
    entries: Vec<Entry>,
    secrets: Secrets,
    history: History,
}

/// A configuration file with what belongs to it. `Debug` would print its secrets, so there is none.
pub struct Written {
    /// Text of the configuration file.
    pub text: String,
    /// Lines of the file with the values of the secrets; empty if there are none.
    pub secrets: String,
    pub preview: Preview,
}

/// Reads a source: a file, or a folder of files. Changes nothing there.
pub fn read(peer: Peer, path: &Path, environment: Environment<'_>) -> Result<Import, ImportError> {
    let reading = match peer {
        Peer::UptimeKuma => kuma::read(path)?,
        Peer::Gatus => gatus::read(path, environment)?,
        Peer::OpenStatus | Peer::BetterStack | Peer::UptimeRobot | Peer::Statuspage => {
            of_documents(peer, saved::read(path)?)?
        }
    };
    finish(peer, path, reading)
}

/// Reads answers of a peer's interface. `origin` names them in errors. Fails for peers that are programs
/// with files.
pub fn read_answers(peer: Peer, origin: &Path, answers: Vec<Value>) -> Result<Import, ImportError> {
    let documents =
        answers.into_iter().map(|value| Document { path: origin.to_owned(), value }).collect();
    let reading = of_documents(peer, documents)?;
    finish(peer, origin, reading)
}

fn of_documents(peer: Peer, documents: Vec<Document>) -> Result<Reading, ImportError> {
    match peer {
        Peer::OpenStatus => openstatus::read(documents),
        Peer::BetterStack => better_stack::read(documents),
        Peer::UptimeRobot => uptimerobot::read(documents),
        Peer::Statuspage => statuspage::read(documents),
        Peer::UptimeKuma | Peer::Gatus => {
            let path = documents.first().map(|document| document.path.clone()).unwrap_or_default();
            let problem = format!("has no answers of {}", peer.title());
            Err(ImportError::unusable(&path, problem, "give its database or configuration"))
        }
    }
}

fn finish(peer: Peer, path: &Path, reading: Reading) -> Result<Import, ImportError> {
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
        let mut objects = self.entries.clone();
        objects.extend(self.configuration.excess(&text));
        let preview = Preview { objects, secrets: names };
        Written { text, secrets: secrets.to_lines(), preview }
    }

    /// Writes past results and incidents as JSON Lines, row by row.
    pub fn write_history(&self, out: &mut dyn Write) -> Result<HistoryTotals, ImportError> {
        let mut totals = HistoryTotals::default();
        push(out, &Line::header(self.peer.word())).map_err(ImportError::History)?;
        let incidents = match &self.history {
            History::Heartbeats { database, incidents } => {
                let keys = &self.configuration.monitor_keys;
                kuma::write_heartbeats(database, keys, out, &mut totals)?;
                incidents
            }
            History::Incidents(incidents) => incidents,
        };
        for incident in incidents {
            push(out, &Line::Incident(incident)).map_err(ImportError::History)?;
            totals.incidents += 1;
        }
        out.flush().map_err(ImportError::History)?;
        Ok(totals)
    }
}
