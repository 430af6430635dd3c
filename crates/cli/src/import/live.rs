//! Sends the requests of an import to the interface of a service, at the pace that the service allows.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use clap::Args;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use import::{ApiRequest, Import, Live, LiveService, Peer};
use probe::{Client, ClientResponse, Request};
use rules::Secret;
use server::boot;
use url::Url;

use crate::database_args::ConfigArg;
use crate::output;

/// Time for one request.
const ANSWERED_WITHIN: Duration = Duration::from_mins(1);
/// Maximum size of an answer. Lists have at most 100 objects.
const ANSWER_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Maximum number of tries of one request.
const TRIES_MAX: u32 = 5;
/// Time before another try, if the service names none.
const PAUSE_DEFAULT: Duration = Duration::from_secs(10);
/// Longest time before another try.
const PAUSE_MAX: Duration = Duration::from_mins(2);
/// Length of a refusal that an error repeats, in characters.
const SHOWN_CHARS: usize = 200;

/// How to read the interface of a service.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading the service itself")]
pub(crate) struct LiveArgs {
    #[arg(
        long,
        conflicts_with = "source",
        help = "Read the interface of the service over HTTPS; the token comes from OPENSTATUS_API_KEY, BETTER_STACK_TOKEN, UPTIMEROBOT_API_KEY or STATUSPAGE_API_KEY"
    )]
    pub(super) live: bool,
    /// File with the token, instead of the environment
    #[arg(long, value_name = "FILE", requires = "live")]
    token_file: Option<PathBuf>,
    /// Address of the interface, if it is your own
    #[arg(long, value_name = "URL", requires = "live")]
    interface: Option<Url>,
    /// Allow private and loopback addresses
    #[arg(long, requires = "live")]
    allow_private_networks: bool,
    #[command(flatten)]
    config: ConfigArg,
}

/// Reads a service to its end.
pub(super) async fn read(peer: Peer, args: &LiveArgs) -> Result<Import> {
    let Some(service) = LiveService::of(peer) else {
        bail!("{} has files; give the path of its file or folder", peer.title());
    };
    let token = token(&service, args.token_file.as_deref())?;
    let mut settings = args.config.settings()?;
    settings.allow_private_networks |= args.allow_private_networks;
    let client = Client::new(boot::network(&settings, Vec::new())?);
    let mut live = Live::new(service, args.interface.as_ref().map(Url::as_str), token);
    let mut is_first = true;
    while let Some(request) = live.next_request()? {
        if !is_first {
            tokio::time::sleep(service.pause).await;
        }
        is_first = false;
        let answer = answer(&client, &request).await;
        live.take(answer.with_context(|| format!("reading {}", request.url))?);
    }
    Ok(live.finish()?)
}

/// Returns the token of the file, or of the environment.
fn token(service: &LiveService, file: Option<&Path>) -> Result<Secret<String>> {
    let text = match file {
        Some(path) => {
            fs::read_to_string(path).with_context(|| format!("reading `{}`", path.display()))?
        }
        None => boot::variable(service.variable).unwrap_or_default(),
    };
    let token = text.trim();
    if token.is_empty() {
        bail!("no token; set {}, or give a file with `--token-file`", service.variable);
    }
    if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        bail!("invalid character in the token; copy it again");
    }
    Ok(Secret::new(token.to_owned()))
}

/// Sends a request until the service answers it. Waits if the service asks for it.
async fn answer(client: &Client, request: &ApiRequest) -> Result<serde_json::Value> {
    let sent = http_request(request)?;
    for _ in 1..TRIES_MAX {
        let response = fetch(client, &sent).await?;
        if !asks_to_wait(response.status) {
            return parse(&response);
        }
        let pause = pause_of(&response);
        output::print_stderr(&format!("waiting {} s, as the service asks", pause.as_secs()));
        tokio::time::sleep(pause).await;
    }
    parse(&fetch(client, &sent).await?)
}

async fn fetch(client: &Client, request: &Request) -> Result<ClientResponse> {
    let response = client.fetch(request, ANSWERED_WITHIN, ANSWER_BYTES_MAX).await;
    response.map_err(|failure| anyhow!("{}", failure.detail))
}

fn asks_to_wait(status: StatusCode) -> bool {
    matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE)
        || status.as_u16() == 420
}

fn pause_of(response: &ClientResponse) -> Duration {
    let header = response.headers.get(http::header::RETRY_AFTER);
    let seconds = header.and_then(|value| value.to_str().ok()?.trim().parse().ok());
    seconds.map_or(PAUSE_DEFAULT, Duration::from_secs).min(PAUSE_MAX)
}

fn parse(response: &ClientResponse) -> Result<serde_json::Value> {
    let text = String::from_utf8_lossy(&response.body);
    let shown: String = output::one_line(&text).chars().take(SHOWN_CHARS).collect();
    match response.status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            bail!(
                "the service rejects the token ({}); create one that may read everything: {shown}",
                response.status
            )
        }
        status if !status.is_success() => bail!("the service answers {status}: {shown}"),
        _ if response.truncated => bail!("the answer has more than {ANSWER_BYTES_MAX} bytes"),
        _ => {
            serde_json::from_str(&text).map_err(|error| anyhow!("the answer is not JSON: {error}"))
        }
    }
}

fn http_request(request: &ApiRequest) -> Result<Request> {
    let mut headers = Vec::with_capacity(request.headers.len());
    for (name, value) in &request.headers {
        let mut value = HeaderValue::from_str(value.expose()).context("invalid token")?;
        value.set_sensitive(true);
        headers.push((HeaderName::from_static(name), value));
    }
    Ok(Request {
        method: Method::from_bytes(request.method.as_bytes())?,
        url: Url::parse(&request.url)?,
        headers,
        body: request.body.expose().clone().into_bytes().into(),
    })
}
