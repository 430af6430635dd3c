//! Gets a key through the dashboard: prints an address and a code, opens the browser, and asks the server
//! until a person has decided.

use std::io::{IsTerminal as _, stderr};
use std::time::Duration;

use anyhow::{Error, Result, anyhow, bail};
use contract::rpc::{self, Code, DeviceLogin, DeviceLoginClient, DeviceProgress};
use rules::Secret;
use tokio::time::{Instant, sleep, timeout};
use url::{Host, Url};

use crate::{dashboard, output, service};

/// Added to the time between two questions when the server asks for it (RFC 8628 §3.5).
const SLOWER: Duration = Duration::from_secs(5);
/// Longest time between two questions after failures.
const SLOWEST: Duration = Duration::from_secs(15);
/// Maximum time of one question. A lost one is asked again.
const QUESTION_WITHIN: Duration = Duration::from_secs(20);

/// Returns the key that a person allows this program. `None` if the server has no such logins.
pub(super) async fn log_in(base_url: &str) -> Result<Option<Secret<String>>> {
    let login = DeviceLoginClient::new(&service::network(), base_url)?;
    let machine = machine_name();
    let begun = timeout(rpc::CALL_TIMEOUT, login.begin(&machine)).await;
    let begun = begun.map_err(|_| anyhow!("the server did not answer; try again"))?;
    let begun = match begun {
        Ok(begun) => begun,
        Err(error) if error.code == Code::Unimplemented => return Ok(None),
        Err(error) => return Err(service::service_error(&error)),
    };
    ask_person(&begun, base_url)?;
    wait_for_decision(&login, &begun).await.map(Some)
}

/// Prints where the person approves, and opens the browser of a terminal's user.
fn ask_person(begun: &DeviceLogin, base_url: &str) -> Result<()> {
    let complete = begun.verification_uri_complete.as_ref().unwrap_or(&begun.verification_uri);
    let complete = &reachable(complete, &dashboard::host_of(base_url))?;
    let minutes = begun.lifetime().as_secs().div_ceil(60);
    output::print_stderr(&format!(
        "Open {} and compare the code: {}\nWaiting for the approval, at most {minutes} minutes…",
        output::one_line(complete),
        output::one_line(&begun.user_code),
    ));
    if stderr().is_terminal()
        && let Err(why) = dashboard::open(complete)
    {
        output::print_stderr(&format!("no browser was opened: {why:#}"));
    }
    Ok(())
}

async fn wait_for_decision(
    login: &DeviceLoginClient,
    begun: &DeviceLogin,
) -> Result<Secret<String>> {
    let ends_at = Instant::now() + begun.lifetime();
    let mut interval = begun.interval();
    let mut failure = None;
    loop {
        sleep(interval).await;
        match timeout(QUESTION_WITHIN, login.poll(begun)).await {
            Ok(Ok(DeviceProgress::Approved(key))) => return Ok(key),
            Ok(Ok(DeviceProgress::Pending)) => failure = None,
            Ok(Ok(DeviceProgress::TooOften)) => interval += SLOWER,
            Ok(Ok(DeviceProgress::Ended(why))) => return Err(ended(&why)),
            Ok(Err(error)) if !is_passing(error.code) => {
                return Err(service::service_error(&error));
            }
            // The server may restart, and networks fail: the login lasts until it expires.
            Ok(Err(error)) => {
                report(&mut failure, service::service_error(&error));
                interval = (interval * 2).min(SLOWEST);
            }
            Err(_) => report(&mut failure, anyhow!("the server did not answer")),
        }
        if Instant::now() >= ends_at {
            let expired = ended("expired_token");
            return match failure {
                Some(failure) => Err(failure.context(expired)),
                None => Err(expired),
            };
        }
    }
}

/// Keeps the newest failure of a question, and prints the first.
fn report(failure: &mut Option<Error>, newest: Error) {
    if failure.is_none() {
        output::print_stderr(&format!("{newest:#}; trying again"));
    }
    *failure = Some(newest);
}

const fn is_passing(code: Code) -> bool {
    matches!(code, Code::Unavailable | Code::DeadlineExceeded | Code::Unknown)
}

/// Returns the words for the error code that ended a login.
fn ended(code: &str) -> Error {
    match code {
        "access_denied" => anyhow!(
            "the login was refused in the dashboard, or the person who approved may not create keys"
        ),
        "expired_token" => anyhow!(
            "the login ended without an approval: its time was over, or the server was restarted; try again"
        ),
        other => anyhow!("the login failed: {}", output::one_line(other)),
    }
}

/// Returns the address of the screen for this person's browser. A server that does not know its public
/// address names one of its own machine, and then that of the service replaces it.
fn reachable(screen: &str, host: &str) -> Result<String> {
    let foreign =
        "the server sent an address that is not one of the web; check the address of the service";
    let Ok(screen) = Url::parse(screen) else { bail!(foreign) };
    // The system opens other schemes with any program.
    if !matches!(screen.scheme(), "http" | "https") {
        bail!(foreign);
    }
    let given = Url::parse(host).ok().filter(|host| !is_local(host) && is_local(&screen));
    let Some(given) = given else { return Ok(screen.into()) };
    let query = screen.query().map(|query| format!("?{query}")).unwrap_or_default();
    Ok(format!("{}{}{query}", String::from(given).trim_end_matches('/'), screen.path()))
}

fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Returns the name of this machine, which the person sees.
fn machine_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_addresses_are_opened() {
        for address in ["file:///etc/passwd", "vscode://run", "--help", ""] {
            assert!(reachable(address, "https://aloft.example.com").is_err(), "{address}");
        }
    }

    #[test]
    fn address_of_the_server_itself_is_replaced() {
        let remote = "https://aloft.example.com/base";
        let elsewhere = "https://status.example.com/login/device";
        let local = "http://127.0.0.1:8080/login/device";
        for (screen, host, expected) in [
            (
                "http://localhost:8080/login/device?code=B",
                remote,
                "https://aloft.example.com/base/login/device?code=B",
            ),
            (elsewhere, remote, elsewhere),
            (local, "http://[::1]:8080", local),
        ] {
            assert_eq!(reachable(screen, host).unwrap(), expected);
        }
    }
}
