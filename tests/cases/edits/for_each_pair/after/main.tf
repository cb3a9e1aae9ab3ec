locals {
  queues = {
    orders = { visibility = 90, delay = 6 }
    mail   = {}
  }
}

resource "aws_sqs_queue" "q" {
  for_each = local.queues

  visibility_timeout_seconds = try(each.value.visibility, 20)
  delay_seconds              = lookup(each.value, "delay", 5)
}

resource "aws_sqs_queue" "s" {
  for_each = { for k, v in local.queues : "s-${k}" => try(v.visibility * 2, 7) }

  receive_wait_time_seconds = each.value
}
