//! Settings: the table of all settings, for the command line, `aloft config` and the documents.
//!
//! `layers` decides the `origin` of a value, `parse` reads one value, and `settings` parses all of
//! them, with `servers` for what channels need, `domains` for TLS, `log_filter` for log levels,
//! `database` for the database and servers that share it, `checks` for regions and hosts,
//! `single_sign_on` for the provider of accounts, and `traces` for OpenTelemetry. `error` has what is
//! wrong. `boot` reads the environment.

mod checks;
mod database;
mod domains;
mod error;
#[cfg(any(test, aloft_fuzz))]
pub mod fuzz;
mod layers;
mod log_filter;
mod operator;
mod origin;
mod parse;
mod servers;
mod settings;
mod single_sign_on;
mod traces;

use domain::notify::setting;

pub use domains::{AcmeSettings, ChallengeChoice, DomainSettings, PageHost, TlsSettings};
pub use error::ConfigError;
pub use layers::{Layers, Value, Values};
pub use operator::Operator;
pub use origin::{FilePosition, Origin};
pub use servers::{MailAccount, MailServer, MailTls};
pub use settings::{LogFormat, Settings};
pub use store::Database;
pub use traces::TraceSettings;

/// A setting. Its flag, its environment variable and its key in the file derive from its name.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Key in the file, such as `allow_private_networks`.
    pub name: &'static str,
    /// Default value; empty means off.
    pub default: &'static str,
    /// Placeholder for a value on the command line, such as `ADDR`; `None` for a switch.
    pub shape: Option<&'static str>,
    /// Description for `--help` and the documents.
    pub description: &'static str,
    /// Whether the value is never shown and comes only from the environment.
    pub secret: bool,
}

