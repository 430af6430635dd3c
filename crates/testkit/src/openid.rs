//! An `OpenID` provider for tests: a real one, in a process, that signs people in without questions.
//! `cargo xtask setup` installs its package. It stops with the test or the test's process.

use std::collections::HashMap;
use std::process::Stdio;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, LOCATION, SET_COOKIE};
use http::{Method, Request};
use http_body_util::Full;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::Mutex;
use url::Url;

use crate::server::{Caller, Reply};
use crate::tools;

/// Client of the server under test.
pub const CLIENT: &str = "aloft";
/// Another client of the provider.
pub const OTHER_CLIENT: &str = "other";
/// Secret of both clients.
pub const CLIENT_SECRET: &str = "a secret of sixteen letters";
/// Timeout that is longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);
/// Redirects of a sign-in.
const REDIRECTS_MAX: usize = 10;

/// A running provider.
#[derive(Debug)]
pub struct OpenIdProvider {
    port: u16,
    pipes: Mutex<(ChildStdin, Lines<BufReader<ChildStdout>>)>,
    /// Killed on drop.
    _process: Child,
}

impl OpenIdProvider {
    /// Starts the process. It leads back to this URI.
    pub async fn start(redirect_uri: &str) -> Self {
        let package = tools::installed("openid/node_modules/oidc-provider", "an OpenID provider");
        let packages = package.ancestors().nth(2).expect("the path has two parent folders");
        let client = |id| json!({ "id": id, "secret": CLIENT_SECRET });
        let options = json!({
            "packages": packages, "redirectUris": [redirect_uri],
            "clients": [client(CLIENT), client(OTHER_CLIENT)],
        });
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/src/openid/provider.mjs");
        let mut process = Command::new("node")
            .args([script, &options.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("these tests start a provider on Node.js: run `cargo xtask setup`");
        let stdin = process.stdin.take().expect("stdin is piped");
        let stdout = process.stdout.take().expect("stdout is piped");
        let mut lines = BufReader::new(stdout).lines();
        let first = answer(&mut lines).await;
        let port = first["port"].as_u64().and_then(|port| u16::try_from(port).ok());
        let port = port.expect("the provider prints its port");
        Self { port, pipes: Mutex::new((stdin, lines)), _process: process }
    }

    /// Returns its URL.
    pub fn issuer(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Signs everybody in with these claims from now on.
    pub async fn sign_in_as(&self, claims: Value) {
        self.command(json!({ "account": claims })).await;
    }

    /// Replaces the next ID token.
    pub async fn replace_next_token(&self, token: &str) {
        self.command(json!({ "replacement": token })).await;
    }

    /// Replaces the keys that sign ID tokens.
    pub async fn replace_keys(&self) {
        self.command(json!({ "newKeys": true })).await;
    }

    /// Follows the redirects of the provider as a browser does, and returns the URL that leads back.
    pub async fn authorize(&self, url: &str) -> Url {
        let mut url = Url::parse(url).expect("the URL of the provider is valid");
        let mut cookies = HashMap::new();
        for _ in 0..REDIRECTS_MAX {
            if url.port() != Some(self.port) {
                return url;
            }
            let all: Vec<String> =
                cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let request = Request::builder()
                .method(Method::GET)
                .uri(path(&url))
                .header("host", format!("127.0.0.1:{}", self.port))
                .header(COOKIE, all.join("; "));
            let reply = self.send(request, String::new()).await;
            for cookie in reply.headers.get_all(SET_COOKIE) {
                let text = cookie.to_str().expect("cookies are ASCII");
                let pair = text.split(';').next().unwrap_or_default();
                let (name, value) = pair.split_once('=').expect("a cookie has a value");
                cookies.insert(name.to_owned(), value.to_owned());
            }
            let next = reply.headers.get(LOCATION).and_then(|it| it.to_str().ok());
            let next = next.unwrap_or_else(|| panic!("the provider does not redirect: {reply}"));
            url = url.join(next).expect("the provider redirects to a URL");
        }
        panic!("the provider redirects in a circle");
    }

    /// Exchanges a code as the other client does, and returns its ID token.
    pub async fn token_of_other_client(&self, back: &Url, verifier: &str) -> String {
        let code = back.query_pairs().find(|(name, _)| name == "code").expect("there is a code").1;
        let redirect = Url::parse(back.as_str().split('?').next().unwrap_or_default());
        let redirect = redirect.expect("the URL has no query");
        let body = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("grant_type", "authorization_code")
            .append_pair("code", &code)
            .append_pair("redirect_uri", redirect.as_str())
            .append_pair("code_verifier", verifier)
            .finish();
        let encode =
            |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
        let login = format!("{}:{}", encode(OTHER_CLIENT), encode(CLIENT_SECRET));
        let request = Request::builder()
            .method(Method::POST)
            .uri("/token")
            .header("host", format!("127.0.0.1:{}", self.port))
            .header(AUTHORIZATION, format!("Basic {}", STANDARD.encode(login)))
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        let reply = self.send(request, body).await;
        let token = reply.json()["id_token"].as_str().map(str::to_owned);
        token.unwrap_or_else(|| panic!("the other client gets no token: {reply}"))
    }

    async fn send(&self, request: http::request::Builder, body: String) -> Reply {
        let caller = Caller::at(([127, 0, 0, 1], self.port).into(), None);
        let request = request.body(Full::new(Bytes::from(body)));
        caller.request(request.expect("the request is valid")).await
    }

    async fn command(&self, command: Value) {
        let mut pipes = self.pipes.lock().await;
        let (stdin, lines) = &mut *pipes;
        let written = stdin.write_all(format!("{command}\n").as_bytes()).await;
        written.expect("the provider reads commands");
        answer(lines).await;
    }
}

async fn answer(lines: &mut Lines<BufReader<ChildStdout>>) -> Value {
    let line = tokio::time::timeout(PATIENCE, lines.next_line()).await.ok();
    let line = line.and_then(Result::ok).flatten().expect("the provider answers");
    serde_json::from_str(&line).unwrap_or_else(|_| panic!("the provider printed `{line}`"))
}

fn path(url: &Url) -> &str {
    &url[url::Position::BeforePath..url::Position::AfterQuery]
}
