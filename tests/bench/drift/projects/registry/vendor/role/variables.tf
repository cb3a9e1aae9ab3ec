variable "name" {
  type = string
}

variable "description" {
  type    = string
  default = null
}

variable "max_session_duration" {
  type    = number
  default = null
}

variable "trusted_role_services" {
  type    = list(string)
  default = []
}

variable "inline_policy_statements" {
  type    = any
  default = []
}

variable "policies" {
  type    = map(string)
  default = {}
}

variable "tags" {
  type    = map(string)
  default = {}
}
