//! Reads the interface of a service step by step: which request comes next, and what its answer leads to.
//! Without network access: the command line sends the requests, and waits between them.

mod better_stack;
mod openstatus;
mod statuspage;
mod uptimerobot;

use std::collections::VecDeque;
use std::path::Path;
use std::time::Duration;

use rules::Secret;
use serde_json::Value;

use crate::source::{Import, read_answers};
use crate::{ImportError, Peer};

/// Maximum number of requests of an import (ours): a service that never ends its lists is stopped.
const REQUESTS_MAX: usize = 5_000;

/// A request to an interface. Headers and body may contain the token, so `Debug` prints only the URL.
#[derive(Clone)]
pub struct ApiRequest {
    /// `GET` or `POST`.
    pub method: &'static str,
    pub url: String,
    pub headers: Vec<(&'static str, Secret<String>)>,
    pub body: Secret<String>,
}

/// A service that has an interface to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveService {
    peer: Peer,
    /// Address of the interface, without a slash at its end.
    pub address: &'static str,
    /// Environment variable of the token.
    pub variable: &'static str,
    /// Time between two requests, by the documented limit of the service.
    pub pause: Duration,
}

/// An import that reads an interface.
pub struct Live {
    service: LiveService,
    address: String,
    token: Secret<String>,
    open: VecDeque<Step>,
    current: Option<Step>,
    answers: Vec<Value>,
    sent: usize,
}

/// A request that is not sent yet: a path of the interface and where in its list it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    path: String,
    /// Identifier of the object, if it is not in the path.
    id: Option<String>,
    /// Offset or number of the page, as the service counts.
    from: u64,
}

impl std::fmt::Debug for ApiRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.method, self.url)
    }
}

impl LiveService {
    /// Returns the service of a peer, or `None` if the peer is a program with files.
    pub const fn of(peer: Peer) -> Option<Self> {
        let (address, variable, pause) = match peer {
            Peer::UptimeKuma | Peer::Gatus => return None,
            Peer::OpenStatus => openstatus::SERVICE,
            Peer::BetterStack => better_stack::SERVICE,
            Peer::UptimeRobot => uptimerobot::SERVICE,
            Peer::Statuspage => statuspage::SERVICE,
        };
        Some(Self { peer, address, variable, pause })
    }
}

impl Live {
    /// Creates an import. `address` replaces the one of the service, for one of your own.
    pub fn new(service: LiveService, address: Option<&str>, token: Secret<String>) -> Self {
        let address = address.unwrap_or(service.address).trim_end_matches('/').to_owned();
        let first: &[&str] = match service.peer {
            Peer::UptimeKuma | Peer::Gatus => &[],
            Peer::OpenStatus => &openstatus::LISTS,
            Peer::BetterStack => &better_stack::LISTS,
            Peer::UptimeRobot => &uptimerobot::LISTS,
            Peer::Statuspage => &statuspage::LISTS,
        };
        let open = first.iter().map(|path| Step::new(*path)).collect();
        Self { service, address, token, open, current: None, answers: Vec::new(), sent: 0 }
    }

    /// Returns the next request, or `None` if everything is read.
    pub fn next_request(&mut self) -> Result<Option<ApiRequest>, ImportError> {
        let Some(step) = self.open.pop_front() else { return Ok(None) };
        self.sent += 1;
        if self.sent > REQUESTS_MAX {
            let problem = format!("needs more than {REQUESTS_MAX} requests");
            let remedy = "save the answers as files, and import them";
            return Err(ImportError::unusable(Path::new(&self.address), problem, remedy));
        }
        let (address, token) = (self.address.as_str(), &self.token);
        let request = match self.service.peer {
            Peer::UptimeKuma | Peer::Gatus => return Ok(None),
            Peer::OpenStatus => openstatus::request(address, token, &step),
            Peer::BetterStack => better_stack::request(address, token, &step),
            Peer::UptimeRobot => uptimerobot::request(address, token, &step),
            Peer::Statuspage => statuspage::request(address, token, &step),
        };
        self.current = Some(step);
        Ok(Some(request))
    }

    /// Takes the answer to the last request.
    pub fn take(&mut self, answer: Value) {
        let Some(step) = self.current.take() else { return };
        let next = match self.service.peer {
            Peer::UptimeKuma | Peer::Gatus => Vec::new(),
            Peer::OpenStatus => openstatus::next(&step, &answer),
            Peer::BetterStack => better_stack::next(&self.address, &step, &answer),
            Peer::UptimeRobot => uptimerobot::next(&step, &answer),
            Peer::Statuspage => statuspage::next(&step, &answer),
        };
        self.open.extend(next);
        self.answers.push(answer);
    }

    /// Imports all answers.
    pub fn finish(self) -> Result<Import, ImportError> {
        read_answers(self.service.peer, Path::new(&self.address), self.answers)
    }
}

impl Step {
    fn new(path: impl Into<String>) -> Self {
        Self { path: path.into(), id: None, from: 0 }
    }

    fn from(&self, from: u64) -> Self {
        Self { from, ..self.clone() }
    }
}

/// Returns the identifiers of the objects in a list. Identifiers that would change a path are left out.
fn ids(list: Option<&Value>) -> Vec<String> {
    let items = list.and_then(Value::as_array).into_iter().flatten();
    let ids = items.filter_map(|item| match item.get("id") {
        Some(Value::String(id)) => Some(id.clone()),
        Some(Value::Number(id)) => Some(id.to_string()),
        Some(_) | None => None,
    });
    let is_safe = |id: &String| {
        !id.is_empty()
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    ids.filter(is_safe).collect()
}

#[cfg(test)]
mod tests;
