import {
  to = service_heartbeat_monitor.backup
  identity = {
    id = "mon_0de1m9fvnhq2s"
  }
}
