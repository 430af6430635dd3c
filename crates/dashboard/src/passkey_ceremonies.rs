//! The ceremonies of `WebAuthn`: challenges that were sent and not yet answered, and the verification of
//! what authenticators answer. Challenges are in memory, because each is valid for five minutes.
//! Format: <https://www.w3.org/TR/webauthn-3/>

use std::borrow::Cow;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use url::{Host, Url};
use webauthn_rp::bin::{Decode as _, Encode as _};
use webauthn_rp::request::auth::AuthenticationVerificationOptions;
use webauthn_rp::request::register::{
    CredProtect, Nickname, PublicKeyCredentialUserEntity, RegistrationVerificationOptions,
    UserHandle as AnyUserHandle, UserHandle16, Username,
};
use webauthn_rp::request::{
    AsciiDomain, DomainOrigin, FixedCapHashSet, InsertResult, Port, PublicKeyCredentialDescriptor,
    RpId, Scheme,
};
use webauthn_rp::response::auth::DiscoverableAuthentication;
use webauthn_rp::response::register::{CompressedPubKey, DynamicState, StaticState};
use webauthn_rp::response::{AuthTransports, CredentialId};
use webauthn_rp::{
    AuthenticatedCredential, DiscoverableAuthenticationServerState,
    DiscoverableCredentialRequestOptions, PublicKeyCredentialCreationOptions, Registration,
    RegistrationServerState,
};

/// Length of a user handle in bytes.
pub(crate) const HANDLE_BYTES: usize = 16;
/// Open challenges of each kind. The set may round it up to less than twice as many, of about 50 bytes
/// each.
const OPEN_MAX: usize = 4_096;

/// Identifier of a user for authenticators. It says nothing about the person.
pub(crate) type Handle = [u8; HANDLE_BYTES];

/// Public key of a passkey, of any algorithm.
type PublicKey = CompressedPubKey<[u8; 32], [u8; 32], [u8; 48], Vec<u8>>;

/// Reason that a ceremony failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CeremonyError {
    /// The server's address is an IP address, or is not encrypted.
    #[error("passkeys need a server with a domain name and TLS")]
    Unavailable,
    #[error("too many people are signing in; try again in a moment")]
    Busy,
    #[error("the answer of the browser could not be read")]
    Malformed,
    /// The challenge was answered before, is too old, or is not from this server.
    #[error("this took too long or was done before; try again")]
    UnknownChallenge,
    /// The answer was not accepted, with the reason for the log.
    #[error("the passkey was not accepted")]
    Refused(String),
}

/// Credential of a new passkey.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Credential {
    pub(crate) id: Vec<u8>,
    pub(crate) public_key: Vec<u8>,
    pub(crate) state: Vec<u8>,
}

/// Answer to the challenge of a sign-in, not verified yet.
pub(crate) struct Assertion(DiscoverableAuthentication<HANDLE_BYTES>);

/// Address of this server for authenticators.
struct RelyingParty {
    id: RpId,
    host: String,
    is_secure: bool,
    port: Option<u16>,
}

/// Open ceremonies of this server.
pub(crate) struct PasskeyCeremonies {
    relying_party: Option<RelyingParty>,
    registrations: Mutex<FixedCapHashSet<RegistrationServerState<HANDLE_BYTES>>>,
    sign_ins: Mutex<FixedCapHashSet<DiscoverableAuthenticationServerState>>,
}

impl PasskeyCeremonies {
    /// Creates the ceremonies of the server with this URL.
    pub(crate) fn new(origin: &str) -> Self {
        Self {
            relying_party: RelyingParty::parse(origin),
            registrations: Mutex::new(FixedCapHashSet::new(OPEN_MAX)),
            sign_ins: Mutex::new(FixedCapHashSet::new(OPEN_MAX)),
        }
    }

    /// Returns whether browsers allow passkeys for this server.
    pub(crate) const fn is_available(&self) -> bool {
        self.relying_party.is_some()
    }

