//! `api_key.v1.ApiKeyService`: lists and revokes keys. A key never creates a key, so the service
//! cannot either.

use contract::api_key::wire::{
    ApiKey as WireKey, ApiKeyService, ListApiKeysRequest, ListApiKeysResponse, RevokeApiKeyRequest,
    RevokeApiKeyResponse,
};
use contract::monitor::encode_instant;
use contract::rpc::{self, RequestContext, Response, ServiceResult};
use rules::{KeyId, Role};
use store::{KeyDetails, Revoked};

use super::list::{PageRequest, encode_total};
use super::request::{caller, change, id, require_role};
use crate::actor;
use crate::auth::key;
use crate::rpc::{Services, rpc_error};

/// Noun of this resource in error messages.
const NOUN: &str = "key";

/// Implementation of the service.
#[derive(Clone, Debug)]
pub(super) struct ApiKeys(pub(super) Services);

impl ApiKeyService for ApiKeys {
    async fn list_api_keys(
        &self,
        context: RequestContext,
        request: ListApiKeysRequest,
    ) -> ServiceResult<ListApiKeysResponse> {
        let caller = caller(&context);
        let page_token = request.page_token.as_deref();
        let page = PageRequest { limit: request.limit, offset: request.offset, page_token }
            .parse()
            .map_err(|violations| rpc::invalid(&violations))?;
        let found = self.0.store.keys().details(caller.workspace, page.with_one_more()).await;
        let found = found.map_err(rpc_error)?;
        let (api_keys, next_page_token) =
            page.cut(&found, |details| details.key.id, encode, rpc::encoded_bytes);
        let total_size = encode_total(found.total);
        Response::ok(ListApiKeysResponse { api_keys, total_size, next_page_token })
    }

    async fn revoke_api_key(
        &self,
        context: RequestContext,
        request: RevokeApiKeyRequest,
    ) -> ServiceResult<RevokeApiKeyResponse> {
        let caller = caller(&context);
        require_role(caller, Role::Admin)?;
        let id: KeyId = id(NOUN, &request.id)?;
        let change = change(&self.0, caller);
        let revoked = self.0.store.keys().revoke(caller.workspace, id, change).await;
        if revoked.map_err(rpc_error)? == Revoked::Now {
            self.0.auth.evict(id);
        }
        Response::ok(RevokeApiKeyResponse::default())
    }
}

fn encode(details: &KeyDetails) -> WireKey {
    let key = &details.key;
    WireKey {
        id: key.id.to_string(),
        name: key.name.clone(),
        prefix: key::prefix(key.id),
        scope: key.scope.map(|scope| scope.to_string()),
        created_at: encode_instant(key.created_at),
        created_by: details.created_by.clone().map(actor::encode).unwrap_or_default(),
        created_by_name: details.created_by_name.clone().unwrap_or_default(),
        expires_at: key.expires_at.map(encode_instant).unwrap_or_default(),
        last_used_at: key.last_used_at.map(encode_instant).unwrap_or_default(),
        last_used_from: details.last_used_from.clone().unwrap_or_default(),
        revoked_at: key.revoked_at.map(encode_instant).unwrap_or_default(),
    }
}
