import {
  to = service_http_monitor.api
  identity = {
    id = "mon_0de1m9fvnhq2s"
  }
}
