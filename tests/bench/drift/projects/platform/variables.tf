variable "environment" {
  description = "Which environment this is"
  type        = string
  default     = "production"
}

variable "deregistration_delay" {
  description = "How long a target is drained, in seconds"
  type        = number
  default     = 120
}

variable "runner_max" {
  description = "The most build runners"
  type        = number

  validation {
    condition     = var.runner_max <= 6
    error_message = "The licence of the build system allows 6 runners."
  }
}

variable "idle_timeout" {
  description = "Idle timeout of the load balancer, in seconds"
  type        = number
  default     = 60

  validation {
    condition     = var.idle_timeout >= 30 && var.idle_timeout <= 300
    error_message = "The gateway in front of us needs an idle timeout between 30 and 300 seconds."
  }
}

variable "workers" {
  description = "Workers without a port, by name"
  type = map(object({
    desired_count = optional(number, 1)
    visibility    = optional(number, 60)
  }))

  validation {
    condition     = alltrue([for worker in values(var.workers) : worker.visibility <= 600])
    error_message = "A job that takes longer than 600 seconds must be split."
  }
}

variable "admin_ports" {
  description = "Ports that the office may reach"
  type = set(object({
    port  = number
    cidrs = list(string)
    about = string
  }))
}

variable "release_topic_name" {
  description = "Name that people see as the sender of release notes"
  type        = string
  default     = null
}
