resource "service_notification" "mail" {
  name          = "Mail"
  provider_type = "email"

  email {
    email = "ops@example.com"
  }
}

data "service_notification" "mail" {
  id = service_notification.mail.id
}

output "provider_type" {
  value = data.service_notification.mail.provider_type
}
