//! Single sign-on with an `OpenID` provider (`OpenID` Connect Core 1.0): discovery, the request with PKCE,
//! state and nonce, and the verification of the answer. `sign_in::provider` has the routes.

mod settings;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use openidconnect::core::{
    CoreAuthDisplay, CoreAuthPrompt, CoreAuthenticationFlow, CoreErrorResponseType,
    CoreGenderClaim, CoreJsonWebKey, CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm,
    CoreProviderMetadata, CoreRevocableToken, CoreRevocationErrorResponse,
    CoreTokenIntrospectionResponse, CoreTokenType,
};
use openidconnect::{
    AdditionalClaims, AuthorizationCode, ClaimsVerificationError, Client as OpenIdClient, ClientId,
    ClientSecret, CsrfToken, EmptyExtraTokenFields, EndpointMaybeSet, EndpointNotSet, EndpointSet,
    HttpRequest, HttpResponse, IdTokenFields, IdTokenVerifier, IssuerUrl, LocalizedClaim, Nonce,
    OAuth2TokenResponse as _, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, Scope,
    SignatureVerificationError, StandardErrorResponse, StandardTokenResponse, TokenResponse as _,
    UserInfoClaims,
};
use rules::{Secret, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use tokio::sync::Mutex;

pub use self::settings::{GroupRole, SingleSignOnSettings};

use crate::backend::Backend;

/// Path that the provider leads back to.
pub(crate) const CALLBACK: &str = "/login/provider/callback";
/// Time for which the provider's metadata and keys are kept.
const METADATA_LIFETIME: Duration = Duration::from_mins(5);
/// Age of the keys at which an unknown one is looked for at the provider.
const NEW_KEYS_AFTER: Duration = Duration::from_secs(10);
/// Signatures that are accepted: no shared secrets, and never none.
const ALGORITHMS: [CoreJwsSigningAlgorithm; 9] = [
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha384,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha512,
    CoreJwsSigningAlgorithm::RsaSsaPssSha256,
    CoreJwsSigningAlgorithm::RsaSsaPssSha384,
    CoreJwsSigningAlgorithm::RsaSsaPssSha512,
    CoreJwsSigningAlgorithm::EcdsaP256Sha256,
    CoreJwsSigningAlgorithm::EcdsaP384Sha384,
    CoreJwsSigningAlgorithm::EdDsa,
];

type Fields = IdTokenFields<
    OtherClaims,
    EmptyExtraTokenFields,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJwsSigningAlgorithm,
>;
/// Client of a provider whose metadata is known.
type ProviderClient = OpenIdClient<
    OtherClaims,
    CoreAuthDisplay,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJsonWebKey,
    CoreAuthPrompt,
    StandardErrorResponse<CoreErrorResponseType>,
    StandardTokenResponse<Fields, CoreTokenType>,
    CoreTokenIntrospectionResponse,
    CoreRevocableToken,
    CoreRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

/// A person as the provider describes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProviderPerson {
    pub(crate) subject: String,
    /// Verified address.
    pub(crate) email: String,
    pub(crate) name: Option<String>,
    pub(crate) groups: Vec<String>,
}

/// Secrets of one sign-in. They derive from the server's key, so nothing of them is stored.
#[derive(Clone, Debug)]
pub(crate) struct SignInSecrets {
    pub(crate) state: String,
    pub(crate) nonce: String,
    pub(crate) verifier: Secret<String>,
}

/// Reason that single sign-on failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SingleSignOnError {
    /// The provider cannot be reached, or answers nonsense. The reason is for the log.
    #[error("the provider of single sign-on does not answer; try again in a moment")]
    Provider(String),
    /// The answer was not accepted. The reason is for the log.
    #[error("the answer of the provider was not accepted; try again")]
    Refused(String),
    #[error("the provider did not verify your email address")]
    Unverified,
    #[error("addresses at `{0}` may not sign in here")]
    Domain(String),
}

/// The configured provider, with its metadata once it is known.
#[derive(Debug)]
pub(crate) struct SingleSignOn {
    settings: SingleSignOnSettings,
    redirect_url: String,
    metadata: Mutex<Option<(Timestamp, CoreProviderMetadata)>>,
}

/// Claims beyond the standard ones.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
struct OtherClaims {
    #[serde(flatten)]
    all: HashMap<String, Json>,
}

