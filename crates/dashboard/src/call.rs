//! Calls the services of the contract as a member, with messages or with the JSON of forms.

use contract::rpc::{Error, Message, MethodRequest};
use serde_json::Value as Json;

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
        let call = MemberCall { member, method: Q::PATH, codec: Codec::Protobuf, request };
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
        let request = request.to_string().into();
        let call = MemberCall { member, method, codec: Codec::Json, request };
        let response = self.backend.call(call).await?;
        serde_json::from_slice(&response).map_err(|error| undecodable(&error))
    }
}

fn undecodable(error: &dyn std::error::Error) -> Error {
    Error::internal(format!("failed to decode the response: {error}"))
}
