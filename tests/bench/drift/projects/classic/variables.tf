variable "name" {
  description = "Prefix of all names"
  type        = string
  default     = "intranet"
}

variable "environment" {
  description = "prod or test"
  type        = string
  default     = "prod"
}

variable "zones" {
  description = "Availability zones, with commas"
  type        = string
  default     = "eu-west-1a,eu-west-1b"
}

variable "office_networks" {
  description = "Networks of the offices, with commas"
  type        = string
  default     = "192.0.2.0/27,198.51.100.32/27"
}

variable "web_count" {
  description = "How many web servers there are"
  type        = number
  default     = 3
}

variable "web_types" {
  description = "Type of a web server, by environment"
  type        = map(string)
  default = {
    prod = "t3.medium"
    test = "t3.micro"
  }
}

variable "volume_size" {
  description = "Size of a data volume in GiB"
  type        = number
  default     = 50
}

variable "logs" {
  description = "What writes logs"
  type        = list(string)
  default     = ["httpd", "app", "cron"]
}

variable "log_days" {
  description = "How long logs are kept"
  type        = number
  default     = 30
}

variable "batch_min" {
  type    = number
  default = 2
}

variable "batch_max" {
  description = "At most so many batch workers; three times the least by default"
  type        = number
  default     = null
}

variable "batch_frozen" {
  description = "Whether no batch worker is started or ended"
  type        = bool
  default     = false
}

variable "watched" {
  description = "What wakes somebody"
  type        = any
  default = [
    { metric = "ServerErrors", threshold = 10 },
    { metric = "Latency", periods = 3 },
  ]
}

variable "backup_days" {
  description = "How long backups of the database are kept"
  type        = number
  default     = 14

  validation {
    condition     = var.backup_days >= 7
    error_message = "The auditors want backups of a week: backup_days is at least 7."
  }
}

variable "tags" {
  type = map(string)
  default = {
    Project = "intranet"
    Team    = "office-it"
  }
}

variable "more_tags" {
  description = "Further tags, by kind of server"
  type        = map(map(string))
  default = {
    batch = { Schedule = "nights", CostCenter = "9100" }
  }
}
