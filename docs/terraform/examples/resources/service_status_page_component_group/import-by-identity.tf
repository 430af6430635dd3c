import {
  to = service_status_page_component_group.shop
  identity = {
    page_id = "page_0de1m9fvnhq2s"
    id      = "grp_0de1m9fvr4t7w"
  }
}
