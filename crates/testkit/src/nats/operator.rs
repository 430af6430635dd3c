//! Signed users of NATS, as `nsc` creates them: an operator signs accounts, and an account signs users. The
//! claims are those of version 2: <https://docs.nats.io/running-a-nats-service/configuration/securing_nats/jwt>

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use nkeys::KeyPair;
use serde_json::{Value, json};

use super::ProbeUser;

/// Time of all signatures: 2023.
const SIGNED_AT: i64 = 1_700_000_000;

/// An operator of NATS with an account for Aloft and one for the system.
#[derive(Debug)]
pub struct NatsOperator {
    operator: KeyPair,
    account: KeyPair,
    system: KeyPair,
}

/// Validity of a signed user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserExpiry {
    Never,
    /// A minute after it was signed, in 2023.
    Past,
}

impl Default for NatsOperator {
    fn default() -> Self {
        Self {
            operator: KeyPair::new_operator(),
            account: KeyPair::new_account(),
            system: KeyPair::new_account(),
        }
    }
}

impl NatsOperator {
    /// Returns the lines of a configuration whose users are those of this operator.
    pub fn configuration(&self) -> String {
        let [account, system] = [&self.account, &self.system].map(KeyPair::public_key);
        let claims = json!({ "type": "operator", "version": 2, "system_account": system });
        let operator = signed(&self.operator, &self.operator, &claims, UserExpiry::Never);
        let accounts = [&self.account, &self.system].map(|it| self.account_claims(it));
        format!(
            "operator: \"{operator}\"\nsystem_account: \"{system}\"\nresolver: MEMORY\n\
             resolver_preload: {{\n{account}: \"{}\"\n{system}: \"{}\"\n}}",
            accounts[0], accounts[1]
        )
    }

    /// Returns the credentials file of a user with all rights.
    pub fn server_credentials(&self) -> String {
        self.credentials(&json!({}), &json!({}), UserExpiry::Never)
    }

    /// Returns the credentials file of a user with the rights of a probe.
    pub fn probe_credentials(&self, user: &ProbeUser<'_>, expiry: UserExpiry) -> String {
        let publish = json!({ "allow": user.publish() });
        let subscribe = json!({ "allow": user.subscribe() });
        self.credentials(&publish, &subscribe, expiry)
    }

    fn account_claims(&self, account: &KeyPair) -> String {
        let mut limits = json!({
            "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true,
            "conn": -1, "leaf": -1,
        });
        // JetStream is not allowed in the account of the system.
        if account.public_key() == self.account.public_key() {
            for unlimited in ["mem_storage", "disk_storage", "streams", "consumer"] {
                limits[unlimited] = json!(-1);
            }
        }
        let rights = json!({ "pub": {}, "sub": {} });
        let claims = json!({
            "type": "account", "version": 2, "limits": limits, "default_permissions": rights,
        });
        signed(&self.operator, account, &claims, UserExpiry::Never)
    }

    fn credentials(&self, publish: &Value, subscribe: &Value, expiry: UserExpiry) -> String {
        let user = KeyPair::new_user();
        let claims = json!({
            "type": "user", "version": 2, "pub": publish, "sub": subscribe,
            "subs": -1, "data": -1, "payload": -1,
        });
        let token = signed(&self.account, &user, &claims, expiry);
        let seed = user.seed().expect("a new key has a seed");
        format!(
            "-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n\n\
             -----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
        )
    }
}

/// Returns claims about a subject, signed by its issuer.
fn signed(issuer: &KeyPair, subject: &KeyPair, claims: &Value, expiry: UserExpiry) -> String {
    let mut body = json!({
        "jti": subject.public_key(), "iat": SIGNED_AT, "iss": issuer.public_key(),
        "name": "aloft", "sub": subject.public_key(), "nats": claims,
    });
    if expiry == UserExpiry::Past {
        body["exp"] = json!(SIGNED_AT + 60);
    }
    let head = json!({ "typ": "JWT", "alg": "ed25519-nkey" });
    let encoded = |part: &Value| BASE64_URL_SAFE_NO_PAD.encode(part.to_string());
    let text = format!("{}.{}", encoded(&head), encoded(&body));
    let signature = issuer.sign(text.as_bytes()).expect("the key has a seed");
    format!("{text}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature))
}
