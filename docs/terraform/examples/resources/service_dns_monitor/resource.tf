resource "service_dns_monitor" "zone" {
  name        = "Zone"
  description = "Where the site and its mail are."
  uri         = "example.com"
  periodicity = "5m"
  timeout     = 4000
  degraded_at = 1000
  retry       = 2
  regions     = ["fly-lhr", "railway-us-west2"]
  active      = true
  public      = true

  record_assertions {
    record     = "A"
    target     = "192.0.2.1"
    comparator = "eq"
  }

  record_assertions {
    record     = "MX"
    target     = "10 mail.example.com"
    comparator = "eq"
  }

  record_assertions {
    record     = "TXT"
    target     = "v=spf1"
    comparator = "contains"
  }
}
