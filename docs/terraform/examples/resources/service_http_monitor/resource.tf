resource "service_http_monitor" "api" {
  name        = "API"
  description = "Answers orders of the shop."
  url         = "https://example.com/orders"
  method      = "POST"
  body        = jsonencode({ dry_run = true })
  periodicity = "1m"
  timeout     = 10000
  degraded_at = 2000
  retry       = 2
  tags        = ["shop", "prod"]
  regions     = ["fly-ams", "fly-iad", "fly-sin"]
  active      = true
  public      = true

  follow_redirects      = false
  ip_version            = "ipv4"
  certificate_warn_days = 14

  headers {
    key   = "Content-Type"
    value = "application/json"
  }

  headers {
    key   = "X-Team"
    value = "core"
  }

  status_code_assertions {
    target     = 200
    comparator = "eq"
  }

  body_assertions {
    target     = "\"accepted\""
    comparator = "contains"
  }

  json_assertions {
    path       = "$.queue.waiting"
    target     = "100"
    comparator = "lt"
  }

  header_assertions {
    key        = "Content-Type"
    target     = "application/json"
    comparator = "contains"
  }
}

# For a server that requires a certificate from its clients. The state has the key; `client_key_wo` keeps it out.
resource "service_http_monitor" "partner" {
  name               = "Interface of a partner"
  url                = "https://partner.example.com/"
  periodicity        = "5m"
  client_certificate = file("client.pem")
  client_key         = file("client.key")
}

# Only what is required. It does not run before `active` is set.
resource "service_http_monitor" "home" {
  name        = "Homepage"
  url         = "https://example.com/"
  periodicity = "10m"
}
