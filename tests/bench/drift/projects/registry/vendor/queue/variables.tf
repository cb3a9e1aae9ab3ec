variable "create" {
  type    = bool
  default = true
}

variable "name" {
  type = string
}

variable "visibility_timeout_seconds" {
  type    = number
  default = 30
}

variable "message_retention_seconds" {
  type    = number
  default = 345600
}

variable "settings" {
  type    = map(number)
  default = {}
}

variable "create_dlq" {
  type    = bool
  default = false
}

variable "dlq_name" {
  type    = string
  default = null
}

variable "dlq_visibility_timeout_seconds" {
  type    = number
  default = null
}

variable "dlq_tags" {
  type    = map(string)
  default = {}
}

variable "redrive_policy" {
  type    = map(number)
  default = {}
}

variable "tags" {
  type    = map(string)
  default = {}
}
