# Interface and gateway endpoints of a VPC through which only the gateway's role passes: from inside this network, AWS is reached as the gateway or not at all.

locals {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid       = "OnlyTheGateway"
        Effect    = "Allow"
        Principal = "*"
        Action    = "*"
        Resource  = "*"
        Condition = {
          ArnEquals = { "aws:PrincipalArn" = var.gateway_role_arns }
          # A key of another organization carries no data out through this network.
          StringEquals = { "aws:PrincipalOrgID" = var.organization_id, "aws:ResourceOrgID" = var.organization_id }
        }
      },
    ]
  })
}

resource "aws_vpc_endpoint" "interface" {
  for_each = toset(var.interface_services)

  vpc_id              = var.vpc_id
  service_name        = "com.amazonaws.${var.region}.${each.value}"
  vpc_endpoint_type   = "Interface"
  subnet_ids          = var.subnet_ids
  security_group_ids  = var.security_group_ids
  private_dns_enabled = true
  policy              = local.policy
  tags                = merge(var.tags, { Name = "sentinel-${each.value}" })
}

resource "aws_vpc_endpoint" "gateway" {
  for_each = toset(var.gateway_services)

  vpc_id            = var.vpc_id
  service_name      = "com.amazonaws.${var.region}.${each.value}"
  vpc_endpoint_type = "Gateway"
  route_table_ids   = var.route_table_ids
  policy            = local.policy
  tags              = merge(var.tags, { Name = "sentinel-${each.value}" })
}
