variable "environment" {
  description = "Where this runs"
  type        = string
}

variable "recovery" {
  description = "Whether tables can be restored to any second"
  type        = bool
}

variable "table_protection" {
  description = "Whether tables are protected from deletion"
  type        = bool
  default     = true
}

variable "dead_letter_days" {
  description = "How long messages that nobody could handle are kept"
  type        = number
  default     = 14

  validation {
    condition     = var.dead_letter_days >= 7
    error_message = "Nobody looks at dead letters more often than once a week, so they are kept for at least 7 days."
  }
}

variable "support" {
  description = "What the support desk may reach"
  type = list(object({
    port  = number
    cidrs = list(string)
  }))
}

variable "session_seconds" {
  description = "How long a deployment may run, in seconds, by environment"
  type        = map(number)
  default     = { production = 3600, staging = 7200 }

  validation {
    condition     = alltrue([for seconds in values(var.session_seconds) : seconds <= 10800])
    error_message = "A deployment that takes longer than 3 hours (10800 seconds) is broken."
  }
}
