//! Settings of the server that channels need: accounts for sending and URLs of vendors. Parsing
//! fails if a required setting is missing.

use domain::notify::{
    BotAccount, TemplateParameter, TwilioAccount, VendorConfig, WhatsappTemplate, setting,
};
use lettre::message::Mailbox;
use percent_encoding::percent_decode_str;
use rules::Secret;
use rules::notification::Phone;
use url::Url;

use super::parse::{missing_setting, optional, read};
use super::{ConfigError, Value, Values};

/// Default ports of mail servers: submission with STARTTLS, submission inside TLS, and between servers
/// (RFC 8314, RFC 5321).
const SUBMISSION: u16 = 587;
const SUBMISSIONS: u16 = 465;
const RELAY: u16 = 25;

/// The mail server that sends emails.
#[derive(Clone, Debug)]
pub struct MailServer {
    /// Name or address, which its certificate must match.
    pub host: String,
    pub port: u16,
    /// Encryption of the connection.
    pub tls: MailTls,
    /// Account, if the server requires one.
    pub account: Option<MailAccount>,
    /// Sender of emails.
    pub from: Mailbox,
}

/// An account on a mail server.
#[derive(Clone, Debug)]
pub struct MailAccount {
    pub user: String,
    pub password: Secret<String>,
}

/// The encryption of a connection to a mail server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailTls {
    /// STARTTLS, which is required.
    Starttls,
    /// TLS from the first byte.
    Implicit,
    /// None: for a relay of the operator.
    Off,
}

/// Parses the mail server; `None` if it is not set.
pub(super) fn mail(values: &Values) -> Result<Option<MailServer>, ConfigError> {
    let (url, from) = (values.get(setting::SMTP), values.get("smtp_from"));
    let from = optional(from, "must be a mailbox such as Aloft <aloft@example.com>", |text| {
        text.parse().ok()
    })?;
    let address = optional(
        url,
        "must be smtp://user:password@host or smtps://user:password@host; ?tls=off goes with \
         smtp:// and without a password",
        mail_address,
    )?;
    match (address, from) {
        (None, None) => Ok(None),
        (Some((host, port, tls, account)), Some(from)) => {
            Ok(Some(MailServer { host, port, tls, account, from }))
        }
        (Some(_), None) => Err(missing_setting(values, "smtp_from", setting::SMTP)),
        (None, Some(_)) => Err(missing_setting(values, setting::SMTP, "smtp_from")),
    }
}

/// Parses the settings of all kinds of channels.
pub(super) fn vendor_config(values: &Values) -> Result<VendorConfig, ConfigError> {
    let address = |name| required(values.get(name), base);
    let telegram_url = address("telegram_url")?;
    let token =
        optional(values.get(setting::TELEGRAM), "must be a bot's token such as 123:abc", |text| {
            let is_token = |c: char| c.is_ascii_alphanumeric() || matches!(c, ':' | '-' | '_');
            (text.contains(':') && text.chars().all(is_token)).then(|| Secret::new(text.to_owned()))
        })?;
    Ok(VendorConfig {
        has_mail: !values.get(setting::SMTP).text.trim().is_empty(),
        telegram: token.map(|token| BotAccount { base: telegram_url, token }),
        twilio: twilio_account(values)?,
        pagerduty: address("pagerduty_url")?,
        opsgenie_us: address("opsgenie_us_url")?,
        opsgenie_eu: address("opsgenie_eu_url")?,
        ntfy: address("ntfy_url")?,
    })
}

/// Parses the public URL of this server.
pub(super) fn public_url(values: &Values) -> Result<Option<String>, ConfigError> {
    optional(values.get("public_url"), BASE_ALLOWED, base)
}

fn twilio_account(values: &Values) -> Result<Option<TwilioAccount>, ConfigError> {
    let base = required(values.get("twilio_url"), base)?;
    let account = optional(
        values.get(setting::TWILIO),
        "must be the account's id and its token, such as AC0123:token",
        |text| {
            let (account, token) = text.split_once(':')?;
            let is_id = !account.is_empty() && account.chars().all(|c| c.is_ascii_alphanumeric());
            (is_id && !token.is_empty())
                .then(|| (account.to_owned(), Secret::new(token.to_owned())))
        },
    )?;
    let sms_from = optional(
        values.get(setting::SMS_FROM),
        "must be a number such as +15005550006, a name of up to 11 letters and digits, or an id such as MG0123",
        sender,
    )?;
    let whatsapp_from = optional(
        values.get(setting::WHATSAPP_FROM),
        "must be a telephone number in international form, such as +15005550006",
        |text| Phone::parse(text).ok().map(|phone| phone.phone_number),
    )?;
    let whatsapp_template = template(values)?;
    let numbers = [(setting::SMS_FROM, &sms_from), (setting::WHATSAPP_FROM, &whatsapp_from)];
    let Some((account, token)) = account else {
        return match numbers.iter().find(|(_, number)| number.is_some()) {
            Some((name, _)) => Err(missing_setting(values, setting::TWILIO, name)),
            None => Ok(None),
        };
    };
    if numbers.iter().all(|(_, number)| number.is_none()) {
        return Err(missing_setting(values, setting::SMS_FROM, setting::TWILIO));
    }
    Ok(Some(TwilioAccount { base, account, token, sms_from, whatsapp_from, whatsapp_template }))
}

