//! The client against servers that follow a script: late, broken, enormous, foreign or absent responses.

mod network;
mod retry_after;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rules::Secret;
use serde_json::json;
use testkit::target::TcpTarget;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::*;
use crate::settings::{Arguments, Environment};

/// The reaction of the server to one request.
enum Act {
    /// Sends these bytes and closes.
    Send(Vec<u8>),
    /// Never answers.
    Hold,
}

/// A server that follows a script: one act per request, and the last one for all others.
struct Fake {
    address: SocketAddr,
    /// Heads of the requests.
    seen: Arc<Mutex<Vec<String>>>,
}

impl Fake {
    async fn start(script: impl IntoIterator<Item = Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let mut script: VecDeque<_> = script.into_iter().collect();
        let log = Arc::clone(&seen);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let act = if script.len() > 1 {
                    script.pop_front().unwrap()
                } else {
                    match script.front().unwrap() {
                        Act::Send(bytes) => Act::Send(bytes.clone()),
                        Act::Hold => Act::Hold,
                    }
                };
                tokio::spawn(serve(stream, act, Arc::clone(&log)));
            }
        });
        Self { address, seen }
    }

    fn client(&self) -> Client {
        client(&format!("http://{}/rpc", self.address), 3)
    }

    fn requests(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    fn idempotency_keys(&self) -> Vec<String> {
        let line = |head: &String| {
            head.lines().find_map(|line| line.strip_prefix("idempotency-key: ")).map(str::to_owned)
        };
        self.requests().iter().filter_map(line).collect()
    }
}

async fn serve(mut stream: TcpStream, act: Act, seen: Arc<Mutex<Vec<String>>>) {
    let mut request = Vec::new();
    let mut part = [0; 4096];
    let end = loop {
        let read = stream.read(&mut part).await.unwrap();
        request.extend_from_slice(&part[..read]);
        let at = request.windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(at) = at {
            break at;
        }
    };
    let head = String::from_utf8(request[..end].to_vec()).unwrap();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length.unwrap_or("0").parse().unwrap();
    let mut missing = (end + 4 + length).saturating_sub(request.len());
    while missing > 0 {
        missing = missing.saturating_sub(stream.read(&mut part).await.unwrap());
    }
    seen.lock().unwrap().push(head);
    match act {
        Act::Send(bytes) => {
            let _ = stream.write_all(&bytes).await;
            let _ = stream.shutdown().await;
        }
        Act::Hold => std::future::pending().await,
    }
}

/// Returns a client whose timeout no response reaches, even on a busy machine.
fn client(base_url: &str, max_retries: i32) -> Client {
    client_within(60, base_url, max_retries)
}

fn client_within(seconds: i32, base_url: &str, max_retries: i32) -> Client {
    let arguments = Arguments {
        api_token: Some(Secret::new("key".to_owned())),
        base_url: Some(base_url.to_owned()),
        request_timeout: Some(seconds),
        max_retries: Some(max_retries),
    };
    let settings = Settings::new(arguments, &Environment::default()).unwrap();
    let policy = Policy { first_pause: Duration::ZERO, ..Policy::new(settings.max_retries) };
    Client::with_policy(settings, policy).unwrap()
}

fn answer(status: &str, headers: &str, body: &[u8]) -> Act {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n"
    );
    Act::Send([head.as_bytes(), body].concat())
}

/// Returns a valid response: an empty message.
fn ok_response() -> Act {
    answer("200 OK", "content-type: application/json\r\n", b"{}")
}

fn refused(status: &str, error: &rpc::Error, headers: &str) -> Act {
    let body = error.to_json();
    answer(status, &format!("content-type: application/json\r\n{headers}"), &body)
}

fn limited(headers: &str) -> Act {
    let error = rpc::resource_exhausted("too many calls", Duration::from_secs(1));
    refused("429 Too Many Requests", &error, headers)
}

async fn read(client: &Client) -> Result<Json, Failure> {
    client.call("/monitor.v1.MonitorService/GetMonitor", json!({ "id": "mon_1" })).await
}

async fn create(client: &Client) -> Result<(), Failure> {
    let method = "/monitor.v1.MonitorService/CreateHttpMonitor";
    client.create(method, json!({ "monitor": {} })).await.map(drop)
}

