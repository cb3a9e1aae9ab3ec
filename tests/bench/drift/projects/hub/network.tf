resource "aws_vpc" "this" {
  for_each = local.networks

  cidr_block           = each.value.cidr
  enable_dns_hostnames = try(each.value.dns_hostnames, local.settings.dns_hostnames)
  tags                 = merge(local.tags, { Name = "${local.name}-${each.key}" }, lookup(each.value, "tags", {}))
}

resource "aws_subnet" "this" {
  for_each = local.subnets

  vpc_id                  = aws_vpc.this[each.value.network].id
  cidr_block              = each.value.cidr
  availability_zone       = each.value.zone
  map_public_ip_on_launch = each.value.public
  tags                    = merge(local.tags, { Name = "${local.name}-${each.key}" })
}

resource "aws_internet_gateway" "edge" {
  vpc_id = aws_vpc.this["edge"].id
  tags   = merge(local.tags, { Name = "${local.name}-edge" })
}

resource "aws_vpn_gateway" "office" {
  vpc_id = aws_vpc.this["shared"].id
  tags   = merge(local.tags, { Name = "${local.name}-office" })
}

resource "aws_route_table" "this" {
  for_each = local.networks

  vpc_id = aws_vpc.this[each.key].id
  tags   = merge(local.tags, { Name = "${local.name}-${each.key}" })
}

resource "aws_route_table_association" "this" {
  for_each = local.subnets

  subnet_id      = aws_subnet.this[each.key].id
  route_table_id = aws_route_table.this[each.value.network].id
}

resource "aws_route" "this" {
  for_each = local.routes

  route_table_id         = aws_route_table.this[each.value.network].id
  destination_cidr_block = each.value.cidr
  gateway_id             = local.gateways[each.value.gateway]
}

resource "aws_network_acl" "edge" {
  vpc_id     = aws_vpc.this["edge"].id
  subnet_ids = [for name, subnet in local.subnets : aws_subnet.this[name].id if subnet.network == "edge"]
  tags       = merge(local.tags, { Name = "${local.name}-edge" })
}

resource "aws_network_acl_rule" "edge" {
  for_each = local.acl_rules

  network_acl_id = aws_network_acl.edge.id
  rule_number    = each.value.number
  protocol       = lookup(each.value, "protocol", "tcp")
  rule_action    = try(each.value.action, "allow")
  cidr_block     = coalesce(lookup(each.value, "cidr", null), "0.0.0.0/0")
  from_port      = each.value.port
  to_port        = each.value.port
}
