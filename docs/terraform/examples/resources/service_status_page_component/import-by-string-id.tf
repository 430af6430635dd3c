import {
  to = service_status_page_component.api
  id = "page_0de1m9fvnhq2s/cmp_0de1m9fvr4t7w"
}
