resource "service_http_monitor" "api" {
  name        = "API"
  url         = "https://example.com/health"
  periodicity = "1m"
}

# Exactly one block, and it is the one that `provider_type` names.
resource "service_notification" "on_call" {
  name          = "On call"
  provider_type = "webhook"
  monitor_ids   = [service_http_monitor.api.id]

  webhook {
    endpoint = "https://hooks.example.com/aloft"

    headers {
      key   = "X-Team"
      value = "core"
    }
  }
}

resource "service_notification" "chat" {
  name          = "Chat"
  provider_type = "slack"
  monitor_ids   = [service_http_monitor.api.id]

  slack {
    webhook_url = "https://hooks.slack.com/services/T000/B000/XXXX"
  }
}

# A token that stands neither in the plan nor in the state. Another version says that it changed.
resource "service_notification" "push" {
  name          = "Push"
  provider_type = "ntfy"

  ntfy {
    topic            = "alerts"
    server_url       = "https://ntfy.example.com"
    token_wo         = "tk_example"
    token_wo_version = 1
  }
}
