# Networks of agents: they reach Sentinel's gateway, and no AWS endpoint. Whoever has AWS credentials there cannot use them.

resource "aws_security_group" "agents" {
  name_prefix = "${var.name}-"
  description = "Agents: out to Sentinel only"
  vpc_id      = var.vpc_id
  tags        = var.tags

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_vpc_security_group_egress_rule" "gateway" {
  security_group_id            = aws_security_group.agents.id
  description                  = "Sentinel's gateway"
  referenced_security_group_id = var.gateway_security_group_id
  ip_protocol                  = "tcp"
  from_port                    = var.gateway_port
  to_port                      = var.gateway_port
}

resource "aws_vpc_security_group_egress_rule" "others" {
  for_each = var.other_destinations

  security_group_id = aws_security_group.agents.id
  description       = each.key
  cidr_ipv4         = each.value
  ip_protocol       = "tcp"
  from_port         = 443
  to_port           = 443
}

# Names of AWS lead nowhere for them, also through a proxy that resolves for them.
resource "aws_route53_resolver_firewall_domain_list" "aws" {
  name    = "${var.name}-aws"
  domains = ["*.amazonaws.com.", "*.api.aws.", "*.amazonaws.com.cn.", "*.on.aws."]
  tags    = var.tags
}

resource "aws_route53_resolver_firewall_rule_group" "this" {
  name = var.name
  tags = var.tags
}

resource "aws_route53_resolver_firewall_rule" "aws" {
  name                    = "aws"
  action                  = "BLOCK"
  block_response          = "NXDOMAIN"
  priority                = 100
  firewall_domain_list_id = aws_route53_resolver_firewall_domain_list.aws.id
  firewall_rule_group_id  = aws_route53_resolver_firewall_rule_group.this.id
}

resource "aws_route53_resolver_firewall_rule_group_association" "agents" {
  name                   = var.name
  firewall_rule_group_id = aws_route53_resolver_firewall_rule_group.this.id
  priority               = 200
  vpc_id                 = var.vpc_id
  mutation_protection    = "ENABLED"
  tags                   = var.tags
}
