//! Limits of the service, each with its source. `tables` has the limits of fields.
//! `docs/spec-gaps.md` lists the limits marked *ours*, which are our choice.

use std::time::Duration;

use crate::Timestamp;

/// Minimum number of records per page of a list (§2.8, §8.1).
pub const LIST_LIMIT_MIN: u32 = 1;
/// Maximum number of records per page of a list (§2.8, §8.1).
pub const LIST_LIMIT_MAX: u32 = 100;
/// Default number of records per page of a list (§2.8, §8.1).
pub const LIST_LIMIT_DEFAULT: u32 = 50;
/// Maximum bytes of the records in a page of a list, as protobuf (ours): gRPC clients accept
/// messages of 4 MiB by default. A page has at least one record.
pub const LIST_BYTES_MAX: usize = 3 * 1024 * 1024;
/// Maximum length of a page token, in bytes (ours).
pub const PAGE_TOKEN_BYTES_MAX: usize = 256;
/// Maximum length of an idempotency key, in characters (ours).
pub const IDEMPOTENCY_KEY_CHARS_MAX: u32 = 256;

/// Maximum lifetime of a key with an expiry (ours).
pub const KEY_LIFETIME_MAX: Duration = Duration::from_hours(100 * 365 * 24);

/// Maximum size of a message, in bytes, before and after decompression (issue 3).
pub const MESSAGE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Maximum size of a request for health or reflection, in bytes (ours): both need no key, and their
/// requests hold a name.
pub const MESSAGE_WITHOUT_KEY_BYTES_MAX: usize = 16 * 1024;
/// Maximum number of violations in a response (ours): gRPC sends them in a trailer, which clients
/// limit to a few kilobytes.
pub const VIOLATIONS_MAX: usize = 25;
/// Default rate limit of a key in calls per second; the operator can change it (design §4 and §6).
pub const CALLS_PER_SECOND_DEFAULT: u32 = 1_000;
/// Maximum burst of calls of a key (design §6).
pub const CALLS_BURST_DEFAULT: u32 = 5_000;

/// Default memory budget for request bodies with a key until they are complete (ours): a workspace
/// may use a quarter of it.
pub const REQUEST_BODY_MEMORY_BYTES: usize = 64 * 1024 * 1024;
/// Time within which a client must read some of a response (ours).
pub const RESPONSE_READ_WITHIN: Duration = Duration::from_secs(30);
/// Maximum memory of responses without a key that their clients have not read (ours); above it, the
/// connections with most of them close.
pub const WITHOUT_KEY_UNREAD_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Maximum number of concurrent requests without a key on one connection (ours).
pub const WITHOUT_KEY_OF_CONNECTION_MAX: u32 = 100;
/// Maximum number of concurrent requests without a key from one address (ours).
pub const WITHOUT_KEY_OF_ADDRESS_MAX: u32 = 512;
/// Maximum number of concurrent requests without a key from one network, /24 or /56 (ours).
pub const WITHOUT_KEY_OF_NETWORK_MAX: u32 = 1_024;
/// Maximum number of concurrent requests without a key in total (ours).
pub const WITHOUT_KEY_MAX: u32 = 8_192;
/// Maximum number of concurrent requests without a key that have a body (ours): a body may arrive
/// slowly, and status pages must stay available meanwhile.
pub const WITHOUT_KEY_WITH_BODY_MAX: u32 = 4_096;
/// Maximum number of concurrent requests of people who signed in to the dashboard (ours), beside those
/// without a key.
pub const WITH_SESSION_MAX: u32 = 1_024;
/// Maximum number of streams without a key, such as `Health/Watch`, from one address (ours).
pub const WITHOUT_KEY_STREAMS_OF_ADDRESS_MAX: u32 = 32;
/// Maximum number of streams without a key from one network, /24 or /56 (ours).
pub const WITHOUT_KEY_STREAMS_OF_NETWORK_MAX: u32 = 128;
/// Maximum number of streams without a key in total (ours); a new one ends the oldest one.
pub const WITHOUT_KEY_STREAMS_MAX: usize = 1_024;
/// Maximum duration of a stream without a key (ours): clients open it again.
pub const WITHOUT_KEY_STREAM_WITHIN: Duration = Duration::from_mins(5);
/// Maximum memory of responses with a key that their clients have not read (ours); above it, the
/// connections with most of them close.
pub const WITH_KEY_UNREAD_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Maximum number of streams with a key, such as `Health/Watch`, from one address (ours).
pub const WITH_KEY_STREAMS_OF_ADDRESS_MAX: u32 = 256;
/// Maximum number of streams with a key from one network, /24 or /56 (ours).
pub const WITH_KEY_STREAMS_OF_NETWORK_MAX: u32 = 1_024;
/// Maximum number of streams with a key in total (ours); a new one ends the oldest one.
pub const WITH_KEY_STREAMS_MAX: usize = 4_096;
/// Maximum duration of a stream with a key (ours): clients open it again.
pub const WITH_KEY_STREAM_WITHIN: Duration = Duration::from_hours(1);

