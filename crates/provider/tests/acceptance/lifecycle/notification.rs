//! Notification channels: one changes through all kinds in place.

use super::{Argument, LifecycleCase};

const KINDS: &[&str] = &[
    "\nprovider_type = \"discord\"\ndiscord {\n webhook_url = \"https://discord.com/api/webhooks/1/a\"\n}\n",
    "\nprovider_type = \"email\"\nemail {\n email = \"ops@example.com\"\n}\n",
    "\nprovider_type = \"slack\"\nslack {\n webhook_url = \"https://hooks.slack.com/services/T/B/X\"\n}\n",
    "\nprovider_type = \"pagerduty\"\npagerduty {\n integration_key = \"key\"\n}\n",
    "\nprovider_type = \"opsgenie\"\nopsgenie {\n api_key = \"key\"\n region = \"eu\"\n}\n",
    "\nprovider_type = \"webhook\"\nwebhook {\n endpoint = \"https://user:secret@example.com/hook\"\n headers {\n  key = \"B\"\n  value = \"2\"\n }\n headers {\n  key = \"A\"\n  value = \"\"\n }\n}\n",
    "\nprovider_type = \"telegram\"\ntelegram {\n chat_id = \"@ops\"\n}\n",
    "\nprovider_type = \"sms\"\nsms {\n phone_number = \"+4915112345678\"\n}\n",
    "\nprovider_type = \"whatsapp\"\nwhatsapp {\n phone_number = \"+12\"\n}\n",
    "\nprovider_type = \"google_chat\"\ngoogle_chat {\n webhook_url = \"https://chat.googleapis.com/v1/spaces/A\"\n}\n",
    "\nprovider_type = \"grafana_oncall\"\ngrafana_oncall {\n webhook_url = \"https://oncall.example.com/a\"\n}\n",
    "\nprovider_type = \"ntfy\"\nntfy {\n topic = \"alerts\"\n server_url = \"https://ntfy.example.com\"\n token = \"tk_1\"\n}\n",
    "\nprovider_type = \"ms_teams\"\nms_teams {\n webhook_url = \"https://acme.webhook.office.com/a\"\n}\n",
];

#[tokio::test]
async fn channel_arguments_and_kinds_change_in_place() {
    let sheet = LifecycleCase {
        resource: "service_notification",
        arguments: vec![
            Argument { name: "name", texts: &["", "\"\"", "\"On call <&>\"", "null", "\"x\""] },
            Argument {
                name: "monitor_ids",
                texts: &[
                    "",
                    "[service_tcp_monitor.m[0].id]",
                    "[service_tcp_monitor.m[1].id, service_tcp_monitor.m[0].id]",
                    "[]",
                    "service_tcp_monitor.m[*].id",
                    "null",
                ],
            },
            Argument { name: "kind", texts: KINDS },
        ],
        support: "
resource \"service_tcp_monitor\" \"m\" {
  count       = 3
  name        = \"m\"
  uri         = \"example.com:443\"
  periodicity = \"1m\"
}
resource \"service_notification\" \"plain\" {
  provider_type = \"ntfy\"
  ntfy {
    topic = \"alerts\"
  }
}
",
        replacing: &[],
    };
    sheet.verify().await;
}
