variable "hosts" {
  description = "Addresses of the private zone"
  type        = map(string)
}

variable "queues" {
  description = "Queues of the automation, by name"
  type = map(object({
    visibility = optional(number, 60)
    wait       = optional(number, 10)
    attempts   = optional(number)
  }))
}

variable "bastions" {
  description = "Groups of bastions"
  type        = any
  default     = {}
}

variable "engineer_session_hours" {
  description = "How long an engineer may stay logged in, in hours"
  type        = number
  default     = 2

  validation {
    condition     = var.engineer_session_hours >= 1 && var.engineer_session_hours <= 4
    error_message = "Nobody stays in the network account for longer than 4 hours."
  }
}

variable "dns" {
  description = "How the private zone answers"
  type = object({
    ttl     = number
    comment = optional(string, "Names of the hub")
  })
  default = { ttl = 300 }

  validation {
    condition     = var.dns.ttl >= 60
    error_message = "The resolvers of the offices ignore a time to live below 60 seconds."
  }
}

variable "report_memory" {
  description = "Memory of the nightly report in MB"
  type        = number
  default     = 256

  validation {
    condition     = contains([128, 256, 512, 1024], var.report_memory)
    error_message = "The report was measured with 128, 256, 512 and 1024 MB only."
  }
}

variable "tunnel_threshold" {
  description = "Dropped packets in a minute that wake somebody"
  type        = number
  default     = 50
}
