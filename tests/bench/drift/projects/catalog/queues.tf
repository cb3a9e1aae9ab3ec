locals {
  queue_defaults = {
    visibility_timeout_seconds = 45
    message_retention_seconds  = 86400
    receive_wait_time_seconds  = 10
  }

  shipments = {
    air  = { delay_seconds = 1 }
    sea  = { delay_seconds = 2 }
    road = {}
  }

  batch = { visibility = 200, retention = 172800 }
}

module "intake" {
  source   = "./vendor/queue"
  name     = "catalog-intake"
  defaults = local.queue_defaults
}

module "outbox" {
  source   = "./vendor/queue"
  name     = "catalog-outbox"
  defaults = local.queue_defaults
  settings = { delay_seconds = 5 }
  tags     = { tier = "edge" }
}

module "plain" {
  source = "./vendor/queue"
  name   = "catalog-plain"
}

module "shipment" {
  source   = "./vendor/queue"
  for_each = local.shipments
  name     = "catalog-${each.key}"
  settings = merge({ visibility_timeout_seconds = 75 }, each.value)
}

module "replica" {
  source    = "./vendor/queue"
  providers = { aws = aws.replica }
  name      = "catalog-replica"
}

resource "aws_sqs_queue" "prices" {
  name                       = "catalog-prices"
  visibility_timeout_seconds = var.queue_visibility
}

resource "aws_sqs_queue" "stock" {
  name                       = "catalog-stock"
  visibility_timeout_seconds = var.queue_visibility
}

resource "aws_sqs_queue" "batch" {
  count                      = 2
  name                       = "catalog-batch-${count.index}"
  visibility_timeout_seconds = local.batch.visibility
  message_retention_seconds  = local.batch.retention
}

resource "aws_sqs_queue" "audit" {
  name          = "catalog-audit"
  delay_seconds = 0
}

resource "aws_sqs_queue" "imports" {
  name                       = "catalog-imports"
  delay_seconds              = var.import_delay
  receive_wait_time_seconds  = var.import_wait
  visibility_timeout_seconds = var.import_visibility
}

resource "aws_sqs_queue" "orders" {
  name           = "catalog-orders"
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.dead.arn, maxReceiveCount = 3 })
}

resource "aws_sqs_queue" "dead" {
  name = "catalog-dead"
}

resource "aws_sqs_queue" "returns" {
  name = "catalog-returns"
}

resource "aws_sqs_queue_policy" "returns" {
  queue_url = aws_sqs_queue.returns.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "Own"
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::123456789012:root" }
      Action    = "sqs:SendMessage"
      Resource  = aws_sqs_queue.returns.arn
    }]
  })
}
