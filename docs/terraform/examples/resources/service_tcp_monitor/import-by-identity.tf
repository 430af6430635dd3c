import {
  to = service_tcp_monitor.database
  identity = {
    id = "mon_0de1m9fvnhq2s"
  }
}
