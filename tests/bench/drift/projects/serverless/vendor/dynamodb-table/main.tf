variable "create_table" {
  type    = bool
  default = true
}

variable "name" {
  type    = string
  default = null
}

variable "attributes" {
  type    = list(map(string))
  default = []
}

variable "hash_key" {
  type    = string
  default = null
}

variable "range_key" {
  type    = string
  default = null
}

variable "billing_mode" {
  type    = string
  default = "PAY_PER_REQUEST"
}

variable "read_capacity" {
  type    = number
  default = null
}

variable "write_capacity" {
  type    = number
  default = null
}

variable "point_in_time_recovery_enabled" {
  type    = bool
  default = false
}

variable "ttl_enabled" {
  type    = bool
  default = false
}

variable "ttl_attribute_name" {
  type    = string
  default = ""
}

variable "global_secondary_indexes" {
  type    = any
  default = []
}

variable "stream_enabled" {
  type    = bool
  default = false
}

variable "stream_view_type" {
  type    = string
  default = null
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
  count = var.create_table ? 1 : 0

  name                        = var.name
  billing_mode                = var.billing_mode
  hash_key                    = var.hash_key
  range_key                   = var.range_key
  read_capacity               = var.read_capacity
  write_capacity              = var.write_capacity
  stream_enabled              = var.stream_enabled
  stream_view_type            = var.stream_view_type
  deletion_protection_enabled = var.deletion_protection_enabled
  tags                        = merge(var.tags, { Name = format("%s", var.name) })

  point_in_time_recovery {
    enabled = var.point_in_time_recovery_enabled
  }

  dynamic "ttl" {
    for_each = var.ttl_enabled ? [var.ttl_attribute_name] : []

    content {
      enabled        = true
      attribute_name = ttl.value
    }
  }

  dynamic "attribute" {
    for_each = var.attributes

    content {
      name = attribute.value.name
      type = attribute.value.type
    }
  }

  dynamic "global_secondary_index" {
    for_each = var.global_secondary_indexes

    content {
      name            = global_secondary_index.value.name
      hash_key        = global_secondary_index.value.hash_key
      range_key       = try(global_secondary_index.value.range_key, null)
      projection_type = try(global_secondary_index.value.projection_type, "KEYS_ONLY")
    }
  }
}

output "id" {
  value = try(aws_dynamodb_table.this[0].id, "")
}

output "arn" {
  value = try(aws_dynamodb_table.this[0].arn, "")
}
