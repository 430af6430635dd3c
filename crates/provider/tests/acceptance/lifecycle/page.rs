//! Status pages: no argument replaces a page, because that would lose its subscribers and its history.

use super::{Argument, LifecycleCase};

const fn argument(name: &'static str, texts: &'static [&'static str]) -> Argument {
    Argument { name, texts }
}

#[tokio::test]
async fn page_arguments_change_in_place() {
    let sheet = LifecycleCase {
        resource: "service_status_page",
        arguments: vec![
            argument("title", &["\"Status\"", "\"Größe <&>\"", "\"x\""]),
            argument("slug", &["\"{label}\"", "\"{label}-2\"", "\"{label}-3\""]),
            argument("description", &["", "\"\"", "\"two\\nlines\"", "null"]),
            argument(
                "homepage_url",
                &["", "\"https://example.com\"", "\"http://example.com/a\"", ""],
            ),
            argument(
                "contact_url",
                &["", "\"mailto:help@example.com\"", "\"https://example.com\"", "null"],
            ),
            argument(
                "icon",
                &["", "\"https://example.com/icon.png\"", "\"https://example.com/2.png\"", ""],
            ),
            argument(
                "custom_domain",
                &["", "\"Status.example.com\"", "\"status.bücher.example\"", ""],
            ),
            argument(
                "access_type",
                &[
                    "",
                    "\"public\"",
                    "\"password\"\npassword = \"hunter2\"",
                    "\"password\"\npassword = \"hunter3\"",
                    "\"email-domain\"\nauth_email_domains = [\"b.example\", \"a.example\"]",
                    "\"email-domain\"\nauth_email_domains = [\"a.example\", \"b.example\"]",
                    "null",
                ],
            ),
            argument("password", &["", "\"hunter2\"", "\"x\"", "null"]),
            argument(
                "auth_email_domains",
                &["", "[\"example.com\"]", "[\"example.org\", \"example.com\"]", "[]", "null"],
            ),
        ],
        support: "",
        replacing: &[],
    };
    sheet.verify().await;
}