impl AdditionalClaims for OtherClaims {}

/// Failure of a request to the provider.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct FetchError(String);

impl SingleSignOn {
    /// Creates the provider for the server with this URL.
    pub(crate) fn new(settings: SingleSignOnSettings, origin: &str) -> Self {
        let redirect_url = format!("{origin}{CALLBACK}");
        Self { settings, redirect_url, metadata: Mutex::default() }
    }

    pub(crate) fn name(&self) -> &str {
        &self.settings.name
    }

    pub(crate) const fn settings(&self) -> &SingleSignOnSettings {
        &self.settings
    }

    /// Returns the URL at the provider that begins a sign-in.
    pub(crate) async fn begin(
        &self,
        backend: &Arc<dyn Backend>,
        secrets: &SignInSecrets,
        now: Timestamp,
    ) -> Result<String, SingleSignOnError> {
        let client = self.client(backend, now).await?;
        let verifier = PkceCodeVerifier::new(secrets.verifier.expose().clone());
        let (state, nonce) = (secrets.state.clone(), secrets.nonce.clone());
        let (url, _, _) = client
            .authorize_url(
                CoreAuthenticationFlow::AuthorizationCode,
                || CsrfToken::new(state),
                || Nonce::new(nonce),
            )
            .add_scope(Scope::new("email".to_owned()))
            .add_scope(Scope::new("profile".to_owned()))
            .set_pkce_challenge(PkceCodeChallenge::from_code_verifier_sha256(&verifier))
            .url();
        Ok(url.into())
    }

    /// Exchanges the code of an answer for the provider's token, verifies it, and returns the person.
    pub(crate) async fn complete(
        &self,
        backend: &Arc<dyn Backend>,
        (code, secrets): (String, SignInSecrets),
        now: Timestamp,
    ) -> Result<ProviderPerson, SingleSignOnError> {
        let client = self.client(backend, now).await?;
        let fetch = fetcher(backend);
        let refused = |why: &dyn std::fmt::Display| SingleSignOnError::Refused(why.to_string());
        let pkce = PkceCodeVerifier::new(secrets.verifier.expose().clone());
        let tokens = client
            .exchange_code(AuthorizationCode::new(code))
            .map_err(|error| SingleSignOnError::Provider(error.to_string()))?
            .set_pkce_verifier(pkce)
            .request_async(&fetch)
            .await
            .map_err(|error| refused(&format!("{error:?}")))?;
        let token = tokens.id_token().ok_or_else(|| refused(&"the answer has no ID token"))?;
        let nonce = Nonce::new(secrets.nonce);
        let mut verified = token.claims(&verifier(&client, now), &nonce);
        if let Err(ClaimsVerificationError::SignatureVerification(
            SignatureVerificationError::NoMatchingKey,
        )) = verified
        {
            // The provider may have new keys.
            let metadata = self.metadata(backend, now, NEW_KEYS_AFTER).await?;
            let client = self.client_with(metadata)?;
            verified = token.claims(&verifier(&client, now), &nonce);
        }
        let claims = verified.map_err(|error| refused(&error))?;
        let mut email = claims.email().map(|it| it.as_str().to_owned());
        let mut verified = claims.email_verified();
        let mut name = claims.name().and_then(first);
        let mut groups = self.groups(&claims.additional_claims().all);
        let lacks_groups = groups.is_empty() && !self.settings.roles.is_empty();
        if email.is_none() || lacks_groups {
            // Many providers keep these out of the token.
            let subject = claims.subject().clone();
            let asked = client.user_info(tokens.access_token().clone(), Some(subject));
            let info: UserInfoClaims<OtherClaims, CoreGenderClaim> = asked
                .map_err(|error| refused(&error))?
                .request_async(&fetch)
                .await
                .map_err(|error| refused(&format!("{error:?}")))?;
            if email.is_none() {
                email = info.email().map(|it| it.as_str().to_owned());
                verified = info.email_verified();
            }
            name = name.or_else(|| info.name().and_then(first));
            groups.extend(self.groups(&info.additional_claims().all));
        }
        let email =
            email.filter(|_| verified == Some(true)).ok_or(SingleSignOnError::Unverified)?;
        if !self.settings.allows(&email) {
            let domain = email.rsplit('@').next().unwrap_or_default();
            return Err(SingleSignOnError::Domain(domain.to_owned()));
        }
        Ok(ProviderPerson { subject: claims.subject().to_string(), email, name, groups })
    }

