data "service_monitors" "first" {
  limit  = 100
  offset = 0
}

# The monitors with both tags.
data "service_monitors" "shop" {
  tags = ["shop", "prod"]
}

output "names" {
  value = { for monitor in data.service_monitors.first.monitors : monitor.id => monitor.name }
}
