variable "context" {
  type = any
}

variable "name" {
  type = string
}

variable "versioning_enabled" {
  type    = bool
  default = false
}

variable "restrict_public_buckets" {
  type    = bool
  default = true
}

variable "tags" {
  type    = map(string)
  default = {}
}

resource "aws_s3_bucket" "default" {
  count = var.context.enabled ? 1 : 0

  bucket = join("-", [var.context.id, var.name])
  tags   = merge(var.context.tags, var.tags)
}

resource "aws_s3_bucket_versioning" "default" {
  count = var.context.enabled ? 1 : 0

  bucket = join("", aws_s3_bucket.default[*].id)

  versioning_configuration {
    status = var.versioning_enabled ? "Enabled" : "Suspended"
  }
}

resource "aws_s3_bucket_public_access_block" "default" {
  count = var.context.enabled ? 1 : 0

  bucket = join("", aws_s3_bucket.default[*].id)

  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = var.restrict_public_buckets
}

output "bucket_id" {
  value = join("", aws_s3_bucket.default[*].id)
}