    fn groups(&self, claims: &HashMap<String, Json>) -> Vec<String> {
        match claims.get(&self.settings.groups_claim) {
            Some(Json::Array(groups)) => {
                groups.iter().filter_map(Json::as_str).map(str::to_owned).collect()
            }
            Some(Json::String(group)) => vec![group.clone()],
            Some(Json::Null | Json::Bool(_) | Json::Number(_) | Json::Object(_)) | None => {
                Vec::new()
            }
        }
    }

    async fn client(
        &self,
        backend: &Arc<dyn Backend>,
        now: Timestamp,
    ) -> Result<ProviderClient, SingleSignOnError> {
        self.client_with(self.metadata(backend, now, METADATA_LIFETIME).await?)
    }

    fn client_with(
        &self,
        metadata: CoreProviderMetadata,
    ) -> Result<ProviderClient, SingleSignOnError> {
        let settings = &self.settings;
        let secret = ClientSecret::new(settings.client_secret.expose().clone());
        let redirect = RedirectUrl::new(self.redirect_url.clone())
            .map_err(|error| SingleSignOnError::Provider(error.to_string()))?;
        let id = ClientId::new(settings.client_id.clone());
        Ok(OpenIdClient::from_provider_metadata(metadata, id, Some(secret))
            .set_redirect_uri(redirect))
    }

    /// Returns the provider's metadata and keys, not older than `lifetime`. One request at a time fetches
    /// them.
    async fn metadata(
        &self,
        backend: &Arc<dyn Backend>,
        now: Timestamp,
        lifetime: Duration,
    ) -> Result<CoreProviderMetadata, SingleSignOnError> {
        let mut known = self.metadata.lock().await;
        if let Some((since, metadata)) = &*known
            && now.since(*since) < lifetime
        {
            return Ok(metadata.clone());
        }
        let failed = |why: String| SingleSignOnError::Provider(why);
        let issuer = IssuerUrl::new(self.settings.issuer.clone());
        let issuer = issuer.map_err(|error| failed(error.to_string()))?;
        let metadata = CoreProviderMetadata::discover_async(issuer, &fetcher(backend)).await;
        let metadata = metadata.map_err(|error| failed(format!("{error:?}")))?;
        *known = Some((now, metadata.clone()));
        Ok(metadata)
    }
}

impl SingleSignOnError {
    /// Returns the reason for the log and the audit log.
    pub(crate) fn reason(&self) -> Cow<'_, str> {
        match self {
            Self::Provider(why) | Self::Refused(why) => Cow::Borrowed(why),
            Self::Unverified | Self::Domain(_) => Cow::Owned(self.to_string()),
        }
    }
}

/// Returns the function with which the library sends its requests: through the server's own client.
fn fetcher(
    backend: &Arc<dyn Backend>,
) -> impl Fn(
    HttpRequest,
) -> std::pin::Pin<Box<dyn Future<Output = Result<HttpResponse, FetchError>> + Send>>
+ Send
+ Sync
+ 'static {
    let backend = Arc::clone(backend);
    move |request| {
        let (parts, body) = request.into_parts();
        let fetched = backend.fetch(http::Request::from_parts(parts, Bytes::from(body)));
        Box::pin(async move {
            let (parts, body) = fetched.await.map_err(FetchError)?.into_parts();
            Ok(http::Response::from_parts(parts, body.to_vec()))
        })
    }
}

/// Returns the rules by which a token is verified.
fn verifier(client: &ProviderClient, now: Timestamp) -> IdTokenVerifier<'_, CoreJsonWebKey> {
    let rules = client.id_token_verifier().set_allowed_algs(ALGORITHMS);
    rules.set_time_fn(move || to_chrono(now))
}

fn first(name: &LocalizedClaim<openidconnect::EndUserName>) -> Option<String> {
    name.iter().next().map(|(_, name)| name.as_str().to_owned())
}

fn to_chrono(now: Timestamp) -> chrono::DateTime<chrono::Utc> {
    chrono::DateTime::from_timestamp_millis(now.as_millis()).unwrap_or_default()
}
