variable "prefix" {
  type = string
}

variable "streams" {
  description = "The streams by name"
  type = map(object({
    shards          = optional(number, 1)
    retention_hours = optional(number, 24)
    metrics         = optional(set(string), [])
    alarm = optional(object({
      age_ms  = optional(number, 60000)
      periods = optional(number, 3)
    }), {})
    tags = optional(map(string), {})
  }))

  validation {
    condition     = alltrue([for stream in var.streams : stream.retention_hours >= 24 && stream.retention_hours <= 168])
    error_message = "Streams keep data for 24 to 168 hours; what is older is read from the lake."
  }
}

variable "alarm_topics" {
  description = "Topics that are told when a consumer falls behind"
  type        = list(string)
  default     = []
}

variable "delivery" {
  description = "What is delivered to the lake, and how often"
  type = object({
    stream      = string
    bucket_arn  = string
    role_arn    = string
    compression = optional(string, "GZIP")
    buffer = optional(object({
      size_mb = optional(number, 64)
      seconds = optional(number, 300)
    }), {})
  })
}
