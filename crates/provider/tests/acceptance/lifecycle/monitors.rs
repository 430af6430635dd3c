//! The kinds of monitor.

use super::{Argument, LifecycleCase};

const fn argument(name: &'static str, texts: &'static [&'static str]) -> Argument {
    Argument { name, texts }
}

const NAME: Argument =
    argument("name", &["\"API\"", "\"Größe \\\"<&>\\\" $${x} \\\\ é\"", "\"x\""]);
const PERIODICITY: Argument =
    argument("periodicity", &["\"30s\"", "\"1m\"", "\"5m\"", "\"10m\"", "\"30m\"", "\"1h\""]);
const TIMEOUT: Argument = argument("timeout", &["", "0", "120000", "45000", "1", "null"]);
const DEGRADED_AT: Argument = argument("degraded_at", &["", "0", "120000", "30000", "1", "null"]);
const RETRY: Argument = argument("retry", &["", "0", "10", "3", "1", ""]);
const IP_VERSION: Argument =
    argument("ip_version", &["", "\"ipv4\"", "\"any\"", "\"ipv6\"", "null"]);
const ACTIVE: Argument = argument("active", &["", "true", "false", "true", "null"]);
const PUBLIC: Argument = argument("public", &["", "true", "false", "true", ""]);
const DESCRIPTION: Argument =
    argument("description", &["", "\"\"", "\"two\\nlines\"", "\"one\"", "null", "\"\""]);
const TAGS: Argument = argument(
    "tags",
    &[
        "",
        "[\"Prod\", \"team: Größe\"]",
        "[\"team: Größe\", \"prod\"]",
        "[for number in range(20) : \"t${number}\"]",
        "[]",
        "null",
    ],
);
const REGIONS: Argument = argument(
    "regions",
    &[
        "",
        "[\"fly-ams\"]",
        "[\"koyeb-sin\", \"fly-ams\", \"railway-us-west2\"]",
        "[]",
        "[\"fly-yyz\"]",
        "null",
    ],
);

/// None, a certificate with its key, another with a chain, the first again, and none.
const CLIENT_CERTIFICATE: Argument = argument(
    "client_certificate",
    &[
        "",
        concat!(
            "\n client_certificate = <<PEM\n",
            include_str!("../../../../testkit/pem/certificate.pem"),
            "PEM\n\nclient_key = <<PEM\n",
            include_str!("../../../../testkit/pem/key.pem"),
            "PEM\n"
        ),
        concat!(
            "\n client_certificate = <<PEM\n",
            include_str!("../../../../testkit/pem/other-certificate.pem"),
            include_str!("../../../../testkit/pem/certificate.pem"),
            "PEM\n\nclient_key = <<PEM\n",
            include_str!("../../../../testkit/pem/other-key.pem"),
            "PEM\n"
        ),
        concat!(
            "\n client_certificate = <<PEM\n",
            include_str!("../../../../testkit/pem/certificate.pem"),
            "PEM\n\nclient_key = <<PEM\n",
            include_str!("../../../../testkit/pem/key.pem"),
            "PEM\n"
        ),
        "\n client_certificate = null\n\nclient_key = null\n",
    ],
);

/// None, two, the same in another order, one, and the greatest number.
const HEADERS: Argument = argument(
    "headers",
    &[
        "",
        "\nheaders {\n key = \"B\"\n value = \"2\"\n}\nheaders {\n key = \"A\"\n value = \"\"\n}\n",
        "\nheaders {\n key = \"A\"\n value = \"\"\n}\nheaders {\n key = \"B\"\n value = \"2\"\n}\n",
        "\nheaders {\n key = \"A\"\n value = \"1\"\n}\n",
        "\ndynamic \"headers\" {\n for_each = range(20)\n content {\n key = \"H${headers.value}\"\n value = \"v\"\n }\n}\n",
        "",
    ],
);

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "a line for each argument")]
async fn http_monitor_arguments_change_in_place() {
    let sheet = LifecycleCase {
        resource: "service_http_monitor",
        arguments: vec![
            NAME,
            argument(
                "url",
                &[
                    "\"https://example.com\"",
                    "\"http://user:pa%20ss@[::1]:8080/a?b=c#d\"",
                    "\"HTTPS://EXAMPLE.com:443\"",
                ],
            ),
            PERIODICITY,
            argument(
                "method",
                &["", "\"POST\"", "\"HEAD\"", "\"OPTIONS\"", "\"GET\"", "\"DELETE\""],
            ),
            argument("body", &["", "\"{}\"", "\"\"", "\"a\\nb\\u0001\"", "null"]),
            TIMEOUT,
            DEGRADED_AT,
            RETRY,
            argument("follow_redirects", &["", "false", "true", "false", "null"]),
            IP_VERSION,
            argument("certificate_warn_days", &["", "14", "0", "397", "null"]),
            CLIENT_CERTIFICATE,
            ACTIVE,
            PUBLIC,
            DESCRIPTION,
            TAGS,
            REGIONS,
            HEADERS,
            argument(
                "status_code_assertions",
                &[
                    "",
                    "\nstatus_code_assertions {\n target = 599\n comparator = \"lte\"\n}\nstatus_code_assertions {\n target = 100\n comparator = \"gte\"\n}\n",
                    "\nstatus_code_assertions {\n target = 100\n comparator = \"gte\"\n}\nstatus_code_assertions {\n target = 599\n comparator = \"lte\"\n}\n",
                    "\ndynamic \"status_code_assertions\" {\n for_each = range(10)\n content {\n target = 200 + status_code_assertions.value\n comparator = \"neq\"\n }\n}\n",
                    "",
                ],
            ),
            argument(
                "body_assertions",
                &[
                    "",
                    "\nbody_assertions {\n target = \"\"\n comparator = \"empty\"\n}\n",
                    "\nbody_assertions {\n target = \"b\"\n comparator = \"contains\"\n}\nbody_assertions {\n target = \"a\"\n comparator = \"not_contains\"\n}\n",
                    "\nbody_assertions {\n target = \"a\"\n comparator = \"not_contains\"\n}\nbody_assertions {\n target = \"b\"\n comparator = \"contains\"\n}\n",
                    "",
                ],
            ),
            argument(
                "json_assertions",
                &[
                    "",
                    "\njson_assertions {\n path = \"$.a[?@.b > 1]\"\n target = \"\"\n comparator = \"empty\"\n}\n",
                    "\njson_assertions {\n path = \"$.a\"\n target = \"^\\\\d+$\"\n comparator = \"matches\"\n}\njson_assertions {\n path = \"$.a\"\n target = \"2\"\n comparator = \"lt\"\n}\n",
                    "",
                ],
            ),
            argument(
                "header_assertions",
                &[
                    "",
                    "\nheader_assertions {\n key = \"X\"\n target = \"\"\n comparator = \"not_empty\"\n}\n",
                    "\nheader_assertions {\n key = \"x\"\n target = \"1\"\n comparator = \"gt\"\n}\nheader_assertions {\n key = \"X\"\n target = \"2\"\n comparator = \"lt\"\n}\n",
                    "",
                ],
            ),
        ],
        support: "",
        replacing: &[],
    };
    sheet.verify().await;
}

