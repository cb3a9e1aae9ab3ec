variable "stage" {
  type = string
}

variable "buckets" {
  description = "Owner by the bucket's name."
  type        = map(string)
}

variable "capacity" {
  type    = number
  default = 5
}

resource "aws_s3_bucket" "this" {
  for_each = var.buckets

  bucket = "application-${var.stage}-${each.key}"

  tags = {
    stage = var.stage
    owner = each.value
  }
}

resource "aws_s3_bucket_public_access_block" "this" {
  for_each = var.buckets

  bucket = aws_s3_bucket.this[each.key].id

  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_dynamodb_table" "sessions" {
  name           = "${var.stage}-sessions"
  billing_mode   = "PROVISIONED"
  read_capacity  = var.capacity
  write_capacity = var.capacity * 2
  hash_key       = "id"

  attribute {
    name = "id"
    type = "S"
  }

  ttl {
    attribute_name = "expires"
    enabled        = true
  }
}

resource "aws_ssm_parameter" "motd" {
  name  = "/${var.stage}/motd"
  type  = "String"
  value = "Welcome to ${var.stage}"
}
