variable "create_bucket" {
  type    = bool
  default = true
}

variable "name" {
  type = string
}

variable "versioning" {
  description = "Map of the versioning: enabled or status"
  type        = map(string)
  default     = {}
}

variable "attach_public_policy" {
  type    = bool
  default = true
}

variable "block_public_acls" {
  type    = bool
  default = true
}

variable "block_public_policy" {
  type    = bool
  default = false
}

variable "ignore_public_acls" {
  type    = bool
  default = true
}

variable "restrict_public_buckets" {
  type    = bool
  default = true
}

variable "cors" {
  type    = any
  default = []
}

variable "tags" {
  type    = map(string)
  default = {}
}

locals {
  create = var.create_bucket
}

resource "aws_s3_bucket" "this" {
  count = local.create ? 1 : 0

  bucket = var.name
  tags   = var.tags
}

resource "aws_s3_bucket_versioning" "this" {
  count = local.create && length(keys(var.versioning)) > 0 ? 1 : 0

  bucket = aws_s3_bucket.this[0].id

  versioning_configuration {
    status = try(tobool(var.versioning["enabled"]) ? "Enabled" : "Suspended", title(lower(var.versioning["status"])))
  }
}

resource "aws_s3_bucket_public_access_block" "this" {
  count = local.create && var.attach_public_policy ? 1 : 0

  bucket = aws_s3_bucket.this[0].id

  block_public_acls       = var.block_public_acls
  block_public_policy     = var.block_public_policy
  ignore_public_acls      = var.ignore_public_acls
  restrict_public_buckets = var.restrict_public_buckets
}

resource "aws_s3_bucket_cors_configuration" "this" {
  count = local.create && length(var.cors) > 0 ? 1 : 0

  bucket = aws_s3_bucket.this[0].id

  dynamic "cors_rule" {
    for_each = var.cors

    content {
      allowed_methods = cors_rule.value.methods
      allowed_origins = cors_rule.value.origins
    }
  }
}

output "arn" {
  value = try(aws_s3_bucket.this[0].arn, null)
}
