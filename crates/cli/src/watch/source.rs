//! The calls of the live view: lists at bounded intervals, details of what the screen shows, and the actions
//! of the user. Results are sent as news; a failure is news too, and the next list tries again.

use std::sync::Arc;
use std::time::Duration;

use contract::incident::wire::{
    AcknowledgeIncidentRequest, GetIncidentRequest, ListIncidentsRequest,
};
use contract::monitor::wire::{
    GetMonitorStatusRequest, ListMonitorsRequest, ListResponseLogsRequest, TriggerMonitorRequest,
};
use contract::rpc::{Client, Error, MethodRequest};
use rules::Timestamp;
use rules::limits::LIST_LIMIT_MAX;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use web::context::Context;

use super::fleet::{Cause, RecentCheck, WatchedIncident, WatchedMonitor, monitors};
use crate::output::one_line;
use crate::service::service_error;

/// Shortest time between two lists.
const LISTED_EVERY: Duration = Duration::from_secs(5);
/// Time between two lists, as a multiple of the time that one takes.
const PAUSE_FACTOR: u32 = 4;
/// Number of calls for details at once.
const CALLS_MAX: usize = 8;
/// Number of recent checks of a monitor.
pub(super) const RECENT_CHECKS: i32 = 40;
/// Maximum number of incidents.
const INCIDENTS_MAX: usize = 1_000;
/// State of incidents in the list.
const OPEN: &str = "open";

/// A request for the cause and the recent checks of a monitor, which the screen lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) monitor: String,
    /// Its open incident.
    pub(super) incident: Option<String>,
}

/// A response of the service, or its failure.
#[derive(Debug)]
pub(super) enum News {
    Fleet {
        monitors: Vec<WatchedMonitor>,
        incidents: Vec<WatchedIncident>,
        read_at: Timestamp,
    },
    Cause {
        monitor: String,
        cause: Cause,
    },
    Recent {
        monitor: String,
        checks: Vec<RecentCheck>,
    },
    Acknowledged(WatchedIncident),
    Checked {
        monitor: String,
        words: String,
    },
    /// A list was not read. The next one replaces this.
    Lost(String),
    /// An action of the user failed.
    Failed(String),
}

/// The running calls. Dropping it ends the lists.
pub(super) struct Source {
    client: Client,
    news: mpsc::Sender<News>,
    calls: Arc<Semaphore>,
    lists: JoinHandle<()>,
}

impl Drop for Source {
    fn drop(&mut self) {
        self.lists.abort();
    }
}

impl Source {
    /// Starts to list monitors and incidents.
    pub(super) fn start(client: Client, news: mpsc::Sender<News>) -> Self {
        let lists = tokio::spawn(list_forever(client.clone(), news.clone()));
        Self { client, news, calls: Arc::new(Semaphore::new(CALLS_MAX)), lists }
    }

    /// Requests details.
    pub(super) fn request(&self, wanted: Wanted) {
        let (client, news, calls) =
            (self.client.clone(), self.news.clone(), Arc::clone(&self.calls));
        tokio::spawn(async move {
            let Ok(_permit) = calls.acquire().await else { return };
            let details = Box::pin(read_details(&client, &wanted)).await;
            let Wanted { monitor, .. } = wanted;
            // A closed channel means that the view has ended.
            match details {
                Ok((cause, checks)) => {
                    let _ = news.send(News::Cause { monitor: monitor.clone(), cause }).await;
                    let _ = news.send(News::Recent { monitor, checks }).await;
                }
                Err(error) => {
                    let _ = news.send(News::Lost(explain("reading a monitor", &error))).await;
                }
            }
        });
    }

    /// Acknowledges an incident.
    pub(super) fn acknowledge(&self, incident: String) {
        let (client, news) = (self.client.clone(), self.news.clone());
        tokio::spawn(async move {
            let answer = client.send(AcknowledgeIncidentRequest { id: incident }).await;
            let told = match answer {
                Ok(answer) => {
                    let incident = answer.incident.into_option().unwrap_or_default();
                    News::Acknowledged(WatchedIncident::new(&incident))
                }
                Err(error) => News::Failed(explain("acknowledging", &error)),
            };
            let _ = news.send(told).await;
        });
    }

