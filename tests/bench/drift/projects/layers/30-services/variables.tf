variable "environment" {
  description = "Where this runs"
  type        = string
}

variable "queues" {
  description = "Queues, as the wrapper of the module takes them"
  type        = any
}

variable "workers" {
  description = "Workers by name"
  type = map(object({
    queue       = string
    batch       = optional(number, 10)
    memory      = optional(number, 256)
    timeout     = optional(number, 30)
    environment = optional(map(string), {})
    actions     = optional(list(string), ["dynamodb:GetItem"])
  }))
}

variable "worker_log_days" {
  description = "How long the logs of workers are kept"
  type        = number
  default     = 60

  validation {
    condition     = contains([30, 60, 90, 180], var.worker_log_days)
    error_message = "Finance pays for logs of 30, 60, 90 or 180 days."
  }
}

variable "fleet" {
  description = "The instances that render documents"
  type = object({
    type      = string
    min       = number
    max       = number
    desired   = number
    suspended = optional(list(string))
  })
}

variable "thresholds" {
  description = "How many messages may wait in a queue before somebody is called, by queue"
  type        = map(number)
  default     = {}
}
