output "arn" {
  description = "ARN of the boundary: permissions_boundary of a role."
  value       = local.boundary_arn
}
