//! A person in the dashboard: requests with a session cookie, as a browser without scripts sends them.

use std::sync::Mutex;

use bytes::Bytes;
use http::header::{COOKIE, HOST, LOCATION, SET_COOKIE};
use http::{Method, Request};
use http_body_util::Full;

use crate::server::{Caller, Reply, TestServer};

/// Password of every person in tests.
pub const PASSWORD: &str = "correct horse battery staple";

/// A person with a browser.
#[derive(Debug)]
pub struct Person {
    browser: Caller,
    host: String,
    cookies: Mutex<Vec<(String, String)>>,
}

impl Person {
    /// Returns a person who is not signed in.
    pub fn new(server: &TestServer) -> Self {
        let address = server.running().address();
        let (browser, cookies) = (Caller::at(address, None), Mutex::default());
        Self { browser, host: address.to_string(), cookies }
    }

    /// Opens the set-up link of a server and creates its owner, who is signed in.
    pub async fn set_up(server: &TestServer) -> Self {
        let person = Self::new(server);
        let link = server.running().setup_link().await.expect("the store answers");
        let link = link.expect("the server has no account yet");
        let path = link.expose().split_once("/setup/").expect("the link has a token").1.to_owned();
        let fields = [
            ("name", "Ada"),
            ("email", "ada@example.com"),
            ("password", PASSWORD),
            ("workspace", "Acme"),
        ];
        let reply = person.post(&format!("/setup/{path}"), &fields).await;
        assert_eq!(reply.status, 303, "{reply}");
        person
    }

    /// Signs in with email and [`PASSWORD`].
    pub async fn sign_in(server: &TestServer, email: &str) -> Self {
        let person = Self::new(server);
        let reply = person.post("/login", &[("email", email), ("password", PASSWORD)]).await;
        assert_eq!(reply.status, 303, "{reply}");
        person
    }

    /// Opens a page.
    pub async fn get(&self, path: &str) -> Reply {
        self.send(self.request(Method::GET, path), "").await
    }

    /// Opens a page and follows redirects.
    pub async fn open(&self, path: &str) -> Reply {
        let mut reply = self.get(path).await;
        for _ in 0..5 {
            let Some(next) = reply.location() else { break };
            reply = self.get(&next).await;
        }
        reply
    }

    /// Sends a request of any method without a body.
    pub async fn try_method(&self, method: Method, path: &str) -> Reply {
        let request = self.request(method, path).header("sec-fetch-site", "same-origin");
        self.send(request, "").await
    }

    /// Submits a form of this site.
    pub async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Reply {
        let request = self.request(Method::POST, path).header("sec-fetch-site", "same-origin");
        self.send(request, &form(fields)).await
    }

    /// Posts any content to this site.
    pub async fn post_content(&self, path: &str, content_type: &str, content: &str) -> Reply {
        let request = self.request(Method::POST, path).header("sec-fetch-site", "same-origin");
        let request = request.header("content-type", content_type);
        let body = Full::new(Bytes::copy_from_slice(content.as_bytes()));
        self.exchange(request.body(body).expect("the request is valid")).await
    }

    /// Submits a form from another site.
    pub async fn post_from_another_site(&self, path: &str, fields: &[(&str, &str)]) -> Reply {
        let request = self.request(Method::POST, path).header("sec-fetch-site", "cross-site");
        self.send(request, &form(fields)).await
    }

    /// Sets a cookie, as an attacker may who has another browser's.
    pub fn set_cookie(&self, name: &str, value: &str) {
        self.store(&format!("{name}={value}"));
    }

    /// Returns the value of a cookie.
    pub fn cookie(&self, name: &str) -> Option<String> {
        let cookies = self.cookies.lock().expect("no test panics with the lock");
        cookies.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }

    fn request(&self, method: Method, path: &str) -> http::request::Builder {
        let cookies = self.cookies.lock().expect("no test panics with the lock");
        let cookies: Vec<String> =
            cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let request = Request::builder().method(method).uri(path).header(HOST, &self.host);
        let request = request.header("accept", "text/html");
        if cookies.is_empty() { request } else { request.header(COOKIE, cookies.join("; ")) }
    }

    async fn send(&self, request: http::request::Builder, body: &str) -> Reply {
        let request = if body.is_empty() {
            request
        } else {
            request.header("content-type", "application/x-www-form-urlencoded")
        };
        let body = Full::new(Bytes::copy_from_slice(body.as_bytes()));
        self.exchange(request.body(body).expect("the request is valid")).await
    }

    /// Sends a request and stores the cookies of the response.
    async fn exchange(&self, request: Request<Full<Bytes>>) -> Reply {
        let reply = self.browser.request(request).await;
        for cookie in reply.headers.get_all(SET_COOKIE) {
            self.store(cookie.to_str().expect("cookies are ASCII"));
        }
        reply
    }

    fn store(&self, cookie: &str) {
        let (pair, attributes) = cookie.split_once(';').unwrap_or((cookie, ""));
        let (name, value) = pair.split_once('=').expect("a cookie has a value");
        let mut cookies = self.cookies.lock().expect("no test panics with the lock");
        cookies.retain(|(known, _)| known != name);
        if !attributes.contains("Max-Age=0") {
            cookies.push((name.to_owned(), value.to_owned()));
        }
    }
}

impl Reply {
    /// Returns the path that a response redirects to.
    pub fn location(&self) -> Option<String> {
        Some(self.headers.get(LOCATION)?.to_str().ok()?.to_owned())
    }

    /// Returns the body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

fn form(fields: &[(&str, &str)]) -> String {
    url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}
