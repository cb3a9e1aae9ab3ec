variable "environment" {
  type    = string
  default = "staging"
}

variable "queues" {
  description = "The work queues, by name."
  type = map(object({
    visibility = number
    delay      = optional(number, 0)
    alarm_at   = optional(number)
    tags       = optional(map(string), {})
  }))
}

variable "teams" {
  type = list(string)
}

variable "extra_roles" {
  type    = map(object({ hours = number }))
  default = {}
}

variable "topics" {
  type    = list(string)
  default = ["orders", "returns", "invoices"]
}

variable "topic_titles" {
  type    = list(string)
  default = ["Orders", "Returns", "Invoices"]
}

variable "limit_names" {
  type    = list(string)
  default = ["orders", "returns"]
}

variable "limit_values" {
  type    = list(string)
  default = ["100", "20"]
}

variable "doors" {
  description = "Open ports of the servers."
  type = list(object({
    name  = string
    port  = number
    cidrs = list(string)
  }))
}
