locals {
  settings = merge({ read = 5, write = 5, retention = 345600 }, var.settings)
  tags     = merge(var.tags, { Name = var.name })
}

resource "aws_sqs_queue" "events" {
  name                       = "${var.name}-events"
  visibility_timeout_seconds = coalesce(var.visibility, try(local.settings.visibility, 30))
  message_retention_seconds  = lookup(local.settings, "retention", 345600)
  delay_seconds              = 5

  redrive_policy = jsonencode({
    deadLetterTargetArn = aws_sqs_queue.dead.arn
    maxReceiveCount     = 5
  })

  tags = local.tags
}

resource "aws_sqs_queue" "dead" {
  name = "${var.name}-dead"
  tags = local.tags
}

resource "aws_dynamodb_table" "data" {
  name           = "${var.name}-data"
  billing_mode   = "PROVISIONED"
  read_capacity  = local.settings.read
  write_capacity = local.settings.write
  hash_key       = "id"

  attribute {
    name = "id"
    type = "S"
  }

  tags = local.tags
}

resource "aws_cloudwatch_log_group" "audit" {
  name              = "/tenants/${var.name}"
  retention_in_days = var.log_retention
  tags              = local.tags
}
