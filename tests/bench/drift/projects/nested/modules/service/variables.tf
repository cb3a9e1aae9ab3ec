variable "name" {
  type = string
}

variable "memory" {
  type    = number
  default = 128
}

variable "timeout" {
  type    = number
  default = 5
}

variable "log_days" {
  type    = number
  default = 30
}

variable "level" {
  type    = string
  default = "info"
}

variable "tags" {
  type    = map(string)
  default = {}
}
