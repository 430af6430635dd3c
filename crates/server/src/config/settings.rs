//! Parses the values of all settings into types, once at the start.

use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use base64::Engine as _;
use dashboard::SingleSignOnSettings;
use domain::notify::VendorConfig;
use ipnet::IpNet;
use remote::nats::NatsUrls;
use rules::monitor::TcpCheck;
use rules::plan::Plans;
use rules::{Region, Secret, limits};
use store::Database;
use tracing_subscriber::filter::Targets;

use super::database::{database, replica_address};
use super::domains::{self, DomainSettings};
use super::log_filter::log_filter;
use super::operator::Operator;
use super::parse::{address, items, optional, read};
use super::servers::{self, MailServer};
use super::traces::{self, TraceSettings};
use super::{ConfigError, Layers, Value, Values};
use super::{checks, single_sign_on};

/// Maximum of `monitors_in_metrics`: each monitor has four series, and six more for each of its regions.
const MONITORS_IN_METRICS_MAX: u32 = 1_000;

/// The format of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// Text for people.
    Text,
    /// JSON, one object per line.
    Json,
}

/// All settings, parsed and valid.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Address of the server; port 0 picks a free port.
    pub listen: SocketAddr,
    pub data: PathBuf,
    pub database: Database,
    /// Address at which other servers of the same database reach this one; `None` for a single server.
    pub replica_address: Option<SocketAddr>,
    /// Servers of NATS; `None` uses none.
    pub nats: Option<NatsUrls>,
    pub nats_credentials_file: Option<PathBuf>,
    /// Whether checks may reach private and loopback addresses.
    pub allow_private_networks: bool,
    /// Default regions of monitors: sorted, without duplicates, never empty.
    pub default_regions: Vec<Region>,
    /// Default retention of results.
    pub retention: Duration,
    /// Maximum number of monitors that `/metrics` shows.
    pub monitors_in_metrics: u32,
    /// Receiver of traces; `None` sends none.
    pub traces: Option<TraceSettings>,
    /// Maximum number of concurrent checks; `None` derives it from the limit of open files.
    pub max_checks_in_flight: Option<usize>,
    /// Memory for the bodies of all checks, in bytes.
    pub check_body_memory: usize,
    /// Memory for the request bodies of all callers with a key, in bytes.
    pub request_body_memory: usize,
    /// Name servers for checks; empty uses the system's.
    pub nameservers: Vec<SocketAddr>,
    /// Targets of connectivity checks for suspect probes; empty disables them.
    pub connectivity_check_hosts: Vec<TcpCheck>,
    /// Source addresses of checks; empty leaves the choice to the system.
    pub egress_addresses: Vec<IpAddr>,
    /// File with CA certificates that checks trust besides the public ones.
    pub extra_ca_file: Option<PathBuf>,
    /// Calls per second for each API key.
    pub calls_per_second: NonZeroU32,
    /// Burst of calls for each API key.
    pub calls_burst: NonZeroU32,
    /// Calls per minute with an unknown key for each address.
    pub failed_calls_per_minute: NonZeroU32,
    /// Recipient of messages about suspect probes; `None` sends none.
    pub operator: Option<Operator>,
    /// Limits of workspaces, by plan.
    pub plans: Plans,
    /// Proxies with a trusted `X-Forwarded-For` header.
    pub trusted_proxies: Vec<IpNet>,
    pub log_format: LogFormat,
    /// Filter of log lines.
    pub log_filter: Targets,
    /// Public URL of this server without a slash at the end; `None` omits links from messages.
    pub public_url: Option<String>,
    /// Custom domains, TLS and certificates.
    pub domains: DomainSettings,
    /// Mail server; `None` sends no emails.
    pub mail: Option<MailServer>,
    /// Vendor settings of the other kinds of channels.
    pub vendors: VendorConfig,
    /// Provider of single sign-on; `None` offers none.
    pub single_sign_on: Option<SingleSignOnSettings>,
    /// Encryption key of secrets; `None` uses the file in the data folder.
    pub master_key: Option<Secret<[u8; 32]>>,
}

