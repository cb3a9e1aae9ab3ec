output "security_group_id" {
  description = "Security group for agents."
  value       = aws_security_group.agents.id
}
