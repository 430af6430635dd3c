import {
  to = service_dns_monitor.zone
  identity = {
    id = "mon_0de1m9fvnhq2s"
  }
}