#[tokio::test]
async fn tcp_monitor_arguments_change_in_place() {
    let sheet = LifecycleCase {
        resource: "service_tcp_monitor",
        arguments: vec![
            NAME,
            argument(
                "uri",
                &[
                    "\"example.com:5432\"",
                    "\"[2001:DB8::1]:1\"",
                    "\"192.0.2.1:65535\"",
                    "\"Bücher.example:80\"",
                ],
            ),
            PERIODICITY,
            TIMEOUT,
            DEGRADED_AT,
            RETRY,
            IP_VERSION,
            ACTIVE,
            PUBLIC,
            DESCRIPTION,
            TAGS,
            REGIONS,
        ],
        support: "",
        replacing: &[],
    };
    sheet.verify().await;
}

#[tokio::test]
async fn dns_monitor_arguments_change_in_place() {
    let sheet = LifecycleCase {
        resource: "service_dns_monitor",
        arguments: vec![
            NAME,
            argument("uri", &["\"example.com\"", "\"EXAMPLE.com.\"", "\"_dmarc.bücher.example\""]),
            PERIODICITY,
            TIMEOUT,
            DEGRADED_AT,
            RETRY,
            ACTIVE,
            PUBLIC,
            DESCRIPTION,
            TAGS,
            REGIONS,
            argument(
                "record_assertions",
                &[
                    "",
                    "\nrecord_assertions {\n record = \"A\"\n target = \"192.0.2.1\"\n comparator = \"eq\"\n}\nrecord_assertions {\n record = \"TXT\"\n target = \"\"\n comparator = \"not_contains\"\n}\n",
                    "\nrecord_assertions {\n record = \"TXT\"\n target = \"\"\n comparator = \"not_contains\"\n}\nrecord_assertions {\n record = \"A\"\n target = \"192.0.2.1\"\n comparator = \"eq\"\n}\n",
                    "\ndynamic \"record_assertions\" {\n for_each = range(10)\n content {\n record = \"MX\"\n target = \"${record_assertions.value} mail.example.com\"\n comparator = \"neq\"\n }\n}\n",
                    "",
                ],
            ),
        ],
        support: "",
        replacing: &[],
    };
    sheet.verify().await;
}

#[tokio::test]
async fn heartbeat_monitor_arguments_change_in_place() {
    let sheet = LifecycleCase {
        resource: "service_heartbeat_monitor",
        arguments: vec![
            NAME,
            argument("interval", &["30", "31622400", "86400"]),
            argument("grace", &["", "0", "300", "31622400", "null"]),
            ACTIVE,
            PUBLIC,
            DESCRIPTION,
            TAGS,
        ],
        support: "",
        replacing: &[],
    };
    sheet.verify().await;
}