/// Parses the template of WhatsApp messages.
fn template(values: &Values) -> Result<Option<WhatsappTemplate>, ConfigError> {
    let id = optional(
        values.get(setting::WHATSAPP_TEMPLATE),
        "must be the id of an approved template: HX and 32 hexadecimal digits",
        |text| {
            let digits = text.strip_prefix("HX")?;
            let is_id = digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_id.then(|| text.to_owned())
        },
    )?;
    let parameters = read(
        values.get(setting::WHATSAPP_PARAMETERS),
        "must be some of title, text, reason, target and link, joined by commas",
        |text| {
            let named = |word: &str| {
                TemplateParameter::ALL.iter().copied().find(|it| it.as_str() == word.trim())
            };
            text.split(',').map(named).collect()
        },
    )?;
    Ok(id.map(|id| WhatsappTemplate { id, parameters }))
}

const BASE_ALLOWED: &str = "must be an http or https URL without credentials, query and fragment";

/// Parses a base URL for paths.
fn base(text: &str) -> Option<String> {
    let url = Url::parse(text).ok()?;
    let is_base = matches!(url.scheme(), "http" | "https")
        && url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    is_base.then(|| url.as_str().trim_end_matches('/').to_owned())
}

/// Parses the sender of phone messages: a number, a name or an ID.
fn sender(text: &str) -> Option<String> {
    let is_sender = text.chars().all(|c| c.is_ascii_alphanumeric() || c == ' ')
        || text.strip_prefix('+').is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()));
    is_sender.then(|| text.to_owned())
}

type MailAddress = (String, u16, MailTls, Option<MailAccount>);

fn mail_address(text: &str) -> Option<MailAddress> {
    let url = Url::parse(text).ok()?;
    let (tls, usual) = match (url.scheme(), url.query()) {
        ("smtp", None | Some("tls=required")) => (MailTls::Starttls, SUBMISSION),
        ("smtp", Some("tls=off")) => (MailTls::Off, RELAY),
        ("smtps", None) => (MailTls::Implicit, SUBMISSIONS),
        _ => return None,
    };
    let decoded = |text| percent_decode_str(text).decode_utf8().ok().map(String::from);
    let account = match (url.username(), url.password()) {
        ("", None) => None,
        // Never send a password without encryption.
        (user, Some(password)) if !user.is_empty() && tls != MailTls::Off => {
            Some(MailAccount { user: decoded(user)?, password: Secret::new(decoded(password)?) })
        }
        _ => return None,
    };
    let host = url.host_str().filter(|host| !host.is_empty())?;
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let is_bare = matches!(url.path(), "" | "/") && url.fragment().is_none();
    is_bare.then(|| (host, url.port().unwrap_or(usual), tls, account))
}

fn required(value: &Value, parse: fn(&str) -> Option<String>) -> Result<String, ConfigError> {
    read(value, BASE_ALLOWED, parse)
}

#[cfg(test)]
mod tests {
    use super::super::{Layers, Settings};
    use super::*;

    fn parse(pairs: &[(&str, &str)]) -> Result<Settings, String> {
        let mut layers = Layers::default();
        for (name, text) in pairs {
            layers.environment.insert((*name).to_owned(), (*text).to_owned());
        }
        let values = layers.resolve().map_err(|error| error.to_string())?;
        Settings::parse(&values).map_err(|error| error.to_string())
    }

    #[test]
    fn default_vendor_urls_match_the_domain() {
        let (table, domain) = (Settings::defaults().vendors, VendorConfig::default());
        assert_eq!(format!("{table:?}"), format!("{domain:?}"));
        let account = [("twilio_account", "AC1:t"), ("sms_from", "+1"), ("telegram_token", "1:a")];
        let servers = parse(&account).unwrap().vendors;
        assert_eq!(servers.twilio.unwrap().base, "https://api.twilio.com");
        assert_eq!(servers.telegram.unwrap().base, "https://api.telegram.org");
    }

    #[test]
    fn mail_server_uses_starttls_by_default() {
        let server = |url: &str| {
            let pairs = [("smtp_url", url), ("smtp_from", "Aloft <aloft@example.com>")];
            let settings = parse(&pairs).unwrap();
            assert!(settings.vendors.has_mail);
            let MailServer { host, port, tls, account, .. } = settings.mail.unwrap();
            let account = account.map(|it| format!("{}/{}", it.user, it.password.expose()));
            format!("{host} {port} {tls:?} {}", account.unwrap_or_default())
        };
        for (url, expected) in [
            ("smtp://us%40er:p%3Ass@mail.example.com", "mail.example.com 587 Starttls us@er/p:ss"),
            ("smtp://mail.example.com:2525/", "mail.example.com 2525 Starttls "),
            ("smtps://u:p@mail.example.com", "mail.example.com 465 Implicit u/p"),
            ("smtp://relay.example.com?tls=off", "relay.example.com 25 Off "),
            ("smtp://[::1]:25?tls=required", "::1 25 Starttls "),
        ] {
            assert_eq!(server(url), expected, "{url}");
        }
    }

