output "queue_url" {
  value = aws_sqs_queue.jobs.url
}

output "retention" {
  description = "How long the application's log is kept."
  value       = aws_cloudwatch_log_group.app.retention_in_days
}

output "fleet_size" {
  value = aws_autoscaling_group.fleet.desired_capacity
}