async fn trigger(client: &Client) -> Result<(), Failure> {
    let method = "/monitor.v1.MonitorService/TriggerMonitor";
    client.call_once(method, json!({ "id": "mon_1" })).await.map(drop)
}

fn describe(failure: &Failure, fake: &Fake) -> String {
    failure.to_string().replace(&fake.address.to_string(), "HOST")
}

#[tokio::test]
async fn rate_limited_call_is_retried() {
    let fake = Fake::start([limited("retry-after: 0\r\n"), ok_response()]).await;
    read(&fake.client()).await.unwrap();
    assert_eq!(fake.requests().len(), 2);
}

#[tokio::test]
async fn pause_holds_for_all_calls() {
    let fake = Fake::start([limited("retry-after: 1\r\n"), ok_response()]).await;
    let client = fake.client();
    let other = client.clone();
    read(&client).await.unwrap();
    let quiet = other.pause.lock().unwrap().expect("the service asked for a pause");
    assert_eq!(quiet.length, Duration::from_secs(1));
    read(&other).await.unwrap();
    assert_eq!(fake.requests().len(), 3);
}

#[test]
fn waiting_calls_resume_within_as_long_again() {
    let now = Instant::now();
    let after = |seconds| now + Duration::from_secs(seconds);
    let pause = RequestedPause::new(now, Duration::from_mins(2));
    let ends = [0.0, 0.5, 1.0].map(|chance| pause.resumes_at(now, chance).unwrap());
    assert_eq!(ends, [after(120), after(180), after(240)]);
    assert_eq!(
        pause.resumes_at(after(119), 0.0),
        Some(after(120)),
        "a later call waits for the rest"
    );
    assert_eq!(pause.resumes_at(after(120), 1.0), None, "a call after the pause does not wait");
    // The pause that ends later wins.
    let short = RequestedPause::new(after(60), Duration::from_secs(1));
    assert_eq!(short.or_longer(Some(pause)).until, after(120));
    assert_eq!(pause.or_longer(Some(short)).until, after(120));
    assert_eq!(short.or_longer(None).until, after(61));
}

#[tokio::test]
async fn stopped_call_makes_no_further_attempt() {
    let fake = Fake::start([limited("retry-after: 60\r\n")]).await;
    let stop = CancellationToken::new();
    let client = fake.client().with_cancellation(&stop);
    let stopping = async {
        // The pause begins with the response.
        while client.pause.lock().unwrap().is_none() {
            tokio::task::yield_now().await;
        }
        stop.cancel();
    };
    let (ended, ()) = tokio::join!(create(&client), stopping);
    let text = describe(&ended.unwrap_err(), &fake);
    assert!(text.contains("too many calls"), "{text}");
    let never = create(&client).await.unwrap_err();
    assert_eq!(describe(&never, &fake), STOPPED);
    // An attempt after the pause would have been a second request.
    assert_eq!(fake.requests().len(), 1);
}

#[tokio::test]
async fn restart_of_the_service_is_bridged() {
    let gone = || answer("503 Service Unavailable", "content-type: text/plain\r\n", b"restarting");
    let fake = Fake::start([gone(), gone(), ok_response()]).await;
    read(&fake.client()).await.unwrap();
    assert_eq!(fake.requests().len(), 3);
}

#[tokio::test]
async fn attempts_of_a_create_share_their_key() {
    let gone = || answer("502 Bad Gateway", "content-type: text/html\r\n", b"<html>");
    let fake = Fake::start([gone(), Act::Send(Vec::new()), ok_response()]).await;
    let client = fake.client();
    create(&client).await.unwrap();
    create(&client).await.unwrap();
    let keys = fake.idempotency_keys();
    assert_eq!(keys.len(), 4);
    assert_eq!((&keys[0], &keys[0]), (&keys[1], &keys[2]));
    assert_ne!(keys[2], keys[3]);
}

#[tokio::test]
async fn action_is_retried_only_if_rate_limited() {
    let gone = answer("503 Service Unavailable", "", b"");
    let by_a_proxy = answer("429 Too Many Requests", "content-type: text/plain\r\n", b"slow");
    let fake = Fake::start([limited("retry-after: 0\r\n"), by_a_proxy, gone]).await;
    let failure = trigger(&fake.client()).await.unwrap_err();
    assert_eq!(fake.requests().len(), 3);
    insta::assert_snapshot!(describe(&failure, &fake), @"Something in front of http://HOST/rpc answered in place of the service: HTTP error 503. The service may be down or starting. It was attempted 3 times. It may have taken effect.");
}

