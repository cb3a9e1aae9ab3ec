variable "name" {
  description = "Name of the application; all names begin with it"
  type        = string
  default     = "clinic"
}

variable "memory" {
  description = "Memory of a function that says nothing else, in MB"
  type        = number
  default     = 256
}

variable "log_days" {
  description = "How many days the log of a function is kept"
  type        = number
  default     = 30
}

variable "access_log_days" {
  description = "How many days the log of calls is kept"
  type        = number
  default     = 30

  validation {
    condition     = contains([30, 60, 90], var.access_log_days)
    error_message = "Logs of calls name patients, so the data officer allows 30, 60 or 90 days only."
  }
}

variable "gateway_timeout" {
  description = "After how many seconds the gateway gives up"
  type        = number
  default     = 20
}

variable "origins" {
  description = "Hosts of the pages that call the API"
  type        = list(string)
}

variable "routes" {
  description = "Function and authorization of each route"
  type = map(object({
    function      = string
    authorization = optional(string, "NONE")
  }))
}

variable "tables" {
  description = "Tables beside that of appointments"
  type = map(object({
    read    = number
    write   = optional(number, 5)
    expires = optional(string)
  }))

  validation {
    condition     = alltrue([for table in values(var.tables) : table.read <= 20 && table.write <= 20])
    error_message = "The budget of the clinic is 20 units for reading and for writing a table."
  }
}

variable "reminders" {
  description = "The queue of reminders and who reads it"
  type = object({
    batch      = optional(number, 5)
    visibility = optional(number)
    keep_days  = optional(number, 4)
    tries      = optional(number, 3)
  })
  default = {}

  validation {
    condition     = var.reminders.batch <= 10
    error_message = "The provider of text messages takes at most 10 messages in one call."
  }
}

variable "watched" {
  description = "Functions that have alarms"
  type        = list(string)
}

variable "tags" {
  type    = map(string)
  default = {}
}
