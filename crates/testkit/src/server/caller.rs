//! Calls a server with or without a key, and reads the responses.

use std::fmt;
use std::net::SocketAddr;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::Value;
use tokio::net::TcpStream;

use super::MONITORS;

/// A client of a server, with or without a key.
#[derive(Clone, Debug)]
pub struct Caller {
    pub(super) address: SocketAddr,
    pub(super) key: Option<String>,
}

/// A response. Displays as its status and its body, without the base64 details of errors.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// Trailers. Those of a trailers-only response are in the headers.
    pub trailers: HeaderMap,
    pub body: Bytes,
}

impl Caller {
    /// Creates a caller of the server at this address.
    pub const fn at(address: SocketAddr, key: Option<String>) -> Self {
        Self { address, key }
    }

    /// Returns its key.
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Calls a method of the monitor service with Connect JSON.
    pub async fn rpc(&self, method: &str, request: Value) -> Reply {
        self.call(MONITORS, method, request).await
    }

    /// Calls a method of any service with Connect JSON.
    pub async fn call(&self, service: &str, method: &str, request: Value) -> Reply {
        let path = format!("/rpc/{service}/{method}");
        self.send(Method::POST, &path, "application/json", request.to_string()).await
    }

    /// Sends a GET request for a path.
    pub async fn get(&self, path: &str) -> Reply {
        self.request(self.build(Method::GET, path, None, Bytes::new())).await
    }

    /// Sends a body with a content type.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        content_type: &str,
        body: impl Into<Bytes>,
    ) -> Reply {
        self.request(self.build(method, path, Some(content_type), body.into())).await
    }

    /// Sends a request with the caller's key over HTTP/1.1.
    pub async fn request(&self, mut request: Request<Full<Bytes>>) -> Reply {
        self.sign(&mut request);
        let stream = self.connect().await;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(stream)
            .await
            .expect("the server supports HTTP/1");
        let connection = tokio::spawn(connection);
        let reply = read(sender.send_request(request).await.expect("the server responds")).await;
        connection.abort();
        reply
    }

    /// Sends a body with a content type over HTTP/2, as gRPC requires.
    pub async fn send_h2(&self, path: &str, content_type: &str, body: impl Into<Bytes>) -> Reply {
        let uri = format!("http://{}{path}", self.address);
        let mut request = self.build(Method::POST, &uri, Some(content_type), body.into());
        self.sign(&mut request);
        let stream = self.connect().await;
        let (mut sender, connection) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), stream)
                .await
                .expect("the server supports HTTP/2");
        let connection = tokio::spawn(connection);
        let reply = read(sender.send_request(request).await.expect("the server responds")).await;
        connection.abort();
        reply
    }

    fn build(
        &self,
        method: Method,
        uri: &str,
        content_type: Option<&str>,
        body: Bytes,
    ) -> Request<Full<Bytes>> {
        let mut request = Request::builder().method(method).uri(uri);
        if !uri.starts_with("http://") {
            request = request.header("host", self.address.to_string());
        }
        if let Some(content_type) = content_type {
            request = request.header("content-type", content_type);
        }
        request.body(Full::new(body)).expect("the test's request is valid")
    }

    fn sign(&self, request: &mut Request<Full<Bytes>>) {
        if let Some(key) = &self.key {
            let key = key.parse().expect("the test's key is valid in a header");
            request.headers_mut().insert("x-service-key", key);
        }
    }

    async fn connect(&self) -> TokioIo<TcpStream> {
        TokioIo::new(TcpStream::connect(self.address).await.expect("the server listens"))
    }
}

impl Reply {
    /// Returns the body as JSON, or null if it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// Returns the stable reason of an error, for any protocol.
    pub fn reason(&self) -> Option<String> {
        let json = self.json();
        if let Some(reason) = json["reason"].as_str() {
            return Some(reason.to_owned());
        }
        contract::rpc::reason(&self.error()?)
    }

    /// Returns the error of a Connect response.
    pub fn error(&self) -> Option<contract::rpc::Error> {
        serde_json::from_slice(&self.body).ok()
    }

    /// Returns the gRPC status of a gRPC, gRPC-Web or Connect response.
    pub fn grpc_status(&self) -> Option<u32> {
        let header = self.trailers.get("grpc-status").or_else(|| self.headers.get("grpc-status"));
        if let Some(status) = header {
            return status.to_str().ok()?.parse().ok();
        }
        let body = String::from_utf8_lossy(&self.body);
        let (_, after) = body.rsplit_once("grpc-status:")?;
        after.trim_start().split(['\r', '\n']).next()?.parse().ok()
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.status.as_u16())?;
        match serde_json::from_slice::<Value>(&self.body) {
            Ok(mut json) => {
                if let Some(object) = json.as_object_mut() {
                    object.remove("details");
                }
                write!(f, " {json}")
            }
            Err(_) if self.body.is_empty() => Ok(()),
            Err(_) => write!(f, " {}", String::from_utf8_lossy(&self.body)),
        }
    }
}

pub(crate) async fn read(response: http::Response<hyper::body::Incoming>) -> Reply {
    let (parts, body) = response.into_parts();
    let collected = body.collect().await.expect("the response is complete");
    let trailers = collected.trailers().cloned().unwrap_or_default();
    let body = collected.to_bytes();
    Reply { status: parts.status, headers: parts.headers, trailers, body }
}