impl Settings {
    /// Parses the settings. Returns the first error.
    #[expect(clippy::too_many_lines, reason = "one expression for each setting")]
    pub fn parse(values: &Values) -> Result<Self, ConfigError> {
        let number = |name, allowed| read(values.get(name), allowed, |text| text.parse().ok());
        let public_url = servers::public_url(values)?;
        let database = database(values.get("database"))?;
        Ok(Self {
            listen: read(
                values.get("listen"),
                "must be an address such as 127.0.0.1:8080",
                address,
            )?,
            data: read(values.get("data"), "must name a folder", path)?,
            replica_address: replica_address(values, &database)?,
            database,
            nats: nats(values.get("nats"))?,
            nats_credentials_file: path(&values.get("nats_credentials_file").text),
            allow_private_networks: read(
                values.get("allow_private_networks"),
                "must be true or false",
                |text| text.parse().ok(),
            )?,
            default_regions: checks::regions(values.get("default_regions"))?,
            retention: read(values.get("retention_days"), "must be 1 to 3650", days)?,
            plans: plans(values.get("plans"))?,
            operator: operator(values.get("operator"))?,
            monitors_in_metrics: read(
                values.get("monitors_in_metrics"),
                "must be 0 to 1000",
                |text| text.parse().ok().filter(|count| *count <= MONITORS_IN_METRICS_MAX),
            )?,
            traces: traces::traces(values)?,
            max_checks_in_flight: read(
                values.get("max_checks_in_flight"),
                "must be a whole number, or 0",
                |text| text.parse().ok(),
            )
            .map(|count: usize| (count > 0).then_some(count))?,
            check_body_memory: read(
                values.get("check_body_memory_mib"),
                "must be 1 to 65536",
                |text| text.parse().ok().filter(|mib| (1..=65_536).contains(mib)),
            )
            .map(|mib: usize| mib * 1024 * 1024)?,
            request_body_memory: read(
                values.get("request_body_memory_mib"),
                "must be 32 to 65536",
                |text| text.parse().ok().filter(|mib| (32..=65_536).contains(mib)),
            )
            .map(|mib: usize| mib * 1024 * 1024)?,
            nameservers: read(
                values.get("nameservers"),
                "must be addresses such as 9.9.9.9:53, joined by commas",
                |text| items(text).map(address).collect(),
            )?,
            connectivity_check_hosts: checks::connectivity_check_hosts(
                values.get("connectivity_check_hosts"),
            )?,
            egress_addresses: read(
                values.get("egress_addresses"),
                "must be addresses such as 192.0.2.7, joined by commas",
                |text| items(text).map(|item| item.parse().ok()).collect(),
            )?,
            extra_ca_file: path(&values.get("extra_ca_file").text),
            calls_per_second: number("calls_per_second", "must be a whole number from 1 on")?,
            calls_burst: number("calls_burst", "must be a whole number from 1 on")?,
            failed_calls_per_minute: number(
                "failed_calls_per_minute",
                "must be a whole number from 1 on",
            )?,
            trusted_proxies: read(
                values.get("trusted_proxies"),
                "must be networks such as 10.0.0.0/8, joined by commas",
                |text| items(text).map(network).collect(),
            )?,
            log_format: read(
                values.get("log_format"),
                "must be text or json",
                |text| match text {
                    "text" => Some(LogFormat::Text),
                    "json" => Some(LogFormat::Json),
                    _ => None,
                },
            )?,
            log_filter: log_filter(values.get("log_level"))?,
            domains: domains::domains(values, public_url.as_deref())?,
            public_url,
            mail: servers::mail(values)?,
            vendors: servers::vendor_config(values)?,
            single_sign_on: single_sign_on::single_sign_on(values)?,
            master_key: master_key(values.get("master_key"))?,
        })
    }

