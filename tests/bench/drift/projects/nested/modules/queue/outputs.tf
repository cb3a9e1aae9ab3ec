output "url" {
  value = aws_sqs_queue.this.url
}

output "visibility" {
  value = aws_sqs_queue.this.visibility_timeout_seconds
}
