variable "services" {
  description = "Services of the cards stack"
  type = map(object({
    count = number
    image = string
  }))

  validation {
    condition     = alltrue([for service in values(var.services) : service.count <= 6])
    error_message = "The scheme licensed 6 tasks a service."
  }
}

variable "alarms" {
  description = "Alarms; what an alarm does not say is the company's"
  type        = any
}
