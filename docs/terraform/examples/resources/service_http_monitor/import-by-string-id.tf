import {
  to = service_http_monitor.api
  id = "mon_0de1m9fvnhq2s"
}
