output "policy_id" {
  description = "Id of the policy."
  value       = aws_organizations_policy.this.id
}

output "content" {
  description = "The policy, to look at before it is attached."
  value       = aws_organizations_policy.this.content
}
