//! `service_dns_monitor` (§2.3).

use super::monitor;
use crate::field::{Block, Field, Resource, Shape};
use crate::{RecordComparator, RecordKind};

/// A DNS monitor (§2.3): the TCP monitor's arguments, with a domain name as `uri`.
pub static DNS_MONITOR: Resource = Resource {
    name: "service_dns_monitor",
    description: "Looks a domain name up from each of its regions and checks the records.",
    fields: &[
        monitor::NAME,
        Field::required(
            "uri",
            Shape::DomainName { max: monitor::TARGET_CHARS_MAX },
            "Domain name to look up; at most 2048 characters as written and 253 as a name.",
        ),
        monitor::PERIODICITY,
        monitor::TIMEOUT,
        monitor::DEGRADED_AT,
        monitor::RETRY,
        monitor::ACTIVE,
        monitor::PUBLIC,
        monitor::DESCRIPTION,
        monitor::TAGS,
        monitor::REGIONS,
        monitor::ID,
        monitor::STATUS,
    ],
    beyond: monitor::BEYOND,
    blocks: &[RECORD_ASSERTIONS],
    rules: &[],
    import: Some("<monitor_id>"),
};

const RECORD_ASSERTIONS: Block = Block {
    name: "record_assertions",
    max: Some(monitor::ASSERTIONS_MAX),
    fields: &[
        Field::required("record", Shape::OneOf(RecordKind::WORDS), "Type of record to query."),
        monitor::assertion_target(
            "What a record is compared with: an address, a name, `10 mail.example.com` for MX, or \
             text; may be empty.",
        ),
        Field::required(
            "comparator",
            Shape::OneOf(RecordComparator::WORDS),
            "How a record is compared: eq and contains need any record, neq and not_contains all.",
        ),
    ],
    blocks: &[],
    description: "An assertion on the records of one type.",
};
