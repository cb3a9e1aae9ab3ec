variable "region" {
  description = "Where the consumer runs."
  type        = string
  default     = "us-east-1"
}

variable "environment" {
  description = "Name of the environment, part of every name."
  type        = string
  default     = "prod"
}

variable "consumers" {
  description = "How many consumer instances run when nothing unusual happens."
  type        = number

  validation {
    condition     = var.consumers >= 1
    error_message = "A consumer group without consumers loses messages after seven days."
  }
}

variable "log_groups" {
  description = "Log groups of the consumer, by component."
  type = map(object({
    retention = number
  }))
}
