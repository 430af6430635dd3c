import {
  to = service_dns_monitor.zone
  id = "mon_0de1m9fvnhq2s"
}
