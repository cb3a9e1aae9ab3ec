variable "queues" {
  type = map(object({
    visibility = optional(number, 30)
    delay      = optional(number)
  }))
}

resource "aws_sqs_queue" "q" {
  for_each = var.queues

  name                       = each.key
  visibility_timeout_seconds = each.key == "mail" ? 90 : each.value.visibility
  delay_seconds              = coalesce(each.value.delay, 5)
  max_message_size           = lookup(each.value, "size", 1024)
}

resource "aws_sqs_queue" "r" {
  for_each = {
    a = 15
    "b.c" = 25
  }

  delay_seconds = each.value
}

resource "aws_sqs_queue" "s" {
  for_each = { for k, v in var.queues : "s-${k}" => v.visibility * 2 }

  receive_wait_time_seconds = each.value
}

resource "aws_sqs_queue" "t" {
  for_each = toset(["a", "b"])

  name = each.value
}
