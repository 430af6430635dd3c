resource "service_tcp_monitor" "database" {
  name        = "Database"
  description = "The port of the primary."
  uri         = "db.example.com:5432"
  periodicity = "30s"
  timeout     = 5000
  degraded_at = 500
  retry       = 1
  tags        = ["prod"]
  regions     = ["fly-fra", "koyeb-fra"]
  active      = true
  public      = false
}
