resource "aws_vpc" "cards" {
  cidr_block = module.org.networks.cards
  tags       = merge(local.tags, { Name = local.stack })
}

resource "aws_subnet" "cards" {
  vpc_id     = aws_vpc.cards.id
  cidr_block = cidrsubnet(aws_vpc.cards.cidr_block, 8, 1)
  tags       = local.tags
}

module "api_group" {
  source = "../vendor/security-group"

  name                = "${local.stack}-api"
  description         = "Who calls the services"
  vpc_id              = aws_vpc.cards.id
  ingress_rules       = ["https-443-tcp", "redis-6379-tcp"]
  ingress_cidr_blocks = [module.org.networks.cards]
  tags                = local.tags
}

module "admin_group" {
  source = "../vendor/security-group"

  name                     = "${local.stack}-admin"
  description              = "Who administers the services"
  vpc_id                   = aws_vpc.cards.id
  ingress_with_cidr_blocks = [{ from_port = 8443, to_port = 8443, description = "Console", cidr_blocks = module.org.networks.vpn }]
  tags                     = local.tags
}

resource "aws_security_group" "terminals" {
  name        = "${local.stack}-terminals"
  description = "Terminals in shops"
  vpc_id      = aws_vpc.cards.id
  tags        = local.tags

  dynamic "ingress" {
    for_each = [{ port = 8583, from = module.org.networks.offices }, { port = 9100, from = ["203.0.113.0/28"] }]

    content {
      from_port   = ingress.value.port
      to_port     = ingress.value.port
      protocol    = "tcp"
      cidr_blocks = ingress.value.from
    }
  }
}
