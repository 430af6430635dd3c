//! Gets a key through the dashboard: prints an address and a code, opens the browser, and asks the server
//! until a person has decided.

use std::io::{IsTerminal as _, stderr};
use std::time::Duration;

use anyhow::{Error, Result, anyhow, bail};
use contract::rpc::{self, Code, DeviceLogin, DeviceLoginClient, DeviceProgress};
use rules::Secret;
use tokio::time::{Instant, sleep, timeout};

use crate::{dashboard, output, service};

/// Added to the time between two questions when the server asks for it (RFC 8628 §3.5).
const SLOWER: Duration = Duration::from_secs(5);
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
    ask_person(&begun)?;
    wait_for_decision(&login, &begun).await.map(Some)
}

/// Prints where the person approves, and opens the browser of a terminal's user.
fn ask_person(begun: &DeviceLogin) -> Result<()> {
    let complete = begun.verification_uri_complete.as_ref().unwrap_or(&begun.verification_uri);
    // The system opens other schemes with any program.
    if !is_web(&begun.verification_uri) || !is_web(complete) {
        bail!(
            "the server sent an address that is not one of the web; check the address of the service"
        );
    }
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
            // The server may restart, and networks fail: the login lasts until it expires.
            Ok(Err(error)) => failure = Some(service::service_error(&error)),
            Err(_) => failure = Some(anyhow!("the server did not answer")),
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

/// Returns the words for the error code that ended a login.
fn ended(code: &str) -> Error {
    match code {
        "access_denied" => anyhow!("the login was refused in the dashboard"),
        "expired_token" => anyhow!(
            "the login ended without an approval: its time was over, or the server was restarted; try again"
        ),
        other => anyhow!("the login failed: {}", output::one_line(other)),
    }
}

fn is_web(address: &str) -> bool {
    url::Url::parse(address).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
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
        for (address, expected) in [
            ("https://aloft.example.com/login/device?code=BCDF-GHJK", true),
            ("http://127.0.0.1:8080/login/device", true),
            ("file:///etc/passwd", false),
            ("vscode://run", false),
            ("--help", false),
        ] {
            assert_eq!(is_web(address), expected, "{address}");
        }
    }
}
