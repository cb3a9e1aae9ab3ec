variable "context" {
  type = object({
    enabled = bool
    id      = string
    tags    = map(string)
  })
}

variable "intake" {
  type = object({
    paused      = bool
    sources     = list(string)
    details     = list(string)
    keep_days   = number
    visibility  = optional(number)
    tries       = number
    dead_letter = bool
  })

  validation {
    condition     = coalesce(var.intake.visibility, 60) <= 900
    error_message = "A worker runs for 15 minutes at most, so an event is hidden for 900 seconds at most."
  }
}
