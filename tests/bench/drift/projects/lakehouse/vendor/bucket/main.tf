variable "bucket" {
  type = string
}

variable "versioning" {
  type    = map(string)
  default = {}
}

variable "public_access" {
  type = object({
    block_acls       = optional(bool, true)
    block_policy     = optional(bool, true)
    ignore_acls      = optional(bool, true)
    restrict_buckets = optional(bool, true)
  })
  default = {}
}

variable "attach_public_access_block" {
  type    = bool
  default = true
}

variable "tags" {
  type    = map(string)
  default = {}
}

resource "aws_s3_bucket" "this" {
  bucket = var.bucket
  tags   = merge(var.tags, { Name = var.bucket })
}

resource "aws_s3_bucket_versioning" "this" {
  count = length(keys(var.versioning)) > 0 ? 1 : 0

  bucket = aws_s3_bucket.this.id

  versioning_configuration {
    status = try(var.versioning["enabled"] ? "Enabled" : "Suspended", tobool(var.versioning["status"]) ? "Enabled" : "Suspended", title(lower(var.versioning["status"])))
  }
}

resource "aws_s3_bucket_public_access_block" "this" {
  count = var.attach_public_access_block ? 1 : 0

  bucket                  = aws_s3_bucket.this.id
  block_public_acls       = var.public_access.block_acls
  block_public_policy     = var.public_access.block_policy
  ignore_public_acls      = var.public_access.ignore_acls
  restrict_public_buckets = var.public_access.restrict_buckets
}

output "id" {
  value = aws_s3_bucket.this.id
}

output "arn" {
  value = aws_s3_bucket.this.arn
}
