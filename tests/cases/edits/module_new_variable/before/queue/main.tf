resource "aws_sqs_queue" "this" {
  name          = "${var.name}-jobs"
  delay_seconds = 0

  tags = merge({ module = "queue" }, var.tags)
}

resource "aws_cloudwatch_log_group" "this" {
  for_each = toset(["in", "out"])

  name              = "/${var.name}/${each.key}"
  retention_in_days = 14
}

resource "aws_dynamodb_table" "this" {
  name     = var.name
  hash_key = "id"

  attribute {
    name = "id"
    type = "S"
  }

  lifecycle {
    prevent_destroy = true
  }
}
