variable "create_table" {
  type    = bool
  default = true
}

variable "name" {
  type = string
}

variable "billing_mode" {
  type    = string
  default = "PROVISIONED"
}

variable "hash_key" {
  type = string
}

variable "attributes" {
  type    = list(map(string))
  default = []
}

variable "read_capacity" {
  type    = number
  default = 5
}

variable "write_capacity" {
  type    = number
  default = 5
}

variable "deletion_protection_enabled" {
  type    = bool
  default = null
}

variable "point_in_time_recovery_enabled" {
  type    = bool
  default = false
}

variable "ttl_enabled" {
  type    = bool
  default = false
}

variable "ttl_attribute_name" {
  type    = string
  default = ""
}