/// Maximum number of concurrent checks, however many files may be open (ours).
pub const CHECKS_IN_FLIGHT_MAX: u64 = 8_192;
/// Minimum number of concurrent checks, even if few files may be open (ours).
pub const CHECKS_IN_FLIGHT_MIN: u64 = 16;
/// Open files that one check usually needs at most (ours): two lookups, or two connections.
pub const FILES_PER_CHECK: u64 = 2;
/// Open files reserved for database, listeners and callers (ours).
pub const FILES_RESERVED: u64 = 256;
/// Maximum number of redirects in a check (design §5).
pub const REDIRECTS_MAX: u32 = 10;
/// Maximum decoded bytes of a response body that a check reads (design §5).
pub const BODY_READ_BYTES_MAX: usize = 1024 * 1024;
/// Time before the expiry of a client certificate from which a response that writes its monitor warns
/// (ours).
pub const CLIENT_CERTIFICATE_WARNED_WITHIN: Duration = Duration::from_hours(24 * 14);
/// Default memory budget for the bodies of all checks (ours): eight times the evidence of the
/// maximum number of concurrent checks.
pub const BODY_MEMORY_BYTES: usize = 256 * 1024 * 1024;
/// Maximum bytes of memory that a compiled regular expression of an assertion takes (ours).
pub const EXPRESSION_BYTES_MAX: usize = 256 * 1024;
/// Bytes of a text that an expression of this size examines (ours). Smaller expressions examine more, in
/// proportion.
pub const EXPRESSION_TEXT_BYTES: usize = 128 * 1024;
/// Maximum number of values in a body of JSON that assertions compare (ours).
pub const JSON_VALUES_MAX: usize = 100_000;
/// Maximum bytes of the values that the JSON assertions on one body compare, as text (ours). A path can select
/// a large value many times, inside of others.
pub const JSON_COMPARED_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Bytes of a response body in evidence (design §5).
pub const EVIDENCE_BODY_BYTES: usize = 4 * 1024;
/// Pause before the second attempt; doubles with each further one (design §5).
pub const FIRST_RETRY_PAUSE: Duration = Duration::from_millis(500);
/// Time within which the last attempt of a manual check must begin (ours): shorter than every
/// period, because a user is waiting.
pub const TRIGGER_ATTEMPTED_WITHIN: Duration = Duration::from_secs(25);
/// Maximum duration of a call that runs a manual check (ours): attempts begin within
/// [`TRIGGER_ATTEMPTED_WITHIN`], the last one takes up to the longest timeout, plus time for
/// transport and storing.
pub const TRIGGER_ANSWERED_WITHIN: Duration = Duration::from_secs(150);
/// Maximum time that a caller waits for a change of a monitor (ours): longer than a transaction may
/// take.
pub const CHANGE_ANSWERED_WITHIN: Duration = Duration::from_secs(90);
/// Maximum grace period after start, resume or an edit (design §5).
pub const SETTLE_MAX: Duration = Duration::from_secs(30);
/// Maximum time until an ordinary result is committed (design §2).
pub const COMMIT_WITHIN: Duration = Duration::from_millis(100);
/// Retention of hourly rollups (ours): more than the longest period of a page, which may begin with
/// any hour.
pub const HOUR_ROLLUPS_KEPT: Duration = Duration::from_hours(24 * 100);
/// Retention of daily rollups (ours).
pub const DAY_ROLLUPS_KEPT: Duration = Duration::from_hours(24 * 400);
/// Minimum retention of results, in days (ours).
pub const RETENTION_DAYS_MIN: u32 = 1;
/// Maximum retention of results, in days (ours).
pub const RETENTION_DAYS_MAX: u32 = 3_650;
/// Maximum weight of a plan (ours).
pub const PLAN_WEIGHT_MAX: u32 = 100;
/// Default retention of results, in days (ours).
pub const RETENTION_DAYS_DEFAULT: u32 = 30;
/// Retention of evidence, unless that of results is shorter (ours).
pub const EVIDENCE_KEPT: Duration = Duration::from_hours(24 * 14);
/// Checks a second of the whole server that keep their details if they succeed (ours): above it, workspaces share
/// them, and one of each monitor and region in ten minutes does in any case.
pub const DETAILED_CHECKS_PER_SECOND: u32 = 1_000;
/// Time for which a repeated idempotency key returns the first result (ours).
pub const IDEMPOTENCY_KEYS_KEPT: Duration = Duration::from_hours(24);
/// Retention of status changes (ours), except for the last one of each monitor: that of daily
/// rollups, because uptime needs both.
pub const STATUS_CHANGES_KEPT: Duration = DAY_ROLLUPS_KEPT;
/// Retention of closed incidents (ours).
pub const INCIDENTS_KEPT: Duration = DAY_ROLLUPS_KEPT;
/// Maximum number of comments per incident (ours).
pub const INCIDENT_COMMENTS_MAX: u32 = 500;
/// Maximum number of workspaces that a person may own (ours).
pub const OWNED_WORKSPACES_MAX: u32 = 50;
/// Time in which an invitation can be accepted (ours).
pub const INVITATION_LIFETIME: Duration = Duration::from_hours(24 * 7);
/// Maximum number of open invitations of a workspace (ours).
pub const OPEN_INVITATIONS_MAX: u32 = 50;
/// Maximum number of invitations that a person creates in an hour, over all workspaces (ours): anybody
/// with an account can create workspaces, and each invitation may be an email to a stranger.
pub const INVITATION_CREATIONS: u32 = 20;
pub const INVITATION_CREATIONS_IN: Duration = Duration::from_hours(1);
/// Time between the order to delete a workspace and its deletion (ours).
pub const WORKSPACE_DELETION_DELAY: Duration = Duration::from_hours(24 * 7);
/// Retention of completed deliveries, unless the problem that they reported continues (ours).
pub const DELIVERIES_KEPT: Duration = Duration::from_hours(24 * 90);
/// Retention of the audit log (ours).
pub const AUDIT_KEPT: Duration = DAY_ROLLUPS_KEPT;
/// Time for which a revoked or expired key is still listed (ours).
pub const ENDED_KEYS_KEPT: Duration = Duration::from_hours(24 * 90);
/// Time for which the previous token of a probe stays valid after a rotation (ours), unless the new
/// one is used before.
pub const PROBE_TOKEN_OVERLAP: Duration = Duration::from_hours(24);
/// Maximum number of probes that a workspace creates in an hour (ours).
pub const PROBE_CREATIONS: u32 = 64;
pub const PROBE_CREATIONS_IN: Duration = Duration::from_hours(1);
/// Minimum number of hosts of a probe before it can become suspect (design §5).
pub const SUSPICION_HOSTS_MIN: usize = 5;
/// Time within which healthy hosts must fail to make a probe suspect (design §5).
pub const SUSPICION_WINDOW: Duration = Duration::from_mins(1);
/// Maximum duration of a suspicion without a confirming connectivity check (ours), so that a real
/// outage of most hosts is not hidden for longer.
pub const SUSPICION_UNCONFIRMED_MAX: Duration = Duration::from_mins(5);
/// Maximum duration of a suspicion while the connectivity check is undecided (ours).
pub const SUSPICION_DECIDED_WITHIN: Duration = Duration::from_secs(5);
/// Maximum duration of a suspicion despite failing connectivity checks (ours): their hosts may be
/// what is broken.
pub const SUSPICION_MAX: Duration = Duration::from_hours(1);
/// Time between two connectivity checks of a suspect probe (ours).
pub const CONNECTIVITY_CHECK_INTERVAL: Duration = Duration::from_secs(10);
/// Timeout of a connectivity check (ours).
pub const CONNECTIVITY_CHECK_TIMEOUT: Duration = Duration::from_secs(3);
/// Maximum number of hosts for connectivity checks (ours).
pub const CONNECTIVITY_CHECK_HOSTS_MAX: usize = 16;
/// Confirmation checks per second of the whole server (ours).
pub const CONFIRMATIONS_PER_SECOND: u32 = 200;
/// Maximum burst of confirmation checks of the whole server (ours).
pub const CONFIRMATIONS_BURST: u32 = 1_000;
/// Maximum number of a workspace's secrets that sign webhooks at once (ours): each adds a signature
/// to a header.
pub const SIGNING_SECRETS_MAX: u32 = 5;
/// Time for which a delivery is retried after its first attempt (design §5).
pub const DELIVERY_RETRIED_FOR: Duration = Duration::from_hours(24);
/// Maximum duration of one delivery attempt, from DNS lookup to the receiver's response (ours).
pub const DELIVERY_ATTEMPT_TIMEOUT: Duration = Duration::from_secs(10);
/// Earliest start of a maintenance (ours): 2000-01-01.
pub const MAINTENANCE_STARTS_MIN: Timestamp = Timestamp::from_millis(946_684_800_000);
/// Latest start of a maintenance (ours): 2100-01-01.
pub const MAINTENANCE_STARTS_MAX: Timestamp = Timestamp::from_millis(4_102_444_800_000);
/// Earliest time of a report's update (ours): 2000-01-01.
pub const REPORT_AT_MIN: Timestamp = Timestamp::from_millis(946_684_800_000);
/// Maximum number of updates per report (ours).
pub const REPORT_UPDATES_MAX: u32 = 200;
/// Maximum number of report templates per workspace (ours).
pub const REPORT_TEMPLATES_MAX: u32 = 200;
/// Maximum number of configurations of a workspace (ours).
pub const CONFIGURATIONS_MAX: u32 = 100;
/// Maximum number of resources that the configurations of a workspace own together (ours).
pub const CONFIGURED_RESOURCES_MAX: u32 = 20_000;
/// Maximum number of entries of one call that records configured resources (ours).
pub const CONFIGURED_RESOURCES_PER_CALL_MAX: usize = 200;
/// Maximum number of subscribers per status page, not counting pending sign-ups of visitors (ours).
pub const SUBSCRIBERS_MAX: u32 = 10_000;
/// Maximum number of pending sign-ups per page (ours).
pub const SUBSCRIBERS_PENDING_MAX: u32 = 2_000;
/// Maximum number of pending sign-ups per page from one network (ours).
pub const SUBSCRIBERS_PENDING_PER_NETWORK: u32 = 20;
/// Maximum number of components per subscriber (ours).
pub const SUBSCRIBER_COMPONENTS_MAX: usize = 1_000;
/// Sign-ups per hour from one network (ours).
pub const SUBSCRIBE_PER_NETWORK_AND_HOUR: u32 = 20;
/// Sign-ups per hour, page and address (ours).
pub const SUBSCRIBE_PER_MAILBOX_AND_HOUR: u32 = 3;
/// Time within which a sign-up must be confirmed (issue 7).
pub const SUBSCRIBER_PENDING_FOR: Duration = Duration::from_hours(24);
/// Time ahead for which maintenance windows are stored (ours).
pub const MAINTENANCE_HORIZON: Duration = Duration::from_hours(24 * 400);

/// Returns how many checks may run at a time with this limit of open files (`None` for no limit).
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
