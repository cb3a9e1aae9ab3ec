resource "aws_sqs_queue" "this" {
  for_each = local.queues

  name                       = each.key
  visibility_timeout_seconds = each.value.visibility
  receive_wait_time_seconds  = each.value.wait
  message_retention_seconds  = each.value.retention
  delay_seconds              = lookup(each.value, "delay", 0)
  tags                       = merge(local.tags, { CostCenter = local.owners[each.value.team].cost_center }, lookup(each.value, "tags", {}))

  redrive_policy = try(each.value.attempts, null) == null ? null : jsonencode({
    deadLetterTargetArn = aws_sqs_queue.dead.arn
    maxReceiveCount     = each.value.attempts
  })
}

resource "aws_sqs_queue" "dead" {
  name                      = "dead-letters"
  message_retention_seconds = var.dead_letter_days * 86400
  tags                      = local.tags
}

resource "aws_lambda_event_source_mapping" "this" {
  for_each = { for name, queue in local.queues : name => queue if can(queue.batch) }

  event_source_arn = aws_sqs_queue.this[each.key].arn
  function_name    = module.service[each.value.service].function_arn
  batch_size       = each.value.batch
  enabled          = try(each.value.consumed, true)
}

resource "aws_sns_topic" "this" {
  for_each = local.topics

  name = each.key
  tags = merge(local.tags, { CostCenter = local.owners[each.value.team].cost_center })
}

resource "aws_sns_topic_subscription" "this" {
  for_each = local.subscriptions

  topic_arn     = aws_sns_topic.this[each.value.topic].arn
  protocol      = "sqs"
  endpoint      = aws_sqs_queue.this[each.value.queue].arn
  filter_policy = each.value.filter == null ? null : jsonencode(each.value.filter)
}
