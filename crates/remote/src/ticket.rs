//! Tickets: each job carries one, and its result returns it. The server that sent the job signed it, so
//! nobody can report a result for a slot that was never assigned, for another region, or for another
//! workspace's monitor. A server needs no memory of its jobs to verify one, so results may arrive after
//! a restart.

use buffa::Message as _;
use domain::check::{ResultKey, Trigger};
use hmac::{Hmac, KeyInit as _, Mac as _};
use rules::{MonitorId, MonitorKind, Region, Timestamp};
use sha2::Sha256;

use crate::wire;

/// Bytes of the signature before the content: 128 bits of HMAC-SHA-256.
const SIGNATURE_BYTES: usize = 16;

/// The content of a ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// Bits of the ID of the probe that got the job.
    pub probe: u64,
    pub identity: ResultKey,
    pub kind: MonitorKind,
    /// Whether the result is only for a caller, and not stored.
    pub is_draft: bool,
    /// Identifies the job within its server.
    pub nonce: u64,
}

/// Key that signs tickets, derived from the server's master key.
#[derive(Clone)]
pub struct TicketKey([u8; 32]);

/// Error for a ticket that this server did not sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this server assigned no such check")]
pub struct InvalidTicket;

impl TicketKey {
    /// Derives the key from the server's key for sessions.
    pub fn derive(sessions: &[u8; 32]) -> Self {
        Self(mac(sessions, b"aloft tickets", &[]).finalize().into_bytes().into())
    }

    /// Returns the key that encrypts results on the disk of this probe.
    pub fn spool_key(&self, probe: u64) -> [u8; 32] {
        mac(&self.0, b"spool", &probe.to_be_bytes()).finalize().into_bytes().into()
    }

    /// Signs a ticket.
    pub fn sign(&self, ticket: &Ticket) -> Vec<u8> {
        let Ticket { probe, identity, kind, is_draft, nonce } = ticket;
        let content = wire::Ticket {
            probe: *probe,
            monitor: identity.monitor.bits(),
            check_revision: identity.revision as i32,
            region: identity.region.to_string(),
            slot_ms: identity.slot.as_millis(),
            trigger: identity.trigger.as_str().to_owned(),
            kind: kind.to_string(),
            is_draft: *is_draft,
            nonce: *nonce,
        }
        .encode_to_vec();
        let signature = mac(&self.0, b"ticket", &content).finalize().into_bytes();
        let mut signed = Vec::with_capacity(SIGNATURE_BYTES + content.len());
        signed.extend_from_slice(&signature[..SIGNATURE_BYTES]);
        signed.extend_from_slice(&content);
        signed
    }

    /// Reads a ticket that this server signed.
    ///
    /// # Errors
    ///
    /// Returns [`InvalidTicket`] for any other bytes.
    pub fn read(&self, signed: &[u8]) -> Result<Ticket, InvalidTicket> {
        let (signature, content) = signed.split_at_checked(SIGNATURE_BYTES).ok_or(InvalidTicket)?;
        mac(&self.0, b"ticket", content)
            .verify_truncated_left(signature)
            .map_err(|_| InvalidTicket)?;
        let content = wire::Ticket::decode_from_slice(content).map_err(|_| InvalidTicket)?;
        Ok(Ticket {
            probe: content.probe,
            identity: ResultKey {
                monitor: MonitorId::from_bits(content.monitor),
                revision: u32::try_from(content.check_revision).map_err(|_| InvalidTicket)?,
                region: content.region.parse::<Region>().map_err(|_| InvalidTicket)?,
                slot: Timestamp::from_millis(content.slot_ms),
                trigger: trigger(&content.trigger).ok_or(InvalidTicket)?,
            },
            kind: content.kind.parse::<MonitorKind>().map_err(|_| InvalidTicket)?,
            is_draft: content.is_draft,
            nonce: content.nonce,
        })
    }
}

