resource "service_status_page" "public" {
  title = "Example status"
  slug  = "example"
}

data "service_status_page" "public" {
  id = service_status_page.public.id
}

output "theme" {
  value = data.service_status_page.public.theme
}
