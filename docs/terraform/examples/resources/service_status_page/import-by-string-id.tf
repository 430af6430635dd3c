import {
  to = service_status_page.public
  id = "page_0de1m9fvnhq2s"
}
