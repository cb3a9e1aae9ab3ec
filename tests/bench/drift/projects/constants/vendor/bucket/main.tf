variable "create_bucket" {
  type    = bool
  default = true
}

variable "bucket" {
  type    = string
  default = null
}

variable "versioning" {
  description = "Map of what versioning is"
  type        = map(string)
  default     = {}
}

variable "restrict_public_buckets" {
  type    = bool
  default = true
}

variable "cors_rule" {
  type    = any
  default = []
}

variable "tags" {
  type    = map(string)
  default = {}
}

resource "aws_s3_bucket" "this" {
  count = var.create_bucket ? 1 : 0

  bucket = var.bucket
  tags   = var.tags
}

resource "aws_s3_bucket_versioning" "this" {
  count = var.create_bucket && length(keys(var.versioning)) > 0 ? 1 : 0

  bucket = aws_s3_bucket.this[0].id

  versioning_configuration {
    status = try(var.versioning["enabled"] ? "Enabled" : "Suspended", tobool(var.versioning["status"]) ? "Enabled" : "Suspended", title(lower(var.versioning["status"])))
  }
}

resource "aws_s3_bucket_public_access_block" "this" {
  count = var.create_bucket ? 1 : 0

  bucket = aws_s3_bucket.this[0].id

  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = var.restrict_public_buckets
}

resource "aws_s3_bucket_cors_configuration" "this" {
  count = var.create_bucket && length(var.cors_rule) > 0 ? 1 : 0

  bucket = aws_s3_bucket.this[0].id

  dynamic "cors_rule" {
    for_each = try(jsondecode(var.cors_rule), var.cors_rule)

    content {
      allowed_methods = cors_rule.value.allowed_methods
      allowed_origins = cors_rule.value.allowed_origins
    }
  }
}

output "id" {
  value = try(aws_s3_bucket.this[0].id, "")
}

output "arn" {
  value = try(aws_s3_bucket.this[0].arn, "")
}
