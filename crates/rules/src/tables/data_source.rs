//! The data sources of §2.8: lookups of existing objects. Outputs have the shapes of the
//! corresponding arguments.

use super::monitor::{self, TARGET_CHARS_MAX, TIMEOUT_MS_MAX};
use super::status_page::STATUS_PAGE;
use crate::field::{Field, Resource, Shape, Value};
use crate::{
    AccessType, ChannelId, Method, MonitorId, MonitorKind, PageId, Periodicity, ProviderType,
    Theme, limits,
};

/// One monitor of any kind (§2.8).
pub static MONITOR_DATA: Resource = Resource {
    name: "service_monitor",
    description: "Looks up a monitor of any kind by its identifier.",
    fields: &[
        Field::required("id", Shape::Id(MonitorId::PREFIX), "Identifier of the monitor."),
        TYPE,
        Field::output("name", monitor::NAME.shape, "Name of the monitor."),
        Field::output(
            "url",
            Shape::HttpUrl { max: TARGET_CHARS_MAX },
            "Requested URL; HTTP monitors only.",
        ),
        Field::output(
            "uri",
            Shape::Text { min: 1, max: TARGET_CHARS_MAX },
            "Target as host:port, or the domain name; TCP and DNS monitors only.",
        ),
        Field::output(
            "periodicity",
            Shape::OneOf(Periodicity::WORDS),
            "How often the monitor is checked in each of its regions.",
        ),
        Field::output(
            "method",
            Shape::OneOf(Method::WORDS),
            "Method of the request; HTTP monitors only.",
        ),
        Field::output("active", Shape::Bool, "Whether the monitor runs."),
        Field::output(
            "public",
            Shape::Bool,
            "Whether status pages show the monitor's response times. Its name, status and uptime are shown wherever it is a component, its address never.",
        ),
        Field::output("description", monitor::DESCRIPTION.shape, "Description of the monitor."),
        TAGS_OUTPUT,
        Field::output(
            "timeout",
            Shape::Integer { min: 0, max: TIMEOUT_MS_MAX as i32 },
            "Time for one attempt in milliseconds; 0 means the maximum of 120000.",
        ),
        monitor::STATUS,
    ],
    beyond: &[],
    blocks: &[],
    rules: &[],
    import: None,
};

/// All monitors, page by page (§2.8).
pub static MONITORS_DATA: Resource = Resource {
    name: "service_monitors",
    description: "Lists the monitors of the workspace.",
    fields: &[
        Field::default(
            "limit",
            Shape::Integer {
                min: limits::LIST_LIMIT_MIN as i32,
                max: limits::LIST_LIMIT_MAX as i32,
            },
            Value::Integer(limits::LIST_LIMIT_DEFAULT as i32),
            "Maximum number of monitors to list, 1 to 100.",
        ),
        Field::default(
            "offset",
            Shape::Integer { min: 0, max: i32::MAX },
            Value::Integer(0),
            "Number of monitors to skip.",
        ),
        Field::optional(
            "tags",
            monitor::TAGS.shape,
            "Only monitors that have all of these tags, of which case does not matter; up to 20, each of 1 to 64 characters.",
        ),
        Field::output(
            "monitors",
            Shape::ListOf(&[
                monitor::ID,
                Field::output("name", monitor::NAME.shape, "Name of the monitor."),
                TYPE,
                TAGS_OUTPUT,
            ]),
            "The monitors, newest first.",
        ),
    ],
    beyond: &[],
    blocks: &[],
    rules: &[],
    import: None,
};

/// One notification channel (§2.8).
pub static NOTIFICATION_DATA: Resource = Resource {
    name: "service_notification",
    description: "Looks up a notification channel by its identifier.",
    fields: &[
        Field::required("id", Shape::Id(ChannelId::PREFIX), "Identifier of the channel."),
        Field::output("name", Shape::Text { min: 0, max: 256 }, "Name of the channel."),
        Field::output("provider_type", Shape::OneOf(ProviderType::WORDS), "Kind of the channel."),
        Field::output(
            "monitor_ids",
            Shape::SetOfIds(MonitorId::PREFIX),
            "Monitors whose incidents are sent to the channel.",
        ),
        Field::output("created_at", Shape::Instant, "When the channel was created."),
        Field::output("updated_at", Shape::Instant, "When the channel was last changed."),
    ],
    beyond: &[],
    blocks: &[],
    rules: &[],
    import: None,
};

/// One status page (§2.8).
pub static STATUS_PAGE_DATA: Resource = Resource {
    name: "service_status_page",
    description: "Looks up a status page by its identifier.",
    fields: &[
        Field::required("id", Shape::Id(PageId::PREFIX), "Identifier of the page."),
        read("title", "Title of the page."),
        read("slug", "Name of the page in its URL."),
        read("description", "What the page is about."),
        read("homepage_url", "Link to the homepage."),
        read("contact_url", "Link to the contact page."),
        read("icon", "URL of the icon."),
        read("custom_domain", "Custom domain of the page."),
        Field::output("published", Shape::Bool, "Whether visitors can see the page."),
        Field::output("access_type", Shape::OneOf(AccessType::WORDS), "Who may read the page."),
        read("password", "Password of the page.").sensitive(),
        read("auth_email_domains", "Domains of the email addresses that may read the page."),
        Field::output("theme", Shape::OneOf(Theme::WORDS), "Colours of the page."),
        Field::output("created_at", Shape::Instant, "When the page was created."),
        Field::output("updated_at", Shape::Instant, "When the page was last changed."),
    ],
    beyond: &[],
    blocks: &[],
    rules: &[],
    import: None,
};

const TYPE: Field = Field::output(
    "type",
    Shape::OneOf(MonitorKind::WORDS),
    "Kind of the monitor: http, tcp, dns or heartbeat.",
);

const TAGS_OUTPUT: Field = Field::output("tags", monitor::TAGS.shape, "Tags of the monitor.");

/// Returns the output for the status page's argument of this name.
const fn read(name: &'static str, description: &'static str) -> Field {
    Field::output(name, STATUS_PAGE.shape_of(name), description)
}