/// Returns the identity of the slot of a signed ticket, by which a stream recognises a job that it has
/// already. The signature is not verified. A draft has no slot, so its identity is the job's.
pub fn message_id(signed: &[u8]) -> Option<String> {
    let (_, content) = signed.split_at_checked(SIGNATURE_BYTES)?;
    let content = wire::Ticket::decode_from_slice(content).ok()?;
    let wire::Ticket { monitor, check_revision, region, slot_ms, trigger, .. } = &content;
    let slot = format!("{monitor:x}.{check_revision}.{region}.{slot_ms}.{trigger}");
    Some(if content.is_draft { format!("{slot}.{:x}", content.nonce) } else { slot })
}

/// Returns the ID of the message with the result of a signed ticket. It is the ticket's signature, which is
/// unknown to other probes, so that none of them can pass off its own message as this one.
pub(crate) fn result_message_id(signed: &[u8]) -> Option<String> {
    let signature = signed.first_chunk::<SIGNATURE_BYTES>()?;
    Some(format!("{:032x}", u128::from_be_bytes(*signature)))
}

impl std::fmt::Debug for TicketKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TicketKey")
    }
}

/// Returns the trigger with this word.
pub(crate) fn trigger(word: &str) -> Option<Trigger> {
    Trigger::ALL.into_iter().find(|it| it.as_str() == word)
}

fn mac(key: &[u8; 32], purpose: &[u8], content: &[u8]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("any key will do");
    mac.update(purpose);
    mac.update(b"\0");
    mac.update(content);
    mac
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticket() -> Ticket {
        let identity = ResultKey {
            monitor: MonitorId::from_bits(7),
            revision: 3,
            region: Region::FlySin,
            slot: Timestamp::from_millis(1_800_000_000_000),
            trigger: Trigger::Confirmation,
        };
        Ticket { probe: 9, identity, kind: MonitorKind::Dns, is_draft: false, nonce: 11 }
    }

    #[test]
    fn signed_ticket_reads_back() {
        let key = TicketKey::derive(&[1; 32]);
        for is_draft in [false, true] {
            let ticket = Ticket { is_draft, ..ticket() };
            assert_eq!(key.read(&key.sign(&ticket)), Ok(ticket));
        }
    }

    #[test]
    fn changed_ticket_is_invalid() {
        let key = TicketKey::derive(&[1; 32]);
        let signed = key.sign(&ticket());
        for at in 0..signed.len() {
            let mut changed = signed.clone();
            changed[at] ^= 1;
            assert_eq!(key.read(&changed), Err(InvalidTicket), "byte {at}");
            assert_eq!(key.read(&signed[..at]), Err(InvalidTicket), "{at} bytes");
        }
        assert_eq!(TicketKey::derive(&[2; 32]).read(&signed), Err(InvalidTicket));
    }

    #[test]
    fn slot_has_one_message_id() {
        let key = TicketKey::derive(&[1; 32]);
        let id = |ticket: &Ticket| message_id(&key.sign(ticket)).unwrap();
        assert_eq!(id(&ticket()), "7.3.fly-sin.1800000000000.confirmation");
        assert_eq!(id(&Ticket { nonce: 12, ..ticket() }), id(&ticket()));
        let draft = Ticket { is_draft: true, ..ticket() };
        assert_ne!(id(&Ticket { nonce: 12, ..draft }), id(&draft));
        assert_eq!(message_id(b"short"), None);
    }

    #[test]
    fn each_ticket_has_its_own_result_id() {
        let key = TicketKey::derive(&[1; 32]);
        let id = |ticket: &Ticket| result_message_id(&key.sign(ticket)).unwrap();
        assert_eq!(id(&ticket()), id(&ticket()));
        assert_ne!(id(&Ticket { probe: 10, ..ticket() }), id(&ticket()));
        assert_ne!(
            result_message_id(&TicketKey::derive(&[2; 32]).sign(&ticket())),
            Some(id(&ticket()))
        );
        assert_eq!(result_message_id(&[0xAB; 16]), Some("ab".repeat(16)));
        assert_eq!(result_message_id(b"short"), None);
    }

    #[test]
    fn each_probe_has_its_own_spool_key() {
        let key = TicketKey::derive(&[1; 32]);
        assert_ne!(key.spool_key(1), key.spool_key(2));
        assert_ne!(key.spool_key(1), TicketKey::derive(&[2; 32]).spool_key(1));
    }
}
