variable "name" {
  type = string
}

variable "capacity" {
  type = object({
    read  = optional(number, 5)
    write = optional(number, 5)
  })
  default = {}
}

variable "ttl" {
  type = object({
    enabled   = optional(bool, false)
    attribute = optional(string, "")
  })
  default = {}
}

variable "protection" {
  type = object({
    deletion = optional(bool)
    recovery = optional(bool)
  })
  default = {}
}

variable "tags" {
  type    = map(string)
  default = null
}

locals {
  protection = merge({ deletion = false, recovery = false }, { for name, value in var.protection : name => value if value != null })
}

resource "aws_dynamodb_table" "this" {
  name                        = var.name
  billing_mode                = "PROVISIONED"
  read_capacity               = var.capacity.read
  write_capacity              = var.capacity.write
  hash_key                    = "shard"
  deletion_protection_enabled = local.protection.deletion
  tags                        = merge({ Component = "checkpoint" }, coalesce(var.tags, {}))

  attribute {
    name = "shard"
    type = "S"
  }

  dynamic "ttl" {
    for_each = var.ttl.enabled ? [var.ttl.attribute] : []

    content {
      enabled        = true
      attribute_name = ttl.value
    }
  }

  point_in_time_recovery {
    enabled = local.protection.recovery
  }
}

# Readers of the checkpoints are told of errors here; nothing about it can be set.
resource "aws_cloudwatch_log_group" "errors" {
  name              = "/checkpoint/${var.name}"
  retention_in_days = 7
}

output "name" {
  value = aws_dynamodb_table.this.name
}
