resource "service_http_monitor" "everywhere" {
  name        = "Homepage"
  url         = "https://example.com/"
  periodicity = "5m"
  regions     = concat(provider::service::regions("koyeb"), ["fly-ams"])
}
