resource "aws_dynamodb_table" "this" {
  for_each = local.tables

  name                        = each.key
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = each.value.key
  stream_enabled              = can(each.value.stream)
  stream_view_type            = try(each.value.stream, null)
  deletion_protection_enabled = try(each.value.protected, var.table_protection)
  tags                        = merge(local.tags, each.value.tags)

  attribute {
    name = each.value.key
    type = "S"
  }

  point_in_time_recovery {
    enabled = var.recovery
  }
}

resource "aws_dynamodb_table" "sessions" {
  name           = "sessions"
  billing_mode   = "PROVISIONED"
  hash_key       = "token"
  read_capacity  = 5
  write_capacity = 5
  tags           = local.tags

  attribute {
    name = "token"
    type = "S"
  }
}

resource "aws_appautoscaling_target" "sessions_read" {
  service_namespace  = "dynamodb"
  resource_id        = "table/${aws_dynamodb_table.sessions.name}"
  scalable_dimension = "dynamodb:table:ReadCapacityUnits"
  min_capacity       = 5
  max_capacity       = 40
}

module "bucket" {
  source   = "./vendor/bucket"
  for_each = { for name, service in local.services : name => service.bucket if can(service.bucket) }

  name       = "acme-${each.key}"
  versioning = { enabled = lookup(each.value, "versioned", false) }
  tags       = merge(local.tags, try(each.value.tags, {}))
}
