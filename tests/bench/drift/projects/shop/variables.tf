variable "create_spot_workers" {
  type    = bool
  default = true
}

variable "retention" {
  description = "How long services keep their logs, in days"
  type        = number
  default     = 14
}

variable "idle_timeout" {
  description = "Seconds after which the balancer closes a silent connection"
  type        = number
  default     = 90

  validation {
    condition     = var.idle_timeout >= 60 && var.idle_timeout <= 180
    error_message = "The payment provider wants between 60 and 180 seconds."
  }
}

variable "worker_sizes" {
  description = "Instances of each group of workers"
  type        = map(object({ min = number, max = number }))
  default = {
    jobs = { min = 1, max = 4 }
    spot = { min = 0, max = 8 }
  }

  validation {
    condition     = alltrue([for size in values(var.worker_sizes) : size.max <= 10])
    error_message = "The subnets have room for 10 workers in a group."
  }
}

variable "database" {
  type = any
  default = {
    instance_class = "db.t3.large"
    multi_az       = true
  }
}

variable "database_storage" {
  description = "Storage of the database in GB"
  type        = number
  default     = 50

  validation {
    condition     = var.database_storage <= 100 && var.database_storage % 10 == 0
    error_message = "Storage is bought in steps of 10 GB up to 100 GB."
  }
}

variable "image_tag" {
  type    = string
  default = "v41"
}
