import {
  to = service_notification.on_call
  identity = {
    id = "chn_0de1m9fvnhq2s"
  }
}
