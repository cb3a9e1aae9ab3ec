output "queues" {
  value = { for name, queue in aws_sqs_queue.work : name => queue.visibility_timeout_seconds }
}

output "retention" {
  value = [for group in aws_cloudwatch_log_group.log : group.retention_in_days]
}
