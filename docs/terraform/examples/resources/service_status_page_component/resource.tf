resource "service_status_page" "public" {
  title = "Example status"
  slug  = "example"
}

resource "service_status_page_component_group" "shop" {
  page_id = service_status_page.public.id
  name    = "Shop"
}

resource "service_http_monitor" "api" {
  name        = "API"
  url         = "https://example.com/health"
  periodicity = "1m"
}

resource "service_status_page_component" "api" {
  page_id     = service_status_page.public.id
  type        = "monitor"
  monitor_id  = service_http_monitor.api.id
  name        = "Orders"
  description = "Takes orders."
  order       = 1
  group_id    = service_status_page_component_group.shop.id
  group_order = 1
}

# Shows what people report of it.
resource "service_status_page_component" "support" {
  page_id = service_status_page.public.id
  type    = "static"
  name    = "Support desk"
  order   = 2
}
