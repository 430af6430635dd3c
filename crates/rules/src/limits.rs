//! Limits of the service itself, each with its source. Limits of a field stand in its table
//! (`tables`); what is called *ours* here is decided by us and listed in `docs/spec-gaps.md`.

use std::time::Duration;

use crate::Timestamp;

/// Fewest records that one page of a list may hold (§2.8, §8.1).
pub const LIST_LIMIT_MIN: u32 = 1;
/// Most records that one page of a list may hold (§2.8, §8.1).
pub const LIST_LIMIT_MAX: u32 = 100;
/// Records of one page of a list where no limit was given (§2.8, §8.1).
pub const LIST_LIMIT_DEFAULT: u32 = 50;
/// Most bytes of the records of one page of a list, as protobuf (ours): a page ends before, because gRPC clients
/// accept messages of 4 MiB by default. One record is always in it.
pub const LIST_BYTES_MAX: usize = 3 * 1024 * 1024;
/// Longest page token that is looked at, in bytes (ours).
pub const PAGE_TOKEN_BYTES_MAX: usize = 256;
/// Longest idempotency key of a create, in characters (ours).
pub const IDEMPOTENCY_KEY_CHARS_MAX: u32 = 256;

/// Longest time that a key may hold, where it does not hold for good (ours).
pub const KEY_LIFETIME_MAX: Duration = Duration::from_hours(100 * 365 * 24);

/// Longest message of a call, in bytes, before and after decompression (issue 3).
pub const MESSAGE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Most violations that one answer names (ours): gRPC sends them in a trailer, and clients take few
/// kilobytes of those.
pub const VIOLATIONS_MAX: usize = 25;
/// Calls a second that one key may make, unless the operator sets another rate (design §4 and §6).
pub const CALLS_PER_SECOND_DEFAULT: u32 = 1_000;
/// Calls that one key may make at once after a pause (design §6).
pub const CALLS_BURST_DEFAULT: u32 = 5_000;

