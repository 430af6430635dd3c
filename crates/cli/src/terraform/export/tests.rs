//! Exports of workspaces built in memory.

use rules::tables::{HTTP_MONITOR, NOTIFICATION, STATUS_PAGE, STATUS_PAGE_COMPONENT};
use serde_json::json;

use super::*;

fn workspace(found: Vec<(&'static Resource, Json)>, reads_only: bool) -> Workspace {
    let found = found.into_iter().map(|(table, json)| Found { table, json });
    Workspace { found: found.collect(), reads_only }
}

fn exported(found: Vec<(&'static Resource, Json)>, reads_only: bool) -> Export {
    export_workspace(&workspace(found, reads_only), "http://user:pw@localhost/rpc")
}

fn monitor() -> Json {
    json!({
        "id": "mon_1", "name": "API ${x}", "url": "https://user:pw@example.com/", "periodicity": "30s",
        "method": "GET", "body": "a\nb", "timeout": 0, "effectiveDegradedAt": 1, "retry": 3,
        "followRedirects": false, "active": true, "public": false, "description": "",
        "regions": [], "headers": [{ "key": "X-Token", "value": "hidden" }],
        "statusCodeAssertions": [{ "target": 200, "comparator": "eq" }], "status": "active",
    })
}

/// Returns an export with a monitor, resources that refer to it, and a component whose monitor was
/// deleted.
fn acme() -> Export {
    exported(
        vec![
            (
                &STATUS_PAGE_COMPONENT,
                json!({"id": "cmp_1", "pageId": "page_1", "type": "monitor", "monitorId": "mon_1", "order": 0}),
            ),
            (
                &STATUS_PAGE_COMPONENT,
                json!({"id": "cmp_2", "pageId": "page_1", "type": "monitor", "name": "Gone"}),
            ),
            (
                &NOTIFICATION,
                json!({"id": "chn_1", "providerType": "slack", "monitorIds": ["mon_1", "mon_9"], "slack": {"webhookUrl": "https://hidden"}}),
            ),
            (&HTTP_MONITOR, monitor()),
            (
                &STATUS_PAGE,
                json!({"id": "page_1", "title": "監視", "slug": "status", "published": true}),
            ),
        ],
        false,
    )
}

#[test]
fn export_uses_references_and_omits_defaults() {
    insta::assert_snapshot!(acme().files[2].1, @r#"
    # service_status_page_component cmp_2 "Gone" is not exported: it needs `monitor_id`, whose object was deleted.

    resource "service_http_monitor" "api_x" {
      name             = "API $${x}"
      url              = var.http_monitor_api_x_url
      periodicity      = "30s"
      body             = "a\nb"
      timeout          = 0
      follow_redirects = false
      active           = true
      description      = ""

      headers {
        key   = "X-Token"
        value = var.http_monitor_api_x_headers_x_token_value
      }

      status_code_assertions {
        target     = 200
        comparator = "eq"
      }
    }

    resource "service_notification" "slack" {
      provider_type = "slack"
      monitor_ids   = [service_http_monitor.api_x.id, "mon_9"]

      slack {
        webhook_url = var.notification_slack_slack_webhook_url
      }
    }

    resource "service_status_page" "status" {
      title = "監視"
      slug  = "status"
    }

    resource "service_status_page_component" "api_x" {
      page_id    = service_status_page.status.id
      type       = "monitor"
      monitor_id = service_http_monitor.api_x.id
      order      = 0
    }
    "#);
    insta::assert_snapshot!(acme().files[3].1, @r#"
    import {
      to = service_http_monitor.api_x
      id = "mon_1"
    }

    import {
      to = service_notification.slack
      id = "chn_1"
    }

    import {
      to = service_status_page.status
      id = "page_1"
    }

    import {
      to = service_status_page_component.api_x
      id = "page_1/cmp_1"
    }
    "#);
}

#[test]
fn secrets_become_variables_with_separate_values() {
    let export = acme();
    assert!(!export.text().contains("hidden") && !export.text().contains("pw"));
    insta::assert_snapshot!(export.files[0].1, @r#"
    terraform {
      required_providers {
        service = {
          source  = "aloft/service"
          version = "~> 0.1"
        }
      }
    }

    # The key comes from SERVICE_API_TOKEN.
    provider "service" {
      base_url = "http://localhost/rpc"
    }
    "#);
    insta::assert_snapshot!(export.files[1].1, @r#"
    variable "http_monitor_api_x_url" {
      description = "`url` of service_http_monitor.api_x."
      type        = string
    }

    variable "http_monitor_api_x_headers_x_token_value" {
      description = "`headers[X-Token].value` of service_http_monitor.api_x."
      type        = string
    }

    variable "notification_slack_slack_webhook_url" {
      description = "`slack.webhook_url` of service_notification.slack."
      type        = string
      sensitive   = true
    }
    "#);
    insta::assert_snapshot!(export.secrets.expose(), @r#"
    http_monitor_api_x_url                   = "https://user:pw@example.com/"
    http_monitor_api_x_headers_x_token_value = "hidden"
    notification_slack_slack_webhook_url     = "https://hidden"
    "#);
    let summary = "exported 4 resources; set the values of 3 secret variables, or export \
                   with --with-secrets";
    assert_eq!(export.summary(false), summary);
    assert_eq!(export.summary(true), "exported 4 resources with 3 secrets");
}

/// Returns resources as a read key sees them.
fn masked() -> Vec<(&'static Resource, Json)> {
    vec![
        (&NOTIFICATION, json!({"id": "chn_1", "providerType": "ntfy", "ntfy": {"topic": "t"}})),
        (&NOTIFICATION, json!({"id": "chn_2", "providerType": "ntfy", "ntfy": {"topic": "t"}})),
        (
            &STATUS_PAGE,
            json!({"id": "page_1", "title": "Status", "slug": "status", "accessType": "password"}),
        ),
        (
            &HTTP_MONITOR,
            json!({
                "id": "mon_1", "name": "API", "url": "https://example.com/?…",
                "periodicity": "30s", "body": "…", "description": "Loading…",
            }),
        ),
    ]
}

#[test]
fn read_key_export_replaces_hidden_values_by_variables() {
    let export = exported(masked(), true);
    assert_eq!(export.secrets.expose(), "");
    insta::assert_snapshot!(export.files[1].1, @r#"
    variable "http_monitor_api_url" {
      description = "`url` of service_http_monitor.api."
      type        = string
    }

    variable "http_monitor_api_body" {
      description = "`body` of service_http_monitor.api."
      type        = string
    }

    variable "notification_ntfy_ntfy_token" {
      description = "`ntfy.token` of service_notification.ntfy."
      type        = string
      sensitive   = true
      default     = null
    }

    variable "notification_ntfy_2_ntfy_token" {
      description = "`ntfy.token` of service_notification.ntfy_2."
      type        = string
      sensitive   = true
      default     = null
    }

    variable "status_page_status_password" {
      description = "`password` of service_status_page.status."
      type        = string
      sensitive   = true
    }
    "#);
    insta::assert_snapshot!(export.files[2].1, @r#"
    # Exported with a read key: credentials in URLs are missing, and optional secrets are
    # variables that may be null.

    resource "service_http_monitor" "api" {
      name        = "API"
      url         = var.http_monitor_api_url
      periodicity = "30s"
      body        = var.http_monitor_api_body
      description = "Loading…"
    }

    resource "service_notification" "ntfy" {
      provider_type = "ntfy"

      ntfy {
        topic = "t"
        token = var.notification_ntfy_ntfy_token
      }
    }

    resource "service_notification" "ntfy_2" {
      provider_type = "ntfy"

      ntfy {
        topic = "t"
        token = var.notification_ntfy_2_ntfy_token
      }
    }

    resource "service_status_page" "status" {
      title       = "Status"
      slug        = "status"
      access_type = "password"
      password    = var.status_page_status_password
    }
    "#);
}

#[test]
fn empty_workspace_exports_only_the_provider() {
    let export = exported(Vec::new(), false);
    assert_eq!(export.text(), export.files[0].1);
    assert_eq!(export.summary(false), "exported 0 resources");
}
