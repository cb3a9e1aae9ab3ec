resource "aws_security_group" "this" {
  count = var.create ? 1 : 0

  name        = var.name
  description = var.description
  vpc_id      = var.vpc_id

  dynamic "ingress" {
    for_each = var.ingress_with_cidr_blocks

    content {
      description = lookup(ingress.value, "description", "Managed by Terraform")
      from_port   = lookup(ingress.value, "from_port", var.rules[lookup(ingress.value, "rule", "_")][0])
      to_port     = lookup(ingress.value, "to_port", var.rules[lookup(ingress.value, "rule", "_")][1])
      protocol    = lookup(ingress.value, "protocol", var.rules[lookup(ingress.value, "rule", "_")][2])
      cidr_blocks = split(",", lookup(ingress.value, "cidr_blocks", join(",", var.ingress_cidr_blocks)))
    }
  }

  tags = merge({ Name = var.name }, var.tags)
}
