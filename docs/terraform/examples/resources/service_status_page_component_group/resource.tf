resource "service_status_page" "public" {
  title = "Example status"
  slug  = "example"
}

resource "service_status_page_component_group" "shop" {
  page_id = service_status_page.public.id
  name    = "Shop"
}
