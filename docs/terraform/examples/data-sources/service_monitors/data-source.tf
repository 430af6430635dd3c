data "service_monitors" "first" {
  limit  = 100
  offset = 0
}

output "names" {
  value = { for monitor in data.service_monitors.first.monitors : monitor.id => monitor.name }
}
