variable "environment" {
  type    = string
  default = "staging"
}

variable "search_memory" {
  type    = number
  default = 512
}

variable "mail_visibility" {
  type = number
}

variable "archive" {
  type = object({
    days   = number
    owner  = optional(string, "platform")
    window = optional(number, 4)
  })
  default = {
    days = 365
  }
}
