data "service_regions" "fly" {
  group = "fly"
}

# Everywhere in Germany.
resource "service_http_monitor" "german" {
  name        = "German site"
  url         = "https://example.com/de"
  periodicity = "5m"

  regions = [for region in data.service_regions.fly.regions : region.id if region.country == "DE"]
}
