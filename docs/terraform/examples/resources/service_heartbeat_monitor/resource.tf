resource "service_heartbeat_monitor" "backup" {
  name        = "Nightly backup"
  description = "Its cron job runs at two in the morning."
  interval    = 86400
  grace       = 3600
  tags        = ["prod"]
  active      = true
  public      = false
}

# The job calls this URL. Whoever knows it can report for the job.
output "backup_url" {
  value     = service_heartbeat_monitor.backup.url
  sensitive = true
}