    /// Checks a monitor now.
    pub(super) fn check(&self, monitor: String, name: String) {
        let (client, news) = (self.client.clone(), self.news.clone());
        tokio::spawn(async move {
            let answer = client.send(TriggerMonitorRequest { id: monitor.clone() }).await;
            let told = match answer {
                Ok(answer) => {
                    let result = |it: &contract::monitor::wire::CheckResult| {
                        format!("{} {} in {} ms", it.region, it.outcome, it.latency_ms)
                    };
                    let results: Vec<String> = answer.results.iter().map(result).collect();
                    News::Checked { monitor, words: format!("`{name}`: {}", results.join(", ")) }
                }
                Err(error) => News::Failed(explain(&format!("checking `{name}`"), &error)),
            };
            let _ = news.send(told).await;
        });
    }
}

/// Lists monitors and incidents until nobody is interested.
async fn list_forever(client: Client, news: mpsc::Sender<News>) {
    let ctx = Context::system();
    loop {
        let began = Instant::now();
        let told = match Box::pin(read_fleet(&client)).await {
            Ok((monitors, incidents)) => News::Fleet { monitors, incidents, read_at: ctx.now() },
            Err(error) => News::Lost(explain("listing monitors", &error)),
        };
        if news.send(told).await.is_err() {
            return;
        }
        // A long list is read less often, so that the service has time for others.
        let pause = LISTED_EVERY.max(began.elapsed() * PAUSE_FACTOR);
        tokio::time::sleep(pause).await;
    }
}

async fn read_fleet(client: &Client) -> Result<(Vec<WatchedMonitor>, Vec<WatchedIncident>), Error> {
    let limit = Some(LIST_LIMIT_MAX as i32);
    let (mut all, mut page_token) = (Vec::new(), None);
    loop {
        let page =
            send(client, ListMonitorsRequest { limit, page_token, ..Default::default() }).await?;
        all.extend(monitors(&page));
        if page.next_page_token.is_empty() {
            break;
        }
        page_token = Some(page.next_page_token);
    }
    let (mut incidents, mut page_token) = (Vec::new(), None);
    while incidents.len() < INCIDENTS_MAX {
        let state = Some(OPEN.to_owned());
        let request = ListIncidentsRequest { limit, page_token, state, ..Default::default() };
        let page = send(client, request).await?;
        incidents.extend(page.incidents.iter().map(WatchedIncident::new));
        if page.next_page_token.is_empty() {
            break;
        }
        page_token = Some(page.next_page_token);
    }
    Ok((all, incidents))
}

async fn read_details(
    client: &Client,
    wanted: &Wanted,
) -> Result<(Cause, Vec<RecentCheck>), Error> {
    let status = send(client, GetMonitorStatusRequest { id: wanted.monitor.clone() }).await?;
    let why = match &wanted.incident {
        Some(incident) => {
            let answer = send(client, GetIncidentRequest { id: incident.clone() }).await?;
            let last = answer.evidence.first().and_then(|it| it.attempts.last());
            last.map(|it| it.reasons.join("; ")).unwrap_or_default()
        }
        None => String::new(),
    };
    let request = ListResponseLogsRequest {
        id: wanted.monitor.clone(),
        limit: Some(RECENT_CHECKS),
        ..Default::default()
    };
    let logs = send(client, request).await?;
    Ok((Cause::new(&status, &why), logs.logs.iter().map(RecentCheck::new).collect()))
}

async fn send<Q: MethodRequest>(client: &Client, request: Q) -> Result<Q::Response, Error> {
    client.send(request).await
}

fn explain(doing: &str, error: &Error) -> String {
    one_line(&format!("{doing}: {:#}", service_error(error)))
}