    /// Returns the options of a new passkey, as JSON for the browser. `existing` has the credentials
    /// that the person has already.
    pub(crate) fn start_registration(
        &self,
        handle: &Handle,
        email: &str,
        existing: Vec<Vec<u8>>,
    ) -> Result<String, CeremonyError> {
        let relying_party = self.relying_party()?;
        let handle = user_handle(*handle)?;
        let name = printable(email);
        let user = PublicKeyCredentialUserEntity {
            name: Username::try_from(Cow::Borrowed(name.as_str()))
                .map_err(|_| CeremonyError::Malformed)?,
            id: &handle,
            display_name: Nickname::try_from(Cow::Borrowed(name.as_str())).ok(),
        };
        let existing = existing.into_iter().filter_map(|id| {
            let id = CredentialId::<Vec<u8>>::decode(id).ok()?;
            // 0 is the set without transports.
            let transports = AuthTransports::decode(0).ok()?;
            Some(PublicKeyCredentialDescriptor { id, transports })
        });
        let mut options = PublicKeyCredentialCreationOptions::passkey(
            &relying_party.id,
            user,
            existing.collect(),
        );
        // Not every authenticator knows this extension. The server requires verified users anyway.
        options.extensions.cred_protect = CredProtect::None;
        let (server, client) =
            options.start_ceremony().map_err(|error| CeremonyError::Refused(error.to_string()))?;
        let client = to_json(&client)?;
        let mut open = self.registrations.lock().unwrap_or_else(PoisonError::into_inner);
        match open.insert_or_replace_all_expired(server) {
            InsertResult::Success => Ok(client),
            InsertResult::CapacityFull | InsertResult::Duplicate => Err(CeremonyError::Busy),
        }
    }

    /// Verifies the answer of the browser to the options of this user.
    pub(crate) fn finish_registration(
        &self,
        handle: &Handle,
        answer: &str,
    ) -> Result<Credential, CeremonyError> {
        let relying_party = self.relying_party()?;
        let answer = Registration::from_json_relaxed(answer.as_bytes())
            .map_err(|_| CeremonyError::Malformed)?;
        let challenge = answer.challenge_relaxed().map_err(|_| CeremonyError::Malformed)?;
        let mut open = self.registrations.lock().unwrap_or_else(PoisonError::into_inner);
        let server = open.take(&challenge).ok_or(CeremonyError::UnknownChallenge)?;
        drop(open);
        let origins = [relying_party.origin()];
        let options = RegistrationVerificationOptions::<DomainOrigin<'_, '_>, DomainOrigin<'_, '_>> {
            allowed_origins: &origins,
            error_on_unsolicited_extensions: false,
            ..RegistrationVerificationOptions::default()
        };
        let registered = server
            .verify(&relying_party.id, &answer, &options)
            .map_err(|error| CeremonyError::Refused(error.to_string()))?;
        if registered.user_id().as_ref() != handle {
            return Err(CeremonyError::Refused("it is for another account".to_owned()));
        }
        let Ok(public_key) = registered.static_state().encode();
        let Ok(state) = registered.dynamic_state().encode();
        Ok(Credential { id: registered.id().as_ref().to_vec(), public_key, state: state.to_vec() })
    }

    /// Returns the options of a sign-in, as JSON for the browser.
    pub(crate) fn start_sign_in(&self) -> Result<String, CeremonyError> {
        let relying_party = self.relying_party()?;
        let options = DiscoverableCredentialRequestOptions::passkey(&relying_party.id);
        let (server, client) =
            options.start_ceremony().map_err(|error| CeremonyError::Refused(error.to_string()))?;
        let client = to_json(&client)?;
        let mut open = self.sign_ins.lock().unwrap_or_else(PoisonError::into_inner);
        match open.insert_or_replace_all_expired(server) {
            InsertResult::Success => Ok(client),
            InsertResult::CapacityFull | InsertResult::Duplicate => Err(CeremonyError::Busy),
        }
    }

    /// Verifies an answer with the passkey of its credential, and returns the passkey's new state. An
    /// answer is accepted once.
    pub(crate) fn finish_sign_in(
        &self,
        Assertion(answer): &Assertion,
        credential: &Credential,
        handle: &Handle,
    ) -> Result<Vec<u8>, CeremonyError> {
        let relying_party = self.relying_party()?;
        let challenge = answer.challenge_relaxed().map_err(|_| CeremonyError::Malformed)?;
        let mut open = self.sign_ins.lock().unwrap_or_else(PoisonError::into_inner);
        let server = open.take(&challenge).ok_or(CeremonyError::UnknownChallenge)?;
        drop(open);
        let handle = user_handle(*handle)?;
        let stored = |why: &dyn fmt::Display| CeremonyError::Refused(format!("stored: {why}"));
        let public_key: StaticState<PublicKey> =
            StaticState::decode(&credential.public_key).map_err(|error| stored(&error))?;
        let state: [u8; 7] =
            credential.state.as_slice().try_into().map_err(|error| stored(&error))?;
        let state = DynamicState::decode(state).map_err(|error| stored(&error))?;
        let id = CredentialId::<&[u8]>::decode(&credential.id).map_err(|error| stored(&error))?;
        let mut known = AuthenticatedCredential::new(id, &handle, public_key, state)
            .map_err(|error| stored(&error))?;
        let origins = [relying_party.origin()];
        let options =
            AuthenticationVerificationOptions::<DomainOrigin<'_, '_>, DomainOrigin<'_, '_>> {
                allowed_origins: &origins,
                error_on_unsolicited_extensions: false,
                ..AuthenticationVerificationOptions::default()
            };
        server
            .verify(&relying_party.id, answer, &mut known, &options)
            .map_err(|error| CeremonyError::Refused(error.to_string()))?;
        let Ok(state) = known.dynamic_state().encode();
        Ok(state.to_vec())
    }

