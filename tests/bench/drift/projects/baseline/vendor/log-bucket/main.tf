variable "name" {
  type = string
}

variable "enabled" {
  type    = bool
  default = true
}

variable "versioning_enabled" {
  type    = bool
  default = false
}

variable "lifecycle_rules" {
  description = "What becomes of old logs: id, days, class"
  type        = any
  default     = []
}

variable "access_log_days" {
  type    = number
  default = 30
}

variable "tags" {
  type    = map(string)
  default = {}
}

resource "aws_s3_bucket" "default" {
  count = var.enabled ? 1 : 0

  bucket = var.name
  tags   = var.tags
}

resource "aws_s3_bucket_versioning" "default" {
  count = var.enabled ? 1 : 0

  bucket = one(aws_s3_bucket.default[*].id)

  versioning_configuration {
    status = var.versioning_enabled ? "Enabled" : "Suspended"
  }
}

resource "aws_s3_bucket_lifecycle_configuration" "default" {
  count = var.enabled && length(var.lifecycle_rules) > 0 ? 1 : 0

  bucket = one(aws_s3_bucket.default[*].id)

  dynamic "rule" {
    for_each = var.lifecycle_rules

    content {
      id     = rule.value.id
      status = try(rule.value.enabled, true) ? "Enabled" : "Disabled"

      filter {
        prefix = try(rule.value.prefix, "")
      }

      transition {
        days          = rule.value.days
        storage_class = rule.value.class
      }
    }
  }
}

resource "aws_cloudwatch_log_group" "access" {
  count = var.enabled ? 1 : 0

  name              = "/buckets/${var.name}"
  retention_in_days = var.access_log_days
  tags              = var.tags
}

output "bucket_id" {
  value = one(aws_s3_bucket.default[*].id)
}
