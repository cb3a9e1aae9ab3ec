variable "create" {
  type    = bool
  default = true
}

variable "name" {
  type = string
}

variable "defaults" {
  type    = any
  default = {}
}

variable "settings" {
  type    = any
  default = {}
}

variable "visibility_timeout_seconds" {
  type    = number
  default = null
}

variable "message_retention_seconds" {
  type    = number
  default = null
}

variable "tags" {
  type    = map(string)
  default = {}
}