    /// Returns the retention of results in days.
    pub fn retention_days(&self) -> u32 {
        u32::try_from(self.retention.as_secs() / 86_400).unwrap_or(u32::MAX)
    }

    /// Returns the settings with all defaults.
    pub fn defaults() -> Self {
        let values = Layers::default().resolve().expect("no layer has an unknown key");
        Self::parse(&values).expect("the defaults of the table are valid")
    }
}

/// Parses a network or a single address.
fn network(text: &str) -> Option<IpNet> {
    text.parse().ok().or_else(|| Some(IpNet::from(text.parse::<IpAddr>().ok()?)))
}

fn path(text: &str) -> Option<PathBuf> {
    (!text.is_empty()).then(|| PathBuf::from(text))
}

/// Parses the URLs of NATS. The error omits the value, which may contain a password.
fn nats(value: &Value) -> Result<Option<NatsUrls>, ConfigError> {
    if value.text.trim().is_empty() {
        return Ok(None);
    }
    NatsUrls::parse(&value.text).map(Some).map_err(|why| ConfigError::Invalid {
        name: value.setting.name,
        why: why.to_string(),
        origin: value.origin.clone(),
    })
}

fn days(text: &str) -> Option<Duration> {
    let days: u32 = text.parse().ok()?;
    let allowed = limits::RETENTION_DAYS_MIN..=limits::RETENTION_DAYS_MAX;
    allowed.contains(&days).then(|| Duration::from_secs(u64::from(days) * 86_400))
}

fn operator(value: &Value) -> Result<Option<Operator>, ConfigError> {
    let allowed = "must be an email address or the URL of a webhook";
    optional(value, allowed, Operator::parse)
}

fn plans(value: &Value) -> Result<Plans, ConfigError> {
    Plans::parse(&value.text).map_err(|why| ConfigError::Invalid {
        name: value.setting.name,
        why: format!("is wrong: {why}"),
        origin: value.origin.clone(),
    })
}

