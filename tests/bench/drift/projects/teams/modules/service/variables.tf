variable "name" {
  type = string
}

variable "description" {
  type = string
}

variable "log_days" {
  description = "How long the logs of the service are kept"
  type        = number

  validation {
    condition     = var.log_days >= 30
    error_message = "An incident is looked into within a month, so logs are kept for at least 30 days."
  }
}

variable "function" {
  description = "The function of the service"
  type = object({
    runtime     = string
    memory      = number
    timeout     = number
    concurrency = optional(number, -1)
    environment = optional(map(string), {})
  })

  validation {
    condition     = var.function.memory <= 2048
    error_message = "A service that needs more than 2048 MB is not for a function."
  }
}

variable "access" {
  description = "What the service may do"
  type = list(object({
    sid       = string
    actions   = list(string)
    resources = list(string)
  }))
}

variable "tags" {
  type = map(string)
}
