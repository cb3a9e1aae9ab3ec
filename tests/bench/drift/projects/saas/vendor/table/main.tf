variable "name" {
  type = string
}

variable "hash_key" {
  type = string
}

variable "capacity" {
  type    = map(number)
  default = {}
}

variable "ttl_field" {
  type    = string
  default = ""
}

variable "point_in_time_recovery_enabled" {
  type    = bool
  default = false
}

variable "deletion_protection_enabled" {
  type    = bool
  default = null
}

variable "tags" {
  type    = map(string)
  default = {}
}

resource "aws_dynamodb_table" "this" {
  name                        = var.name
  billing_mode                = "PROVISIONED"
  table_class                 = "STANDARD"
  read_capacity               = try(var.capacity["read"], 5)
  write_capacity              = try(var.capacity["write"], 5)
  hash_key                    = var.hash_key
  deletion_protection_enabled = coalesce(var.deletion_protection_enabled, false)

  attribute {
    name = var.hash_key
    type = "S"
  }

  dynamic "ttl" {
    for_each = var.ttl_field == "" ? [] : [var.ttl_field]

    content {
      enabled        = true
      attribute_name = ttl.value
    }
  }

  point_in_time_recovery {
    enabled = var.point_in_time_recovery_enabled
  }

  tags = merge({ Name = var.name }, var.tags)
}

output "arn" {
  value = aws_dynamodb_table.this.arn
}
