variable "function_defaults" {
  description = "What a function has unless it says otherwise"
  type = object({
    memory  = number
    timeout = number
  })
}

variable "webhook_timeout" {
  description = "How long a webhook may run, in seconds"
  type        = number
  default     = 20

  validation {
    condition     = var.webhook_timeout <= 60
    error_message = "A webhook that runs longer than 60 seconds belongs on the queue."
  }
}

variable "log_level" {
  description = "Log level of all functions"
  type        = string
  default     = "info"

  validation {
    condition     = contains(["debug", "info", "warn"], var.log_level)
    error_message = "The log level is debug, info or warn."
  }
}

variable "error_threshold" {
  description = "Errors in a minute that wake somebody"
  type        = number
  default     = 5
}

variable "queue_settings" {
  description = "Settings of the ingest queue, as the pipeline hands them over"
  type        = map(string)
  default     = {}
}
