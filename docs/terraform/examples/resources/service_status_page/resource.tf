resource "service_status_page" "public" {
  title         = "Example status"
  slug          = "example"
  description   = "How the services of Example are doing."
  homepage_url  = "https://example.com"
  contact_url   = "mailto:help@example.com"
  icon          = "https://example.com/icon.png"
  custom_domain = "status.example.com"
  access_type   = "public"
}

resource "service_status_page" "internal" {
  title       = "Internal status"
  slug        = "internal"
  access_type = "email-domain"

  auth_email_domains = ["example.com", "example.org"]
}

# A password that stands neither in the plan nor in the state. Another version says that it changed.
resource "service_status_page" "customers" {
  title       = "Status for customers"
  slug        = "customers"
  access_type = "password"

  password_wo         = "correct horse battery staple"
  password_wo_version = 1
}
