output "arn" {
  value = aws_iam_role.this.arn
}