/// All settings, in display order.
pub static SETTINGS: &[Setting] = &[
    Setting::new("listen", "127.0.0.1:8080", "ADDR", "Address that the server listens on."),
    Setting::new(
        "data",
        "./aloft-data",
        "DIR",
        "Folder of the embedded database, its key file and the socket for commands.",
    ),
    Setting::new(
        "database",
        "",
        "URL",
        "PostgreSQL database, such as postgres://aloft@db.example.com/aloft; empty uses the embedded database.",
    ),
    Setting::new(
        "replica_address",
        "",
        "ADDR",
        "Address at which the other servers of the same PostgreSQL database reach this one, such as 10.0.0.5:9080, in a trusted network. With it, this server waits as a standby while another one owns the database, passes all connections on to that one, and takes over when it ends. Empty: this server ends if another one owns the database.",
    ),
    Setting::new(
        "nats",
        "",
        "URLS",
        "NATS servers with JetStream that carry jobs and results, such as nats://nats.example.com:4222, separated by commas; TLS is required beyond loopback unless a URL ends with ?tls=off. Empty uses none.",
    ),
    Setting::new(
        "nats_credentials_file",
        "",
        "FILE",
        "File with the credentials for NATS: a file of nsc, the seed of a user's key, or user:password.",
    ),
    Setting::switch(
        "allow_private_networks",
        "Lets checks and channels reach private and loopback addresses; cloud metadata addresses stay blocked.",
    ),
    Setting::new(
        "default_regions",
        "fly-ams",
        "REGIONS",
        "Regions of monitors that name none, separated by commas.",
    ),
    Setting::new("retention_days", "30", "DAYS", "Retention of results in days, 1 to 3650."),
    Setting::new(
        "plans",
        "",
        "PLANS",
        "Plans of workspaces with their limits, separated by commas, such as `team monitors=50 shortest_period=1m pages=3 channels=10 retention_days=90 weight=4`; an omitted limit does not apply. Checks share the server by weight, 1 to 100 and 1 if omitted.",
    ),
    Setting::new(
        "monitors_in_metrics",
        "0",
        "COUNT",
        "Maximum number of monitors that /metrics shows with name, status, latencies and certificate expiry, 0 to 1000; 0 shows none. The page needs no key, so every reader sees them.",
    ),
    Setting::new(
        "otlp_endpoint",
        "",
        "URL",
        "OpenTelemetry receiver of traces of checks and requests, by OTLP over HTTP as JSON, such as http://127.0.0.1:4318; /v1/traces is appended. Empty sends none.",
    ),
    Setting::new(
        "otlp_sample_percent",
        "100",
        "PERCENT",
        "Share of traces to send, 0 to 100. Checks that are degraded or fail, and requests that fail on the server, are always sent.",
    ),
    Setting::new(
        "max_checks_in_flight",
        "0",
        "COUNT",
        "Maximum number of concurrent checks; 0 uses one for each two open files above 256, 16 to 8192.",
    ),
    Setting::new(
        "check_body_memory_mib",
        "256",
        "MIB",
        "Memory in MiB that the bodies of all checks share, 1 to 65536; a workspace may use a quarter of it; when it is used up, less of a body is read.",
    ),
    Setting::new(
        "request_body_memory_mib",
        "64",
        "MIB",
        "Memory in MiB that the request bodies of all callers with a key share, 32 to 65536; a workspace may use a quarter of it.",
    ),
    Setting::new(
        "nameservers",
        "",
        "ADDRS",
        "Name servers for checks, such as 9.9.9.9:53, separated by commas; empty uses the system's.",
    ),
    Setting::new(
        "connectivity_check_hosts",
        "",
        "HOSTS",
        "Hosts that are reachable whenever the network works, such as example.com:443, separated by commas; if many checks fail at once, the server connects to them first.",
    ),
    Setting::new(
        "egress_addresses",
        "",
        "ADDRS",
        "Source addresses of checks, for firewalls, separated by commas; empty uses the machine's public ones.",
    ),
    Setting::new(
        "extra_ca_file",
        "",
        "FILE",
        "PEM file of certificates that checks trust in addition to the public ones.",
    ),
    Setting::new("calls_per_second", "1000", "COUNT", "Calls per second for each API key."),
    Setting::new("calls_burst", "5000", "COUNT", "Burst of calls for each API key."),
    Setting::new(
        "failed_calls_per_minute",
        "600",
        "COUNT",
        "Calls per minute with an unknown key for each address.",
    ),
    Setting::new(
        "trusted_proxies",
        "",
        "NETWORKS",
        "Proxies whose X-Forwarded-For, X-Forwarded-Host and X-Forwarded-Proto are trusted, such as 10.0.0.0/8, separated by commas.",
    ),
    Setting::new("log_format", "text", "text|json", "Format of log lines on the standard error."),
    Setting::new(
        "log_level",
        "info",
        "LEVEL",
        "Log level: error, warn, info, debug, trace, or a filter such as info,aloft_store=debug.",
    ),
    Setting::new(
        "public_url",
        "",
        "URL",
        "External URL of this server, such as https://aloft.example.com, for links in messages; empty sends none.",
    ),
    Setting::new(
        "pages_hosts",
        "",
        "HOSTS",
        "Names and addresses that custom domains of status pages must point to, separated by commas; empty uses the host of public_url. Without both, pages have no custom domains.",
    ),
    Setting::new(
        "https_listen",
        "",
        "ADDR",
        "Address of the TLS listener, such as 0.0.0.0:443, with certificates from ACME; empty disables TLS.",
    ),
    Setting::new(
        "http_listen",
        "",
        "ADDR",
        "Address of the HTTP listener for ACME challenges, such as 0.0.0.0:80; it redirects everything else to https. The page of a custom domain without a certificate is served as it is.",
    ),
    Setting::switch("acme_terms_agreed", "Accepts the terms of service of the ACME server."),
    Setting::new(
        "acme_directory",
        "https://acme-v02.api.letsencrypt.org/directory",
        "URL",
        "Directory URL of the ACME server.",
    ),
    Setting::new(
        "acme_email",
        "",
        "ADDRESS",
        "Contact address for the ACME server; empty sends none.",
    ),
    Setting::new(
        "acme_challenge",
        "any",
        "any|http-01|tls-alpn-01",
        "How the ACME server verifies a domain: on port 443, then 80; or only one of them.",
    ),
    Setting::new(
        "smtp_from",
        "",
        "MAILBOX",
        "Sender of emails, such as Aloft <aloft@example.com>.",
    ),
    Setting::new(
        "sms_from",
        "",
        "NUMBER",
        "Sender number of text messages, or the ID of a messaging service.",
    ),
    Setting::new("whatsapp_from", "", "NUMBER", "Sender number of WhatsApp messages."),
    Setting::new(
        "whatsapp_template",
        "",
        "ID",
        "Content ID (HX…) of a template that WhatsApp approved, in one language; without it, messages only reach people who wrote to the sender within 24 hours.",
    ),
    Setting::new(
        "whatsapp_parameters",
        "title,text,link",
        "NAMES",
        "Variables of that template in order: title, text, reason, target and link, separated by commas.",
    ),
    Setting::new("telegram_url", "https://api.telegram.org", "URL", "URL of Telegram's Bot API."),
    Setting::new(
        "twilio_url",
        "https://api.twilio.com",
        "URL",
        "URL of the telephone API: Twilio's or a compatible one.",
    ),
    Setting::new(
        "pagerduty_url",
        "https://events.pagerduty.com",
        "URL",
        "URL of PagerDuty's Events API.",
    ),
    Setting::new(
        "opsgenie_us_url",
        "https://api.opsgenie.com",
        "URL",
        "URL of Opsgenie for accounts in the United States.",
    ),
    Setting::new(
        "opsgenie_eu_url",
        "https://api.eu.opsgenie.com",
        "URL",
        "URL of Opsgenie for accounts in the European Union.",
    ),
    Setting::new("ntfy_url", "https://ntfy.sh", "URL", "Default ntfy server of channels."),
    Setting::new(
        "oidc_issuer",
        "",
        "URL",
        "OpenID provider of single sign-on, as its tokens name it, such as https://id.example.com; empty offers none.",
    ),
    Setting::new("oidc_client_id", "", "ID", "Client ID of this server at the OpenID provider."),
    Setting::new(
        "oidc_name",
        "single sign-on",
        "NAME",
        "Name of the OpenID provider on the login page.",
    ),
    Setting::new(
        "oidc_email_domains",
        "",
        "DOMAINS",
        "Domains of verified email addresses that may sign in with the OpenID provider, separated by commas.",
    ),
    Setting::new(
        "oidc_groups_claim",
        "groups",
        "CLAIM",
        "Claim of the OpenID provider that lists a person's groups.",
    ),
    Setting::new(
        "oidc_roles",
        "",
        "ROLES",
        "Roles of groups in workspaces, separated by commas, such as acme:platform=admin,acme:staff=viewer. In these workspaces, each sign-in sets the role of the person's highest group, and ends the membership of a person without one; the last owner stays.",
    ),
    Setting::secret(
        "oidc_client_secret",
        "SECRET",
        "Client secret of this server at the OpenID provider. The provider must allow the redirect URI /login/provider/callback below public_url.",
    ),
    Setting::secret(
        "smtp_url",
        "URL",
        "Mail server: smtp://user:password@mail.example.com for STARTTLS, smtps:// for TLS from the first byte, or smtp://relay.example.com:25?tls=off without TLS and without a password.",
    ),
    Setting::secret("telegram_token", "TOKEN", "Token of the Telegram bot that sends messages."),
    Setting::secret(
        "twilio_account",
        "ACCOUNT",
        "Account for text and WhatsApp messages, as its ID and its token: AC0123:token.",
    ),
    Setting::secret(
        "otlp_headers",
        "HEADERS",
        "Headers for the OpenTelemetry receiver, separated by commas, such as Authorization=Basic abc.",
    ),
    Setting::secret(
        "operator",
        "ADDRESS",
        "Operator to notify if the network of this server or of a probe may be at fault: an email address, or a webhook URL; empty only writes to the log and the audit log.",
    ),
    Setting::secret(
        "master_key",
        "KEY",
        "Master key that encrypts secrets, 32 bytes in base64; empty uses a file in the data folder.",
    ),
];

impl Setting {
    const fn new(
        name: &'static str,
        default: &'static str,
        shape: &'static str,
        description: &'static str,
    ) -> Self {
        Self { name, default, shape: Some(shape), description, secret: false }
    }

    const fn switch(name: &'static str, description: &'static str) -> Self {
        Self { name, default: "false", shape: None, description, secret: false }
    }

    const fn secret(name: &'static str, shape: &'static str, description: &'static str) -> Self {
        Self { name, default: "", shape: Some(shape), description, secret: true }
    }

    /// Returns the setting with this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        SETTINGS.iter().find(|setting| setting.name == name)
    }

    /// Returns the environment variable, such as `ALOFT_LISTEN`.
    pub fn variable(&self) -> String {
        setting::variable(self.name)
    }

    /// Returns the flag, such as `--listen`. A secret has none, because other users can see command
    /// lines.
    pub fn flag(&self) -> Option<String> {
        (!self.secret).then(|| format!("--{}", self.name.replace('_', "-")))
    }
}