    #[test]
    fn invalid_settings_are_rejected_without_revealing_secrets() {
        let from = ("smtp_from", "aloft@example.com");
        let refusals: Vec<String> = [
            &[("smtp_url", "http://user:hunter2@mail"), from][..],
            &[("smtp_url", "smtp://user:hunter2@mail?tls=off"), from],
            &[("smtp_url", "smtp://user@mail"), from],
            &[("smtp_url", "smtp://mail/path"), from],
            &[("smtp_url", "smtp://user:hunter2@mail")],
            &[from],
            &[("smtp_from", "nobody")],
            &[("telegram_token", "hunter2")],
            &[("twilio_account", "hunter2"), ("sms_from", "+1")],
            &[("twilio_account", "AC1:hunter2")],
            &[("whatsapp_from", "+15005550006")],
            &[("twilio_account", "AC1:hunter2"), ("whatsapp_from", "Aloft")],
            &[("twilio_account", "AC1:hunter2"), ("sms_from", "call me!")],
            &[("twilio_account", "AC1:hunter2"), ("whatsapp_template", "down")],
            &[("twilio_account", "AC1:hunter2"), ("whatsapp_parameters", "title,body")],
            &[("pagerduty_url", "events.pagerduty.com")],
            &[("ntfy_url", "https://user:hunter2@ntfy.sh")],
            &[("opsgenie_eu_url", "")],
            &[("public_url", "ftp://aloft.example.com")],
        ]
        .map(|pairs| parse(pairs).unwrap_err())
        .to_vec();
        let listed = refusals.join("\n");
        insta::assert_snapshot!(listed, @"
        `smtp_url` must be smtp://user:password@host or smtps://user:password@host; ?tls=off goes with smtp:// and without a password (from the environment)
        `smtp_url` must be smtp://user:password@host or smtps://user:password@host; ?tls=off goes with smtp:// and without a password (from the environment)
        `smtp_url` must be smtp://user:password@host or smtps://user:password@host; ?tls=off goes with smtp:// and without a password (from the environment)
        `smtp_url` must be smtp://user:password@host or smtps://user:password@host; ?tls=off goes with smtp:// and without a password (from the environment)
        `smtp_from` must also be set if `smtp_url` is (from the environment)
        `smtp_url` must also be set if `smtp_from` is (from the environment)
        `smtp_from` must be a mailbox such as Aloft <aloft@example.com>, not `nobody` (from the environment)
        `telegram_token` must be a bot's token such as 123:abc (from the environment)
        `twilio_account` must be the account's id and its token, such as AC0123:token (from the environment)
        `sms_from` must also be set if `twilio_account` is (from the environment)
        `twilio_account` must also be set if `whatsapp_from` is (from the environment)
        `whatsapp_from` must be a telephone number in international form, such as +15005550006, not `Aloft` (from the environment)
        `sms_from` must be a number such as +15005550006, a name of up to 11 letters and digits, or an id such as MG0123, not `call me!` (from the environment)
        `whatsapp_template` must be the id of an approved template: HX and 32 hexadecimal digits, not `down` (from the environment)
        `whatsapp_parameters` must be some of title, text, reason, target and link, joined by commas, not `title,body` (from the environment)
        `pagerduty_url` must be an http or https URL without credentials, query and fragment, not `events.pagerduty.com` (from the environment)
        `ntfy_url` must be an http or https URL without credentials, query and fragment (from the environment)
        `opsgenie_eu_url` must be an http or https URL without credentials, query and fragment, not `` (from the environment)
        `public_url` must be an http or https URL without credentials, query and fragment, not `ftp://aloft.example.com` (from the environment)
        ");
    }

    #[test]
    fn urls_lose_their_trailing_slash() {
        let pairs = [("public_url", "https://Aloft.example.com/up/"), ("ntfy_url", "http://ntfy/")];
        let settings = parse(&pairs).unwrap();
        assert_eq!(settings.public_url.unwrap(), "https://aloft.example.com/up");
        assert_eq!(settings.vendors.ntfy, "http://ntfy");
    }

    #[test]
    fn account_secrets_are_redacted() {
        let pairs = [
            ("smtp_url", "smtp://user:hunter2@mail.example.com"),
            ("smtp_from", "aloft@example.com"),
            ("telegram_token", "1:hunter2"),
            ("twilio_account", "AC1:hunter2"),
            ("sms_from", "+15005550006"),
        ];
        assert!(!format!("{:?}", parse(&pairs).unwrap()).contains("hunter2"));
    }
}
