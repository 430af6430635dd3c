resource "service_tcp_monitor" "database" {
  name        = "Database"
  uri         = "db.example.com:5432"
  periodicity = "30s"
}

# One monitor of any kind. Those of an existing workspace have ids such as mon_0de1m9fvnhq2s.
data "service_monitor" "database" {
  id = service_tcp_monitor.database.id
}

output "target" {
  value = data.service_monitor.database.uri
}
