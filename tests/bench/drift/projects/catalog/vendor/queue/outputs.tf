output "arn" {
  value = try(aws_sqs_queue.this[0].arn, null)
}
