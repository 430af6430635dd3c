//! Entry point of the fuzz target: no bytes in place of values make a call panic. The target itself
//! is outside of the crate. The tests here replay its inputs.

pub(crate) mod everything;

use std::sync::OnceLock;

use futures_util::StreamExt;
use tokio::runtime::Runtime;
use tonic::codegen::BoxStream;
use tonic::{Request, Response, Status};

use crate::proto::tfplugin6::provider_server::Provider as _;
use crate::proto::tfplugin6::{
    DynamicValue, RawState, ResourceIdentityData, apply_resource_change, call_function,
    close_ephemeral_resource, configure_provider, import_resource_state, invoke_action,
    list_resource, move_resource_state, open_ephemeral_resource, plan_action, plan_resource_change,
    read_data_source, read_resource, renew_ephemeral_resource, upgrade_resource_identity,
    upgrade_resource_state, validate_action_config, validate_data_resource_config,
    validate_ephemeral_resource_config, validate_list_resource_config, validate_provider_config,
    validate_resource_config,
};
use crate::serve::Stop;
use crate::server::Server;
use everything::{Everything, NAME};

/// Text of a response after the provider panicked. It cannot occur otherwise, because quotes in a
/// message are escaped.
const PANICKED: [&str; 2] = ["summary: \"Provider panicked\"", "text: \"the function panicked"];

/// Calls a method with `input` in place of its values. The first byte selects the method, and the
/// second how to split the rest.
///
/// # Panics
/// Panics if the call panics or reports a panic. The fuzz target looks for this.
pub fn wire(input: &[u8]) {
    static PROVIDER: OnceLock<(Runtime, Server<Everything>)> = OnceLock::new();
    let (runtime, server) = PROVIDER.get_or_init(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("a runtime for the current thread can be built");
        let config = Parts::split(b"\x02\x81\xa5token\xc0").value(0);
        let server = Server::new(Everything, Stop::default());
        let request =
            configure_provider::Request { config, ..configure_provider::Request::default() };
        let configured = runtime.block_on(server.configure_provider(Request::new(request)));
        let violations =
            configured.expect("configuring always returns a response").into_inner().diagnostics;
        assert!(violations.is_empty(), "{violations:?}");
        (runtime, server)
    });
    let Some((method, rest)) = input.split_first() else { return };
    let answer = runtime.block_on(call(server, *method, &Parts::split(rest)));
    assert!(!PANICKED.iter().any(|words| answer.contains(words)), "{answer}");
}

/// The bytes of an input, split into values of a request.
struct Parts<'a> {
    parts: [&'a [u8]; 3],
    json: bool,
}

#[expect(clippy::unnecessary_wraps, reason = "requests have optional values")]
impl<'a> Parts<'a> {
    /// Splits an input. Bits of the first byte select JSON values (4) and equal values (2). Unless
    /// all values are equal, the next two bytes are the lengths of the first two values.
    fn split(input: &'a [u8]) -> Self {
        let Some((how, rest)) = input.split_first() else {
            return Self { parts: [&[]; 3], json: false };
        };
        let json = how & 4 != 0;
        if how & 2 != 0 {
            return Self { parts: [rest; 3], json };
        }
        let [first, second, rest @ ..] = rest else { return Self { parts: [rest; 3], json } };
        let (one, rest) = rest.split_at(rest.len().min(usize::from(*first)));
        let (two, three) = rest.split_at(rest.len().min(usize::from(*second)));
        Self { parts: [one, two, three], json }
    }

    fn bytes(&self, at: usize) -> Vec<u8> {
        self.parts[at].to_vec()
    }

    fn text(&self, at: usize) -> String {
        String::from_utf8_lossy(self.parts[at]).into_owned()
    }

    fn value(&self, at: usize) -> Option<DynamicValue> {
        Some(if self.json {
            DynamicValue { msgpack: Vec::new(), json: self.bytes(at) }
        } else {
            DynamicValue { msgpack: self.bytes(at), json: Vec::new() }
        })
    }

    fn identity(&self, at: usize) -> Option<ResourceIdentityData> {
        Some(ResourceIdentityData { identity_data: self.value(at) })
    }

    fn raw(&self, at: usize) -> Option<RawState> {
        Some(RawState { json: self.bytes(at), ..RawState::default() })
    }
}

/// Makes one call and returns its formatted response.
async fn call(server: &Server<Everything>, method: u8, parts: &Parts<'_>) -> String {
    if method % METHODS < OF_RESOURCES {
        call_resource(server, method, parts).await
    } else {
        call_other(server, method, parts).await
    }
}