#[tokio::test]
async fn unclear_create_suggests_an_import() {
    let fake = Fake::start([answer("503 Service Unavailable", "", b"")]).await;
    let failure = create(&fake.client()).await.unwrap_err();
    let text = describe(&failure, &fake);
    let words = "It was attempted 4 times. It may have been created: if so, import it.";
    assert!(text.ends_with(words), "{text}");
}

#[tokio::test]
async fn each_failure_names_the_way_out() {
    let html = b"<!DOCTYPE html>\n<html><head><title>Log in</title></head><body>\x1b[2J</body>";
    let long = vec![b'x'; 2_000_000];
    let cut = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\nabc";
    let enormous =
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99999999\r\n\r\n";
    let enormous = [&enormous[..], &vec![0; rpc::RESPONSE_BYTES_MAX + 1]].concat();
    let cases = [
        ("login page", answer("200 OK", "content-type: text/html\r\n", html)),
        ("proxy's page", answer("502 Bad Gateway", "content-type: text/html\r\n", html)),
        ("plain limit", answer("429 Too Many Requests", "content-type: text/plain\r\n", b"slow")),
        ("long text", answer("500 Oh", "content-type: text/plain\r\n", &long)),
        ("not the path", answer("404 Not Found", "content-type: text/plain\r\n", b"nothing here")),
        ("moved", answer("301 Moved", "location: https://example.com/\r\n", b"")),
        ("no JSON", answer("200 OK", "content-type: application/json\r\n", b"{}garbage")),
        ("protobuf", answer("200 OK", "content-type: application/proto\r\n", b"")),
        ("cut off", Act::Send(cut.to_vec())),
        ("enormous", Act::Send(enormous)),
        ("nothing at all", Act::Send(Vec::new())),
        ("no HTTP", Act::Send(b"SSH-2.0-OpenSSH_9.2\r\n".to_vec())),
        ("late", Act::Hold),
        ("limited for hours", limited("retry-after: 9999\r\n")),
        ("down for hours", answer("503 Service Unavailable", "retry-after: 9999\r\n", b"")),
        ("failing", refused("500 Internal", &rpc::internal(), "")),
        ("read-only", refused("403 No", &rpc::permission_denied("this key is read-only"), "")),
        (
            "unknown key",
            refused("401 No", &rpc::unauthenticated(rpc::Reason::KeyUnknown, "no such key"), ""),
        ),
    ];
    let mut words = Vec::new();
    for (case, act) in cases {
        let seconds = if matches!(act, Act::Hold) { 1 } else { 60 };
        let fake = Fake::start([act]).await;
        let client = client_within(seconds, &format!("http://{}/rpc", fake.address), 0);
        let failure = read(&client).await.unwrap_err();
        words.push(format!("{case}: {}", describe(&failure, &fake)));
    }
    insta::assert_snapshot!(words.join("\n"), @r"
    login page: http://HOST/rpc does not respond like the service: unexpected content-type: text/html. Check `base_url` of the provider (or SERVICE_API_URL); it usually ends in /rpc.
    proxy's page: Something in front of http://HOST/rpc answered in place of the service: HTTP error 502. The service may be down or starting.
    plain limit: http://HOST/rpc, or a proxy in front of it, rejects calls because there are too many: HTTP error 429: slow. Apply with a lower -parallelism, or later.
    long text: http://HOST/rpc does not respond like the service: HTTP error 500: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…. Check `base_url` of the provider (or SERVICE_API_URL); it usually ends in /rpc.
    not the path: http://HOST/rpc does not respond like the service: HTTP error 404: nothing here. Check `base_url` of the provider (or SERVICE_API_URL); it usually ends in /rpc.
    moved: http://HOST/rpc does not respond like the service: HTTP error 301. Check `base_url` of the provider (or SERVICE_API_URL); it usually ends in /rpc.
    no JSON: The response of http://HOST/rpc was invalid: failed to decode response: trailing characters at line 1 column 3.
    protobuf: http://HOST/rpc does not respond like the service: unexpected content-type: application/proto. Check `base_url` of the provider (or SERVICE_API_URL); it usually ends in /rpc.
    cut off: The response of http://HOST/rpc was invalid: failed to read response body: error reading a body from connection.
    enormous: The response of http://HOST/rpc is larger than any response of the service: response body size exceeds limit 67108864.
    nothing at all: http://HOST/rpc cannot be reached: connection closed before message completed. Check `base_url` of the provider (or SERVICE_API_URL), and that the service runs.
    no HTTP: http://HOST/rpc cannot be reached: invalid HTTP version parsed. Check `base_url` of the provider (or SERVICE_API_URL), and that the service runs.
    late: http://HOST/rpc did not respond within 1 s, the `request_timeout` of the provider.
    limited for hours: The service rejected the call: too many calls. Retry after 9999 s, which is longer than the 300 s that this provider waits.
    down for hours: Something in front of http://HOST/rpc answered in place of the service: HTTP error 503. The service may be down or starting. Retry after 9999 s, which is longer than the 300 s that this provider waits.
    failing: The service returned: the service failed; its log has the cause.
    read-only: The service rejected a change: this key is read-only. A plan needs a key with the scope read, an apply a key with the scope write.
    unknown key: The service does not accept the key: no such key. Set `api_token` of the provider, or SERVICE_API_TOKEN, to a valid key of this service.
    ");
}

#[tokio::test]
async fn not_found_differs_from_refused() {
    let fake = Fake::start([refused("404 No", &rpc::not_found("monitor", "mon_1"), "")]).await;
    let failure = read(&fake.client()).await.unwrap_err();
    assert_eq!(
        failure,
        Failure::NotFound("monitor `mon_1` not found in this workspace".to_owned())
    );
    let violations = rules::Violation::new("monitor.retry", 11, "must be 0 to 10").into();
    let fake = Fake::start([refused("400 No", &rpc::invalid(&violations), "")]).await;
    let Failure::Rejected { fields, .. } = read(&fake.client()).await.unwrap_err() else {
        panic!("a refusal has fields")
    };
    assert_eq!(fields[0].field, "monitor.retry");
}

#[tokio::test]
async fn unreachable_service_is_reported_after_all_attempts() {
    let nobody = TcpTarget::refusing();
    let failure = read(&client(&format!("http://{}", nobody.address()), 2)).await.unwrap_err();
    let text = failure.to_string();
    assert!(text.contains("cannot be reached"), "{text}");
    assert!(text.ends_with("It was attempted 3 times."), "{text}");
}

#[tokio::test]
async fn unsent_call_reports_no_effect() {
    let nobody = TcpTarget::refusing();
    let nowhere = client(&format!("http://{}", nobody.address()), 1);
    for (failed, words) in [
        (create(&nowhere).await, "It was attempted 2 times. Nothing was created."),
        (trigger(&nowhere).await, "It was attempted 2 times. It had no effect."),
    ] {
        let text = failed.unwrap_err().to_string();
        assert!(text.contains("cannot be reached") && text.ends_with(words), "{text}");
    }
}

#[tokio::test]
async fn lost_create_stays_unclear_after_a_refusal() {
    let lost = Act::Send(Vec::new());
    let fake = Fake::start([lost, limited("retry-after: 9999\r\n")]).await;
    let text = describe(&create(&fake.client()).await.unwrap_err(), &fake);
    assert!(text.contains("too many calls") && text.contains("may have been created"), "{text}");
}

#[test]
fn late_action_names_its_own_limit() {
    let client = client("http://127.0.0.1:1", 0);
    let late = rpc::Error::new(rpc::Code::DeadlineExceeded, "late");
    let words = [RetrySafety::Safe, RetrySafety::WhenRefused].map(|repeat| {
        let (settings, time) = (client.settings(), rpc::CALL_TIMEOUT);
        let unclear = may_have_taken_effect(&late);
        let asked_to_wait = None;
        let circumstances = CallContext {
            settings,
            attempts: 1,
            requested_wait: asked_to_wait,
            repeat,
            time,
            unclear,
        };
        explain(&late, &circumstances).to_string()
    });
    insta::assert_snapshot!(words.join("\n"), @r"
    http://127.0.0.1:1 did not respond within 150 s, the `request_timeout` of the provider.
    http://127.0.0.1:1 did not respond within 150 s, the limit of such a call. It may have taken effect.
    ");
}
