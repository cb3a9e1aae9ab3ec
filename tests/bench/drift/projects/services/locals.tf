locals {
  name = "services-${var.environment}"

  tier_ports = {
    web = 8080
    api = 9090
  }

  hosts = {
    www  = "192.0.2.10"
    docs = "192.0.2.11"
  }
}

variable "key_purposes" {
  type    = list(string)
  default = ["orders", "media"]
}

variable "environment" {
  type    = string
  default = "staging"
}
