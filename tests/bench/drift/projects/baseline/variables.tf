variable "account" {
  description = "Name of the account"
  type        = string
}

variable "session_hours" {
  description = "How long somebody may act in a role that says nothing else"
  type        = number
  default     = 4

  validation {
    condition     = var.session_hours >= 1 && var.session_hours <= 8
    error_message = "Nobody works longer than 8 hours at a time, so no session lasts longer."
  }
}

variable "password_length" {
  description = "How many characters a password has at least"
  type        = number
  default     = 16

  validation {
    condition     = var.password_length >= 14
    error_message = "CIS 1.8 asks for passwords of at least 14 characters."
  }
}

variable "roles" {
  description = "Roles of people and of tools, by name"
  type = map(object({
    trusted  = list(string)
    policies = optional(list(string), [])
    hours    = optional(number)
    tags     = optional(map(string), {})
  }))

  validation {
    condition     = alltrue([for role in values(var.roles) : coalesce(role.hours, 1) <= 8])
    error_message = "Nobody works longer than 8 hours at a time, so no session lasts longer."
  }
}

variable "retention" {
  description = "How many days logs are kept, by log"
  type        = map(number)
  default     = { trail = 400, audit = 400 }

  validation {
    condition     = alltrue([for days in values(var.retention) : days >= 365])
    error_message = "PCI DSS 10.5.1 wants the logs of a whole year (365 days)."
  }
}

variable "scanners" {
  description = "Networks that the scanner of vulnerabilities comes from"
  type        = list(string)
}

variable "alerts" {
  description = "The topic of alerts"
  type = object({
    name         = string
    display_name = optional(string)
  })
  default = { name = "security-alerts" }
}

variable "tags" {
  type    = map(string)
  default = {}
}
