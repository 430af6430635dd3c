import {
  to = service_status_page_component_group.shop
  id = "page_0de1m9fvnhq2s/grp_0de1m9fvr4t7w"
}
