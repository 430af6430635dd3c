import {
  to = service_status_page_component.api
  identity = {
    page_id = "page_0de1m9fvnhq2s"
    id      = "cmp_0de1m9fvr4t7w"
  }
}
