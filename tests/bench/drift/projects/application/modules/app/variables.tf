variable "stage" {
  type = string
}

variable "name" {
  type = string
}

variable "size" {
  type    = string
  default = "t3.small"
}

variable "instances" {
  type = object({
    min     = number
    max     = number
    desired = number
  })
}

variable "error_limit" {
  type    = number
  default = 100
}

variable "long_polling" {
  type    = bool
  default = false
}
