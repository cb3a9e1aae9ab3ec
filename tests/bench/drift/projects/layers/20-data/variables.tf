variable "environment" {
  description = "Where this runs"
  type        = string
}

variable "protect" {
  description = "Whether tables are protected from deletion"
  type        = bool
  default     = true
}

variable "tables" {
  description = "Tables by name"
  type = map(object({
    team      = string
    key       = optional(string, "id")
    protected = optional(bool)
    recovery  = optional(bool, true)
    stream    = optional(string)
    expires   = optional(string)
    tags      = optional(map(string), {})
  }))
}

variable "teams" {
  description = "What a team's resources are tagged with"
  type        = map(map(string))
  default = {
    orders  = { CostCenter = "7100", Owner = "orders" }
    billing = { CostCenter = "7200", Owner = "billing" }
  }
}

variable "buckets" {
  description = "Buckets, as the wrapper of the module takes them"
  type        = any
}

variable "settings" {
  description = "What services read when they start"
  type        = map(string)
}

variable "backup_days" {
  description = "How long backups of the database are kept"
  type        = number

  validation {
    condition     = var.backup_days >= 7 && var.backup_days <= 30
    error_message = "Backups are kept for one week to 30 days; what has to stay longer goes to the archive."
  }
}
