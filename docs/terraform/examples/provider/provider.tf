terraform {
  required_providers {
    service = {
      source  = "aloft/service"
      version = "~> 0.1"
    }
  }
}

# The key comes from SERVICE_API_TOKEN and the address from SERVICE_API_URL where they are left out.
provider "service" {
  base_url        = "http://127.0.0.1:8080/rpc"
  request_timeout = 30
  max_retries     = 6
}