/// Most checks that run at a time, however many files may be open (ours).
pub const CHECKS_IN_FLIGHT_MAX: u64 = 8_192;
/// Checks that run at a time also where few files may be open (ours).
pub const CHECKS_IN_FLIGHT_MIN: u64 = 16;
/// Open files that one check takes at most in the usual case (ours): two look-ups, or two connections.
pub const FILES_PER_CHECK: u64 = 2;
/// Open files that are not for checks (ours): database, listeners, callers.
pub const FILES_RESERVED: u64 = 256;
/// Most redirects that one check follows (design §5).
pub const REDIRECTS_MAX: u32 = 10;
/// Most bytes of an answer's body that a check reads, decoded (design §5).
pub const BODY_READ_BYTES_MAX: usize = 1024 * 1024;
/// Memory that the bodies of all checks share, unless the operator sets another amount (ours):
/// enough for the evidence of the most checks that run at a time, eight times over.
pub const BODY_MEMORY_BYTES: usize = 256 * 1024 * 1024;
/// Bytes of an answer's body that an incident keeps as evidence (design §5).
pub const EVIDENCE_BODY_BYTES: usize = 4 * 1024;
/// Pause before the second attempt; it doubles with every further one (design §5).
pub const FIRST_RETRY_PAUSE: Duration = Duration::from_millis(500);
/// Time within which the last attempt begins of a check that somebody asked for (ours): shorter than every
/// period, because somebody waits.
pub const TRIGGER_ATTEMPTED_WITHIN: Duration = Duration::from_secs(25);
/// Time that a call may take that asks for a check (ours): attempts begin within
/// [`TRIGGER_ATTEMPTED_WITHIN`], the last one takes as long as a time-out may be, and a moment goes by on
/// the way and until results are stored.
pub const TRIGGER_ANSWERED_WITHIN: Duration = Duration::from_secs(150);
/// Longest time for which a monitor's status is held after start, resume or an edit (design §5).
pub const SETTLE_MAX: Duration = Duration::from_secs(30);
/// Longest time until an ordinary result is committed (design §2).
pub const COMMIT_WITHIN: Duration = Duration::from_millis(100);
/// Time for which sums of hours are kept (ours): more than the longest window, which may begin with
/// any hour.
pub const HOUR_SUMS_KEPT: Duration = Duration::from_hours(24 * 100);
/// Time for which sums of days are kept (ours).
pub const DAY_SUMS_KEPT: Duration = Duration::from_hours(24 * 400);
/// Fewest days for which results may be kept (ours).
pub const RESULTS_KEPT_DAYS_MIN: u32 = 1;
/// Most days for which results may be kept (ours).
pub const RESULTS_KEPT_DAYS_MAX: u32 = 3_650;
/// Greatest weight of a plan (ours).
pub const PLAN_WEIGHT_MAX: u32 = 100;
/// Days for which results are kept where nobody says otherwise (ours).
pub const RESULTS_KEPT_DAYS_DEFAULT: u32 = 30;
/// Time for which evidence is kept, where results are not kept for less (ours).
pub const EVIDENCE_KEPT: Duration = Duration::from_hours(24 * 14);
/// Time for which the key of a create makes a repetition one with the first (ours).
pub const IDEMPOTENCY_KEYS_KEPT: Duration = Duration::from_hours(24);
/// Time for which changes of status are kept (ours), but for the last one of each monitor: as long as
/// the sums of days, since uptime is counted of both.
pub const STATUS_CHANGES_KEPT: Duration = DAY_SUMS_KEPT;
/// Time for which an incident is kept after it was closed (ours).
pub const INCIDENTS_KEPT: Duration = DAY_SUMS_KEPT;
/// Most comments of one incident (ours).
pub const INCIDENT_COMMENTS_MAX: u32 = 500;
/// Time for which a delivery is kept after it came to its end, unless something lasts that it told of
/// (ours).
pub const DELIVERIES_KEPT: Duration = Duration::from_hours(24 * 90);
/// Time for which the audit is kept (ours).
pub const AUDIT_KEPT: Duration = DAY_SUMS_KEPT;
/// Time for which a key is still listed after it was revoked or ended by itself (ours).
pub const ENDED_KEYS_KEPT: Duration = Duration::from_hours(24 * 90);
/// Distinct hosts that a probe must check before it may doubt itself (design §5).
pub const SELF_DOUBT_HOSTS_MIN: usize = 5;
/// Time within which hosts that were fine must fail for a probe to doubt itself (design §5).
pub const SELF_DOUBT_WITHIN: Duration = Duration::from_mins(1);
/// Time after which a doubt that no canary confirms ends by itself (ours): a real outage of most
/// hosts is hidden no longer.
pub const SELF_DOUBT_UNCONFIRMED_MAX: Duration = Duration::from_mins(5);
/// Time after which a doubt ends by itself if canaries neither answered nor were silent (ours).
pub const SELF_DOUBT_DECIDED_WITHIN: Duration = Duration::from_secs(5);
/// Time after which a doubt ends by itself although the canaries stay silent (ours): they may be
/// what is broken.
pub const SELF_DOUBT_MAX: Duration = Duration::from_hours(1);
/// Time between two askings of a doubting probe's canaries (ours).
pub const CANARIES_ASKED_EVERY: Duration = Duration::from_secs(10);
/// Time that a canary has for its answer (ours).
pub const CANARY_TIMEOUT: Duration = Duration::from_secs(3);
/// Most canaries that a server may have (ours).
pub const CANARIES_MAX: usize = 16;
/// Second opinions a second that the whole server asks for (ours).
pub const OPINIONS_PER_SECOND: u32 = 200;
/// Second opinions that the whole server asks for at once after a pause (ours).
pub const OPINIONS_BURST: u32 = 1_000;
/// Most secrets of a workspace that sign its webhooks at once (ours): each adds a signature to a header.
pub const SIGNING_SECRETS_MAX: u32 = 5;
/// Time for which the delivery of a message is retried, from its first try on (design §5).
pub const DELIVERY_RETRIED_FOR: Duration = Duration::from_hours(24);
/// Time that one try of a delivery may take, from the look-up of the name to the receiver's answer (ours).
pub const DELIVERY_TRY_WITHIN: Duration = Duration::from_secs(10);
/// Earliest beginning of a maintenance (ours): 2000-01-01.
pub const MAINTENANCE_STARTS_MIN: Timestamp = Timestamp::from_millis(946_684_800_000);
/// Latest beginning of a maintenance (ours): 2100-01-01.
pub const MAINTENANCE_STARTS_MAX: Timestamp = Timestamp::from_millis(4_102_444_800_000);
/// Earliest time of an update of a report (ours): 2000-01-01.
pub const REPORT_AT_MIN: Timestamp = Timestamp::from_millis(946_684_800_000);
/// Most updates of one report (ours).
pub const REPORT_UPDATES_MAX: u32 = 200;
/// Most templates of one workspace (ours).
pub const REPORT_TEMPLATES_MAX: u32 = 200;
/// Most subscribers of one status page, those aside that visitors asked for and nobody confirmed (ours).
pub const SUBSCRIBERS_MAX: u32 = 10_000;
/// Most addresses that visitors asked for at one page and nobody confirmed yet (ours).
pub const SUBSCRIBERS_PENDING_MAX: u32 = 2_000;
/// Most of them that somebody of one network asked for (ours).
pub const SUBSCRIBERS_PENDING_PER_NETWORK: u32 = 20;
/// Most components that one subscriber names (ours).
pub const SUBSCRIBER_COMPONENTS_MAX: usize = 1_000;
/// Times an hour that somebody of one network may ask for emails (ours).
pub const SUBSCRIBE_PER_NETWORK_AND_HOUR: u32 = 20;
/// Times an hour that emails to one address may be asked for at one page (ours).
pub const SUBSCRIBE_PER_MAILBOX_AND_HOUR: u32 = 3;
/// Time within which who asked for emails must confirm the address (issue 7).
pub const SUBSCRIBER_PENDING_FOR: Duration = Duration::from_hours(24);
/// Time for which the windows of a maintenance are written ahead (ours).
pub const MAINTENANCE_AHEAD: Duration = Duration::from_hours(24 * 400);

/// How many checks may run at a time with so many open files allowed (`None` is no limit).
pub fn checks_for_files(files: Option<u64>) -> usize {
    let for_checks = files.unwrap_or(u64::MAX).saturating_sub(FILES_RESERVED);
    let checks = for_checks / FILES_PER_CHECK;
    checks.clamp(CHECKS_IN_FLIGHT_MIN, CHECKS_IN_FLIGHT_MAX) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_leave_open_files_for_everything_else() {
        let cases =
            [(Some(0), 16), (Some(256), 16), (Some(1024), 384), (Some(20_000), 8192), (None, 8192)];
        for (files, checks) in cases {
            assert_eq!(checks_for_files(files), checks, "{files:?}");
        }
    }
}
