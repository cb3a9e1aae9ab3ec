variable "environment" {
  type    = string
  default = "prod"
}

variable "consumers" {
  type = number

  validation {
    condition     = var.consumers >= 1
    error_message = "A consumer group without consumers loses messages after seven days."
  }
}

variable "log_groups" {
  type = map(object({
    retention = number
  }))
}

variable "reports_password" {
  type      = string
  sensitive = true
}

locals {
  name               = "kafka-consumer"
  longest_visibility = 15 * 60

  tags = {
    owner       = "streaming"
    environment = var.environment
  }
}
