variable "name" {
  description = "Name of the tenant's resources"
  type        = string
}

variable "settings" {
  description = "What the tenant has of its tier"
  type        = any
  default     = {}

  validation {
    condition     = try(var.settings.visibility, 30) <= 300
    error_message = "Consumers give up an event after 300 seconds."
  }
}

variable "visibility" {
  description = "Visibility timeout of the queue, whatever the tier says"
  type        = number
  default     = null

  validation {
    condition     = coalesce(var.visibility, 30) <= 300
    error_message = "Consumers give up an event after 300 seconds."
  }
}

variable "log_retention" {
  description = "How long the audit log is kept, in days"
  type        = number
  default     = 365

  validation {
    condition     = var.log_retention >= 90
    error_message = "The auditors need the log for at least 90 days."
  }
}

variable "tags" {
  type    = map(string)
  default = {}
}
