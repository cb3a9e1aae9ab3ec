output "worker_policy" {
  value = aws_iam_role_policy.worker.policy
}
