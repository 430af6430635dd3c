data "service_api_keys" "writing" {
  scope = "write"
}

# Keys that never expire and are not revoked.
output "endless_keys" {
  value = [
    for key in data.service_api_keys.writing.api_keys : key.name
    if key.expires_at == null && key.revoked_at == null
  ]
}
