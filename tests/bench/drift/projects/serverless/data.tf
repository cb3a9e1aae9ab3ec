module "appointments" {
  source = "./vendor/dynamodb-table"

  name       = "${var.name}-appointments"
  hash_key   = "patient"
  range_key  = "starts"
  attributes = [{ name = "patient", type = "S" }, { name = "starts", type = "S" }, { name = "room", type = "S" }]

  global_secondary_indexes = [{ name = "by-room", hash_key = "room", range_key = "starts", projection_type = "ALL" }]

  point_in_time_recovery_enabled = true
  tags                           = var.tags
}

module "table" {
  source   = "./vendor/dynamodb-table"
  for_each = var.tables

  name               = "${var.name}-${each.key}"
  billing_mode       = "PROVISIONED"
  read_capacity      = each.value.read
  write_capacity     = each.value.write
  hash_key           = "id"
  attributes         = [{ name = "id", type = "S" }]
  ttl_enabled        = each.value.expires != null
  ttl_attribute_name = coalesce(each.value.expires, "ttl")
  tags               = merge(var.tags, { Table = each.key })
}

resource "aws_appautoscaling_target" "reads" {
  for_each = var.tables

  service_namespace  = "dynamodb"
  resource_id        = "table/${module.table[each.key].id}"
  scalable_dimension = "dynamodb:table:ReadCapacityUnits"
  min_capacity       = 5
  max_capacity       = 20
}

resource "aws_s3_bucket" "letters" {
  bucket = "acme-${var.name}-letters"
  tags   = var.tags
}

resource "aws_s3_bucket_cors_configuration" "letters" {
  bucket = aws_s3_bucket.letters.id

  dynamic "cors_rule" {
    for_each = [{ methods = ["GET", "HEAD"], origin = "https://desk.clinic.example" }]

    content {
      allowed_methods = cors_rule.value.methods
      allowed_origins = [cors_rule.value.origin]
    }
  }
}
