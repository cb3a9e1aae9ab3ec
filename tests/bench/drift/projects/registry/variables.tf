variable "functions" {
  description = "The functions, by name; what is left out has the module's default."
  type        = any
}

variable "tags" {
  type = map(string)
  default = {
    project = "registry"
  }
}

variable "orders_visibility" {
  type    = number
  default = 60
}
