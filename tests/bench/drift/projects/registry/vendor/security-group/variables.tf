variable "create" {
  type    = bool
  default = true
}

variable "name" {
  type = string
}

variable "description" {
  type    = string
  default = "Security group"
}

variable "vpc_id" {
  type = string
}

variable "ingress_with_cidr_blocks" {
  type    = list(map(string))
  default = []
}

variable "ingress_cidr_blocks" {
  type    = list(string)
  default = ["10.0.0.0/8"]
}

variable "rules" {
  description = "Known rules: first port, last port, protocol."
  type        = map(list(any))
  default = {
    https      = [443, 443, "tcp"]
    postgresql = [5432, 5432, "tcp"]
    _          = [0, 0, "-1"]
  }
}

variable "tags" {
  type    = map(string)
  default = {}
}
