variable "desired" {
  type = number
}

variable "retention" {
  type    = number
  default = 30
}

variable "teams" {
  type = map(object({ days = number }))
}

locals {
  most = 8
}
