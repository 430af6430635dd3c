resource "service_http_monitor" "home" {
  name        = "Homepage"
  url         = "https://example.com/"
  periodicity = "5m"
}

output "checks_per_day" {
  value = 86400 / provider::service::periodicity_seconds(service_http_monitor.home.periodicity)
}
