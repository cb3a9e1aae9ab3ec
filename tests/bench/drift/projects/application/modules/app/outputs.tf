output "desired" {
  value = aws_autoscaling_group.this.desired_capacity
}

output "queue" {
  value = aws_sqs_queue.work.url
}
