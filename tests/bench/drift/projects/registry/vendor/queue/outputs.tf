output "queue_url" {
  value = try(aws_sqs_queue.this[0].url, "")
}

output "visibility" {
  value = try(aws_sqs_queue.this[0].visibility_timeout_seconds, null)
}