fn master_key(value: &Value) -> Result<Option<Secret<[u8; 32]>>, ConfigError> {
    if value.text.is_empty() {
        return Ok(None);
    }
    read(value, "must be 32 bytes in base64", |text| {
        let bytes = base64::engine::general_purpose::STANDARD.decode(text).ok()?;
        Some(Some(Secret::new(bytes.try_into().ok()?)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(name: &str, text: &str) -> Result<Settings, String> {
        let mut layers = Layers::default();
        layers.environment.insert(name.to_owned(), text.to_owned());
        let values = layers.resolve().map_err(|error| error.to_string())?;
        Settings::parse(&values).map_err(|error| error.to_string())
    }

    #[test]
    fn defaults_listen_on_loopback_without_private_checks() {
        let settings = Settings::defaults();
        assert_eq!(settings.listen.to_string(), "127.0.0.1:8080");
        assert!(!settings.allow_private_networks);
        assert_eq!(settings.default_regions, [Region::FlyAms]);
        // The table of settings repeats the numbers of `rules` as text.
        assert_eq!(settings.calls_per_second.get(), limits::CALLS_PER_SECOND_DEFAULT);
        assert_eq!(settings.calls_burst.get(), limits::CALLS_BURST_DEFAULT);
        assert_eq!(settings.request_body_memory, limits::REQUEST_BODY_MEMORY_BYTES);
        let days = settings.retention.as_secs() / 86_400;
        assert_eq!(days, u64::from(limits::RETENTION_DAYS_DEFAULT));
    }

    #[test]
    fn invalid_values_are_rejected_with_allowed_values() {
        let refusals: Vec<String> = [
            ("listen", "8080"),
            ("allow_private_networks", "yes"),
            ("default_regions", "fly-ams,mars"),
            ("default_regions", " , "),
            ("retention_days", "0"),
            ("retention_days", "3651"),
            ("monitors_in_metrics", "1001"),
            ("max_checks_in_flight", "-1"),
            ("request_body_memory_mib", "31"),
            ("nameservers", "9.9.9.9"),
            ("connectivity_check_hosts", "example.com:443, https://example.com"),
            ("egress_addresses", "here"),
            ("calls_per_second", "0"),
            ("trusted_proxies", "10.0.0.0/33"),
            ("log_format", "xml"),
            ("log_level", "inof"),
            ("database", "mysql://root:hunter2@localhost/aloft"),
            ("replica_address", "10.0.0.5:9080"),
            ("replica_address", "0.0.0.0:9080"),
            ("nats", "http://nats.example.com"),
            ("nats", "nats://a:4222,nats://user:hunter2@b"),
            ("master_key", "hunter2"),
        ]
        .iter()
        .map(|(name, text)| parse(name, text).unwrap_err())
        .map(|refusal| refusal.chars().take(110).collect())
        .collect();
        insta::assert_snapshot!(refusals.join("\n"), @"
        `listen` must be an address such as 127.0.0.1:8080, not `8080` (from the environment)
        `allow_private_networks` must be true or false, not `yes` (from the environment)
        `default_regions` is wrong: unknown region `mars`; expected one of fly-ams, fly-arn, fly-bom, fly-cdg, fly-dfw
        `default_regions` must name one region or more: no monitor runs nowhere (from the environment)
        `retention_days` must be 1 to 3650, not `0` (from the environment)
        `retention_days` must be 1 to 3650, not `3651` (from the environment)
        `monitors_in_metrics` must be 0 to 1000, not `1001` (from the environment)
        `max_checks_in_flight` must be a whole number, or 0, not `-1` (from the environment)
        `request_body_memory_mib` must be 32 to 65536, not `31` (from the environment)
        `nameservers` must be addresses such as 9.9.9.9:53, joined by commas, not `9.9.9.9` (from the environment)
        `connectivity_check_hosts` must be host:port without a scheme, such as example.com:443, not `https://example.c
        `egress_addresses` must be addresses such as 192.0.2.7, joined by commas, not `here` (from the environment)
        `calls_per_second` must be a whole number from 1 on, not `0` (from the environment)
        `trusted_proxies` must be networks such as 10.0.0.0/8, joined by commas, not `10.0.0.0/33` (from the environme
        `log_format` must be text or json, not `xml` (from the environment)
        `log_level` must be error, warn, info, debug, trace, or a filter such as info,aloft_store=debug: `inof` is not
        `database` must begin with postgres://, or be empty (from the environment)
        `replica_address` requires `database`, a PostgreSQL database that the servers share (from the environment)
        `replica_address` must be an address that other machines can connect to, such as 10.0.0.5:9080, not `0.0.0.0:9
        `nats` must be URLs such as nats://nats.example.com:4222, joined by commas (from the environment)
        `nats` must contain no user and no password: put them into the credentials file (from the environment)
        `master_key` must be 32 bytes in base64 (from the environment)
        ");
    }

    #[test]
    fn database_password_is_redacted() {
        let shown = |text: &str| {
            let mut layers = Layers::default();
            layers.flags.insert("database".to_owned(), text.to_owned());
            layers.resolve().unwrap().get("database").redacted().to_owned()
        };
        assert_eq!(shown("postgres://aloft@db:5432/aloft"), "postgres://aloft@db:5432/aloft");
        assert_eq!(shown("postgres://aloft:hunter2@db/aloft"), "…");
        assert_eq!(shown("postgres://db/aloft?user=x&password=hunter2"), "…");
        let settings = parse("database", "postgres://aloft:hunter2@db/aloft").unwrap();
        assert!(matches!(settings.database, Database::Postgres(_)));
        assert!(!format!("{settings:?}").contains("hunter2"));
    }

    #[test]
    fn valid_master_key_is_accepted_and_redacted() {
        let text = base64::engine::general_purpose::STANDARD.encode([7; 32]);
        let settings = parse("master_key", &text).unwrap();
        assert_eq!(settings.master_key.as_ref().unwrap().expose(), &[7; 32]);
        assert!(!format!("{settings:?}").contains(&text));
    }
}
