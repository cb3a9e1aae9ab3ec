variable "queue_visibility" {
  type    = number
  default = 60
}

variable "worker_retention" {
  type    = number
  default = 14

  validation {
    condition     = contains([1, 3, 5, 7, 14, 30], var.worker_retention)
    error_message = "Logs of workers are kept for at most 30 days."
  }
}

variable "import_delay" {
  type    = number
  default = 5

  validation {
    condition     = var.import_delay <= 10
    error_message = "An import waits for at most 10 seconds."
  }
}

variable "import_wait" {
  type    = number
  default = 10

  validation {
    condition     = var.import_wait >= 5 && var.import_wait <= 15
    error_message = "Long polling takes between 5 and 15 seconds."
  }
}

variable "import_visibility" {
  type    = number
  default = 120

  validation {
    condition     = var.import_visibility % 60 == 0
    error_message = "Visibility is given in whole minutes."
  }
}

variable "fleet_max" {
  type    = number
  default = 4

  validation {
    condition     = var.fleet_max <= 8
    error_message = "The budget pays for at most 8 instances."
  }
}

variable "error_threshold" {
  type    = number
  default = 5

  validation {
    condition     = var.error_threshold > 0 && var.error_threshold <= 20
    error_message = "An alarm above 20 errors helps nobody."
  }
}

variable "session_hours" {
  type    = number
  default = 1

  validation {
    condition     = var.session_hours <= 2
    error_message = "A session lasts for at most 2 hours."
  }
}
