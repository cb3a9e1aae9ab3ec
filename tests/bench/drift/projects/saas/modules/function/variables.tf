variable "name" {
  type = string
}

variable "role_arn" {
  type = string
}

variable "memory" {
  type    = number
  default = 128
}

variable "timeout" {
  type    = number
  default = 3
}

variable "concurrency" {
  description = "Reserved concurrency; -1 for none"
  type        = number
  default     = -1
}

variable "environment" {
  type    = map(string)
  default = {}
}