/// Calls a method with these fields. All other fields have their defaults.
macro_rules! asked {
    ($server:ident, $method:ident { $($field:ident : $value:expr),* $(,)? }) => {{
        let mut request = $method::Request::default();
        $(request.$field = $value;)*
        $server.$method(Request::new(request)).await
    }};
}

/// Calls a method of the provider, of resources or of data sources.
async fn call_resource(server: &Server<Everything>, method: u8, parts: &Parts<'_>) -> String {
    let type_name = NAME.to_owned();
    let version = i64::from(method / METHODS);
    macro_rules! call {
        ($($asked:tt)*) => { format!("{:?}", asked!(server, $($asked)*)) };
    }
    match method % METHODS {
        0 => call!(validate_provider_config { config: parts.value(0) }),
        1 => call!(validate_resource_config { type_name: type_name, config: parts.value(0) }),
        2 => call!(validate_data_resource_config { type_name: type_name, config: parts.value(0) }),
        3 => call!(read_data_source { type_name: type_name, config: parts.value(0) }),
        4 => call!(upgrade_resource_state {
            type_name: type_name,
            version: version,
            raw_state: parts.raw(0),
        }),
        5 => call!(upgrade_resource_identity {
            type_name: type_name,
            version: version,
            raw_identity: parts.raw(0),
        }),
        6 => call!(read_resource {
            type_name: type_name,
            current_state: parts.value(0),
            current_identity: parts.identity(1),
            private: parts.bytes(2),
        }),
        7 | 8 => call!(plan_resource_change {
            type_name: type_name,
            prior_state: parts.value(0),
            proposed_new_state: parts.value(1),
            config: parts.value(2),
            prior_private: parts.bytes(1),
        }),
        9 => call!(plan_resource_change {
            type_name: type_name,
            prior_state: Some(DynamicValue::default()),
            proposed_new_state: parts.value(1),
            config: parts.value(2),
        }),
        10 => call!(apply_resource_change {
            type_name: type_name,
            prior_state: parts.value(0),
            planned_state: parts.value(1),
            config: parts.value(2),
            planned_private: parts.bytes(1),
        }),
        11 => call!(import_resource_state {
            type_name: type_name,
            id: parts.text(0),
            identity: Some(ResourceIdentityData { identity_data: parts.value(1) }),
        }),
        _ => call!(move_resource_state {
            target_type_name: type_name,
            source_type_name: parts.text(1),
            source_state: parts.raw(0),
            source_private: parts.bytes(2),
        }),
    }
}

/// Calls any other method.
async fn call_other(server: &Server<Everything>, method: u8, parts: &Parts<'_>) -> String {
    let (type_name, config) = (NAME.to_owned(), parts.value(0));
    macro_rules! call {
        ($($asked:tt)*) => { format!("{:?}", asked!(server, $($asked)*)) };
    }
    match method % METHODS - OF_RESOURCES {
        0 => call!(validate_ephemeral_resource_config { type_name: type_name, config: config }),
        1 => call!(open_ephemeral_resource { type_name: type_name, config: config }),
        2 => {
            call!(renew_ephemeral_resource { type_name: type_name, private: Some(parts.bytes(0)) })
        }
        3 => {
            call!(close_ephemeral_resource { type_name: type_name, private: Some(parts.bytes(0)) })
        }
        4 => call!(validate_list_resource_config { type_name: type_name, config: config }),
        5 => {
            let limit = i64::from(method / METHODS);
            let asked = asked!(
                server,
                list_resource { type_name: type_name, config: config, limit: limit }
            );
            streamed(asked).await
        }
        6 => call!(validate_action_config { action_type: type_name, config: config }),
        7 => call!(plan_action { action_type: type_name, config: config }),
        8 => {
            streamed(asked!(server, invoke_action { action_type: type_name, config: config })).await
        }
        _ => {
            let arguments = (0..3).filter_map(|at| parts.value(at)).collect();
            call!(call_function { name: type_name, arguments: arguments })
        }
    }
}

/// Returns all formatted messages of a stream.
async fn streamed<T: std::fmt::Debug>(result: Result<Response<BoxStream<T>>, Status>) -> String {
    match result {
        Ok(stream) => format!("{:?}", stream.into_inner().collect::<Vec<_>>().await),
        Err(status) => format!("{status:?}"),
    }
}

/// Number of methods of the provider, resources and data sources.
const OF_RESOURCES: u8 = 13;
/// Number of all methods.
const METHODS: u8 = OF_RESOURCES + 10;

#[cfg(test)]
mod tests;
