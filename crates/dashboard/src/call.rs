//! Calls the services of the contract as a member, with messages or with the JSON of forms.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use contract::rpc::{Error, Message, MethodRequest};
use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};

use crate::backend::{CallingMember, Codec, MemberCall};
use crate::state::Dashboard;

impl Dashboard {
    /// Calls the method of this request as a member.
    pub(crate) async fn send<Q: MethodRequest>(
        &self,
        member: CallingMember,
        request: Q,
    ) -> Result<Q::Response, Error> {
        let request = request.encode_to_bytes();
        let codec = Codec::Protobuf;
        let call = MemberCall { member, method: Q::PATH, codec, request, idempotency_key: None };
        let response = self.backend.call(call).await?;
        Q::Response::decode_from_slice(&response).map_err(|error| undecodable(&error))
    }

    /// Calls a method with JSON, as forms produce it.
    pub(crate) async fn send_json(
        &self,
        member: CallingMember,
        method: &'static str,
        request: &Json,
    ) -> Result<Json, Error> {
        self.send_text(member, method, request.to_string(), None).await
    }

    /// Calls a method that creates something. If the same request of the same form is repeated, it creates
    /// nothing more. `form` is random and in the form; an empty one identifies no form.
    pub(crate) async fn create_once(
        &self,
        member: CallingMember,
        method: &'static str,
        request: &Json,
        form: &str,
    ) -> Result<Json, Error> {
        let request = request.to_string();
        let key = (!form.is_empty()).then(|| {
            let digest = Sha256::digest(format!("{form} {method} {request}"));
            URL_SAFE_NO_PAD.encode(digest)
        });
        self.send_text(member, method, request, key).await
    }

    async fn send_text(
        &self,
        member: CallingMember,
        method: &'static str,
        request: String,
        idempotency_key: Option<String>,
    ) -> Result<Json, Error> {
        let (request, codec) = (request.into(), Codec::Json);
        let call = MemberCall { member, method, codec, request, idempotency_key };
        let response = self.backend.call(call).await?;
        serde_json::from_slice(&response).map_err(|error| undecodable(&error))
    }
}

fn undecodable(error: &dyn std::error::Error) -> Error {
    Error::internal(format!("failed to decode the response: {error}"))
}
