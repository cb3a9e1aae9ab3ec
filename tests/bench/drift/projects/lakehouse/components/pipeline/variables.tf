variable "name" {
  description = "Name of the pipeline's resources"
  type        = string
}

variable "roles" {
  description = "Roles of the function and of the state machine"
  type = object({
    function = string
    machine  = string
  })
}

variable "settings" {
  description = "How the pipeline runs"
  type = object({
    memory      = optional(number, 256)
    timeout     = optional(number, 60)
    concurrency = optional(number, -1)
    log_days    = optional(number, 30)
    schedule    = optional(string)
    environment = optional(map(string), {})
    queue = optional(object({
      visibility     = optional(number, 180)
      retention_days = optional(number, 4)
      attempts       = optional(number, 5)
    }), {})
    retry = optional(object({
      attempts = optional(number, 2)
      interval = optional(number, 30)
      errors   = optional(list(string), ["States.Timeout"])
    }), {})
  })
  default = {}

  validation {
    condition     = var.settings.memory <= 2048
    error_message = "A step that needs more than 2048 MB belongs on the cluster."
  }

  validation {
    condition     = var.settings.timeout <= var.settings.queue.visibility
    error_message = "A message must stay hidden for as long as the function may run."
  }
}
