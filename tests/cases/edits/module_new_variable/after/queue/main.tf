resource "aws_sqs_queue" "this" {
  name          = coalesce(var.queue_name, "${var.name}-jobs")
  delay_seconds = var.delay_seconds

  tags = merge({ module = "queue" }, var.tags)
}

resource "aws_cloudwatch_log_group" "this" {
  for_each = toset(["in", "out"])

  name              = "/${var.name}/${each.key}"
  retention_in_days = try(var.retention_in_days[each.key], 14)
}

resource "aws_dynamodb_table" "this" {
  name     = var.name
  hash_key = "id"

  attribute {
    name = "id"
    type = "S"
  }

  dynamic "point_in_time_recovery" {
    for_each = var.point_in_time_recovery

    content {
      enabled = point_in_time_recovery.value.enabled
    }
  }

  lifecycle {
    prevent_destroy = true
  }
}
