//! Components and component groups: page and type replace them, all other arguments change in place.

use super::{Argument, LifecycleCase};

const fn argument(name: &'static str, texts: &'static [&'static str]) -> Argument {
    Argument { name, texts }
}

const PAGES: &str = "
resource \"service_status_page\" \"one\" {
  title = \"One\"
  slug  = \"one\"
}
resource \"service_status_page\" \"two\" {
  title = \"Two\"
  slug  = \"two\"
}
resource \"service_status_page_component_group\" \"g\" {
  count   = 2
  page_id = service_status_page.one.id
  name    = \"Group\"
}
resource \"service_tcp_monitor\" \"m\" {
  for_each    = toset({labels})
  name        = \"m\"
  uri         = \"example.com:443\"
  periodicity = \"1m\"
}
resource \"service_tcp_monitor\" \"n\" {
  name        = \"n\"
  uri         = \"example.com:443\"
  periodicity = \"1m\"
}
";

#[tokio::test]
async fn component_arguments_replace_only_for_page_and_type() {
    let sheet = LifecycleCase {
        resource: "service_status_page_component",
        arguments: vec![
            argument("page_id", &["service_status_page.one.id", "service_status_page.two.id"]),
            argument("type", &["\"monitor\"", "\"static\"\nmonitor_id = null\nname = \"Mail\""]),
            argument("name", &["", "\"\"", "\"Orders\"", "null"]),
            argument("description", &["", "\"Takes orders.\"", "\"\"", "null"]),
            argument("order", &["", "0", "1", "-2147483648", "2147483647", ""]),
            argument(
                "group_id",
                &[
                    "",
                    "service_status_page_component_group.g[0].id",
                    "service_status_page_component_group.g[1].id",
                    "null",
                ],
            ),
            argument("group_order", &["", "0", "7", "-1", "null"]),
            argument(
                "monitor_id",
                &["service_tcp_monitor.m[\"{label}\"].id", "service_tcp_monitor.n.id"],
            ),
        ],
        support: PAGES,
        replacing: &["page_id", "type"],
    };
    sheet.verify().await;
}

#[tokio::test]
async fn group_arguments_replace_only_for_page() {
    let sheet = LifecycleCase {
        resource: "service_status_page_component_group",
        arguments: vec![
            argument("page_id", &["service_status_page.one.id", "service_status_page.two.id"]),
            argument("name", &["\"Shop\"", "\"Größe <&>\"", "\"x\""]),
        ],
        support: PAGES,
        replacing: &["page_id"],
    };
    sheet.verify().await;
}
