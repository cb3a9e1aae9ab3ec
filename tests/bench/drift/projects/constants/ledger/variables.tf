variable "queues" {
  description = "Queues of the ledger; what a queue does not say is the company's"
  type = map(object({
    visibility = optional(number)
    keep_days  = optional(number)
    delay      = optional(number, 0)
  }))

  validation {
    condition     = alltrue([for queue in values(var.queues) : coalesce(queue.keep_days, 7) >= 4])
    error_message = "A long weekend has 4 days without staff, so messages are kept at least that long."
  }
}

variable "session_hours" {
  description = "How long accountants may act in their role; the company's number if null"
  type        = number
  default     = null

  validation {
    condition     = coalesce(var.session_hours, 2) <= 4
    error_message = "Sessions in the ledger end after 4 hours at the latest (audit finding 12)."
  }
}

variable "cutoff" {
  description = "Until when a posting belongs to the day, by market"
  type        = map(string)
}
