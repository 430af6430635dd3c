//! Calls of the service by the names of methods, with the contract's JSON as request and response, so
//! that the service alone validates what a user wrote.

use anyhow::{Context as _, Result};
use contract::rpc::{self, Call, Client, Code, Error, MethodRequest, Whoami};
use serde_json::Value as Json;
use web::context::Context;

use crate::content::{self, Workspace};
use crate::output;
use crate::service::{self, Service};

/// The service during a command.
pub(crate) struct Session<'a> {
    service: &'a Service,
    client: Client,
}

impl<'a> Session<'a> {
    /// Prepares calls of the service. Connects with the first call.
    pub(crate) fn open(service: &'a Service) -> Result<Self> {
        Ok(Self { service, client: service.client()? })
    }

    /// Returns the client, for calls beside each other.
    pub(crate) fn client(&self) -> Client {
        self.client.clone()
    }

    /// Returns the service.
    pub(crate) const fn service(&self) -> &'a Service {
        self.service
    }

    /// Calls a method, such as `/monitor.v1.MonitorService/GetMonitor`. `doing` names the call in
    /// errors.
    pub(crate) async fn call(&self, doing: &str, method: &str, request: &Json) -> Result<Json> {
        let answer = self.send_json(method, request).await;
        self.service.map_error(doing, answer)
    }

    /// Calls the method of a message.
    pub(crate) async fn send<Q: MethodRequest>(
        &self,
        doing: &str,
        request: Q,
    ) -> Result<Q::Response> {
        self.service.map_error(doing, self.client.send(request).await)
    }

    /// Like [`Self::call`]. `explain` returns the violations of an error in the words of the command
    /// line.
    pub(crate) async fn call_with(
        &self,
        doing: &str,
        method: &str,
        request: &Json,
        explain: impl FnOnce(&Error) -> Option<String>,
    ) -> Result<Json> {
        let error = match self.send_json(method, request).await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let why = explain(&error).map(anyhow::Error::msg);
        let why = why.unwrap_or_else(|| service::service_error(&error));
        Err(self.service.with_place(doing, &error, why))
    }

    /// Like [`Self::call`], with the error as the service sent it.
    pub(crate) async fn try_call(&self, method: &str, request: &Json) -> Result<Json, Error> {
        self.send_json(method, request).await
    }

    /// Returns an error of the service in words, with its place. `doing` names the call.
    pub(crate) fn failure(&self, doing: &str, error: &Error) -> anyhow::Error {
        self.service.with_place(doing, error, service::service_error(error))
    }

    /// Reads the resources of the workspace.
    pub(crate) async fn read_content(&self) -> Result<Workspace> {
        content::read(&self.client).await.context("reading the workspace")
    }

    /// Returns the owner of the key.
    pub(crate) async fn whoami(&self) -> Result<Whoami> {
        let answer = tokio::time::timeout(rpc::CALL_TIMEOUT, self.client.whoami()).await;
        self.service.map_error("reading the workspace", answer.unwrap_or_else(|_| Err(late())))
    }

    async fn send_json(&self, method: &str, request: &Json) -> Result<Json, Error> {
        let ctx = Context::system();
        let key = format!("{:016x}{:016x}", ctx.random(), ctx.random());
        let call = Call {
            method,
            request,
            time: rpc::CALL_TIMEOUT,
            idempotency_key: Some(key.as_str()),
            response_bytes_max: rpc::RESPONSE_BYTES_MAX,
        };
        let answer = tokio::time::timeout(call.time, self.client.call(&call)).await;
        answer.unwrap_or_else(|_| Err(late()))
    }
}

fn late() -> Error {
    let seconds = rpc::CALL_TIMEOUT.as_secs();
    Error::new(Code::DeadlineExceeded, format!("no response within {seconds} s"))
}

/// Returns the warnings of a response as lines.
pub(crate) fn print_warnings(response: &Json) {
    for warning in response["warnings"].as_array().into_iter().flatten() {
        let text = |name: &str| output::one_line(warning[name].as_str().unwrap_or_default());
        output::print_stderr(&format!("warning: `{}` {}", text("field"), text("message")));
    }
}
