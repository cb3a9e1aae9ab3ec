variable "environment" {
  type = string
}

variable "log_days" {
  description = "How long logs are kept unless a pipeline says otherwise, in days"
  type        = number
  default     = 30
}

variable "tiers" {
  description = "What a pipeline gets by its tier"
  type = map(object({
    memory      = number
    timeout     = number
    concurrency = optional(number)
  }))
}

variable "pipelines" {
  description = "The pipelines by name; what one leaves out comes from its tier"
  type = map(object({
    tier        = optional(string, "small")
    memory      = optional(number)
    timeout     = optional(number)
    log_days    = optional(number)
    schedule    = optional(string)
    environment = optional(map(string))
    queue = optional(object({
      visibility     = optional(number)
      retention_days = optional(number)
      attempts       = optional(number)
    }))
    retry = optional(object({
      attempts = optional(number)
      interval = optional(number)
      errors   = optional(list(string))
    }))
  }))
}

variable "streams" {
  description = "The streams by name, as the component takes them"
  type        = any
}

variable "tables" {
  description = "The tables of the catalogue, as the component takes them"
  type        = any
}

variable "parameters" {
  description = "What consumers read at their start"
  type        = map(string)
  default     = {}

  validation {
    condition     = can(regex("^(hourly|daily|weekly)$", lookup(var.parameters, "snapshot", "daily")))
    error_message = "Snapshots are taken hourly, daily or weekly."
  }
}

variable "quality" {
  description = "When the quality of the data wakes somebody"
  type = object({
    rejected  = optional(number, 100)
    periods   = optional(number, 2)
    retention = optional(number, 14)
  })
  default = {}

  validation {
    condition     = var.quality.rejected <= 500
    error_message = "More than 500 rejected records in a minute must wake somebody."
  }
}
