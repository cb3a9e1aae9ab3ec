variable "retention_days" {
  description = "How many days the log of a source that says nothing else is kept"
  type        = number
  default     = 30
}

variable "intakes" {
  description = "Findings and other events of the account, each into a queue of its own"
  type = map(object({
    enabled     = optional(bool, true)
    paused      = optional(bool, false)
    sources     = list(string)
    details     = optional(list(string), [])
    keep_days   = optional(number, 4)
    visibility  = optional(number)
    tries       = optional(number, 5)
    dead_letter = optional(bool, true)
  }))

  validation {
    condition     = alltrue([for intake in values(var.intakes) : intake.tries >= 1 && intake.tries <= 10])
    error_message = "An event that failed 10 times is for a human, so tries are 1 to 10."
  }
}

variable "capacity" {
  description = "Units of the table of incidents"
  type = object({
    read  = number
    write = optional(number, 5)
  })

  validation {
    condition     = var.capacity.read <= 25
    error_message = "The table of incidents may read with 25 units at most; ask the cost board for more."
  }
}

variable "settings" {
  description = "Settings of the agents that differ from their defaults"
  type        = map(string)
  default     = {}
}
