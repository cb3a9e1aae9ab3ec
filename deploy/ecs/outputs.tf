output "load_balancer" {
  description = "DNS name that the host of public_url is an alias of."
  value       = aws_lb.gateway.dns_name
}

output "gateway_role_arn" {
  description = "The role with which the gateway sends: reconcile.gateway_identity in the settings, and what the lock-down lets pass."
  value       = aws_iam_role.gateway.arn
}

output "ledger_database" {
  description = "Identifier of the ledger's database."
  value       = aws_db_instance.ledger.identifier
}

output "migrate" {
  description = "What `aws ecs run-task` needs to migrate the ledger before an upgrade."
  value = {
    cluster         = aws_ecs_cluster.this.name
    task_definition = aws_ecs_task_definition.this["migrate"].arn
    subnets         = var.private_subnet_ids
    security_groups = [aws_security_group.programs.id]
  }
}
