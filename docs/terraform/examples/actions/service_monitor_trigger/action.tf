# Needs Terraform 1.14.
action "service_monitor_trigger" "api" {
  config {
    id           = service_http_monitor.api.id
    must_succeed = true
  }
}

resource "service_http_monitor" "api" {
  name        = "API"
  url         = "https://example.com/health"
  periodicity = "1m"

  lifecycle {
    action_trigger {
      events  = [after_create, after_update]
      actions = [action.service_monitor_trigger.api]
    }
  }
}
