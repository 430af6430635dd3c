//! Keyed hashes that show whether two values are equal, and reveal nothing else: addresses of
//! subscribers, passwords that admitted them, and networks of requesters.

use std::net::IpAddr;

use rules::AccessType;
use rules::status_page::{Destination, StatusPage};
use sha2::{Digest as _, Sha256};

use crate::vault::Vault;

/// Hashes the address of a subscriber.
pub(super) fn hash_destination(vault: &Vault, destination: &Destination) -> Vec<u8> {
    let digest = keyed_hasher(vault, b"aloft subscriber")
        .chain_update(destination.kind().as_str())
        .chain_update([0])
        .chain_update(destination.normal());
    digest.finalize().to_vec()
}

/// Hashes the network of a requester.
pub(super) fn hash_network(vault: &Vault, network: IpAddr) -> Vec<u8> {
    keyed_hasher(vault, b"aloft subscriber network")
        .chain_update(network.to_canonical().to_string())
        .finalize()
        .to_vec()
}

/// Hashes the password that admits visitors to a page. `None` if the page has none. The hash
/// differs between pages.
pub(crate) fn hash_password(vault: &Vault, page: &StatusPage) -> Option<Vec<u8>> {
    let password = match page.settings.effective_access() {
        AccessType::Password => page.settings.password.as_ref()?,
        AccessType::Public | AccessType::EmailDomain => return None,
    };
    let hash = keyed_hasher(vault, b"aloft subscriber password")
        .chain_update(page.id.bits().to_be_bytes())
        .chain_update(password.expose());
    Some(hash.finalize().to_vec())
}

fn keyed_hasher(vault: &Vault, what: &'static [u8]) -> Sha256 {
    Sha256::new().chain_update(what).chain_update(vault.sessions().expose())
}