    fn relying_party(&self) -> Result<&RelyingParty, CeremonyError> {
        self.relying_party.as_ref().ok_or(CeremonyError::Unavailable)
    }
}

impl Assertion {
    /// Parses the answer of a browser.
    pub(crate) fn parse(answer: &str) -> Result<Self, CeremonyError> {
        DiscoverableAuthentication::from_json_relaxed(answer.as_bytes())
            .map(Self)
            .map_err(|_| CeremonyError::Malformed)
    }

    /// Returns the ID of the credential that the person chose.
    pub(crate) fn credential_id(&self) -> Vec<u8> {
        self.0.raw_id().as_ref().to_vec()
    }
}

impl RelyingParty {
    /// Browsers allow passkeys for domain names with TLS, and for this machine.
    fn parse(origin: &str) -> Option<Self> {
        let url = Url::parse(origin).ok()?;
        let Some(Host::Domain(host)) = url.host() else { return None };
        let is_secure = url.scheme() == "https";
        let is_local = host == "localhost" || host.ends_with(".localhost");
        if !is_secure && !is_local {
            return None;
        }
        let id = RpId::Domain(AsciiDomain::try_from(host.to_owned()).ok()?);
        Some(Self { id, host: host.to_owned(), is_secure, port: url.port() })
    }

    fn origin(&self) -> DomainOrigin<'_, '_> {
        DomainOrigin {
            scheme: if self.is_secure { Scheme::Https } else { Scheme::Other("http") },
            host: &self.host,
            port: self.port.map_or(Port::None, Port::Val),
        }
    }
}

impl fmt::Debug for PasskeyCeremonies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PasskeyCeremonies").finish_non_exhaustive()
    }
}

fn user_handle(bytes: Handle) -> Result<UserHandle16, CeremonyError> {
    AnyUserHandle::decode(bytes).map_err(|_| CeremonyError::Malformed)
}

/// Returns a name that the library accepts: at most 64 bytes of printable ASCII.
fn printable(name: &str) -> String {
    let name: String = name.chars().filter(char::is_ascii_graphic).take(64).collect();
    if name.is_empty() { "account".to_owned() } else { name }
}

fn to_json(options: &impl Serialize) -> Result<String, CeremonyError> {
    serde_json::to_string(options).map_err(|error| CeremonyError::Refused(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passkeys_need_a_domain_and_encryption() {
        for (origin, expected) in [
            ("https://aloft.example.com", true),
            ("https://aloft.example.com:8443", true),
            ("http://localhost:8080", true),
            ("http://aloft.example.com", false),
            ("https://192.0.2.1", false),
            ("http://127.0.0.1:8080", false),
            ("http://[::1]:8080", false),
        ] {
            assert_eq!(PasskeyCeremonies::new(origin).is_available(), expected, "{origin}");
        }
    }

    #[test]
    fn options_name_server_and_account() {
        let ceremonies = PasskeyCeremonies::new("http://localhost:8080");
        let options = ceremonies.start_registration(&[1; 16], "ada@example.com", Vec::new());
        let options = options.unwrap();
        assert!(options.contains("\"id\":\"localhost\""), "{options}");
        assert!(options.contains("ada@example.com"), "{options}");
        assert!(options.contains("\"userVerification\":\"required\""), "{options}");
        let options = ceremonies.start_sign_in().unwrap();
        assert!(options.contains("\"rpId\":\"localhost\""), "{options}");
    }

    #[test]
    fn open_challenges_are_bounded() {
        let ceremonies = PasskeyCeremonies::new("http://localhost:8080");
        let started = (0..3 * OPEN_MAX).filter(|_| ceremonies.start_sign_in().is_ok()).count();
        assert!((OPEN_MAX..2 * OPEN_MAX).contains(&started), "{started}");
    }

    #[test]
    fn unreadable_answers_are_refused() {
        let ceremonies = PasskeyCeremonies::new("http://localhost:8080");
        for answer in ["", "{}", "[]", "{\"id\":\"a\"}"] {
            assert!(matches!(Assertion::parse(answer), Err(CeremonyError::Malformed)), "{answer}");
            let registered = ceremonies.finish_registration(&[1; 16], answer);
            assert!(matches!(registered, Err(CeremonyError::Malformed)), "{answer}");
        }
    }
}
