output "vpc_id" {
  value = aws_vpc.this.id
}

output "subnet_ids" {
  description = "Subnets by tier"
  value       = { for tier in keys(var.tiers) : tier => [for name, subnet in local.subnets : aws_subnet.this[name].id if subnet.tier == tier] }
}

output "inside_group_id" {
  value = aws_security_group.inside.id
}
