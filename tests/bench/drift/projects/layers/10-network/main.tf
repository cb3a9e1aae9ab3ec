locals {
  tags = { Environment = var.environment, Layer = "network" }

  flow_log_days = { production = 90, staging = 14 }

  subnets = merge([
    for tier, given in var.tiers : {
      for index, zone in var.zones : "${tier}-${zone}" => {
        tier      = tier
        zone      = "eu-west-1${zone}"
        cidr      = cidrsubnet(var.cidr, 8, given.first + index)
        public_ip = given.public_ip
        tags      = given.tags
      }
    }
  ]...)
}

resource "aws_vpc" "this" {
  cidr_block           = var.cidr
  enable_dns_hostnames = true
  tags                 = merge(local.tags, { Name = var.environment })
}

resource "aws_internet_gateway" "this" {
  vpc_id = aws_vpc.this.id
  tags   = local.tags
}

resource "aws_subnet" "this" {
  for_each = local.subnets

  vpc_id                  = aws_vpc.this.id
  availability_zone       = each.value.zone
  cidr_block              = each.value.cidr
  map_public_ip_on_launch = each.value.public_ip
  tags                    = merge(local.tags, { Name = each.key, Tier = each.value.tier }, each.value.tags)
}

resource "aws_route_table" "tier" {
  for_each = var.tiers

  vpc_id = aws_vpc.this.id
  tags   = merge(local.tags, { Name = each.key })
}

resource "aws_route_table_association" "this" {
  for_each = local.subnets

  subnet_id      = aws_subnet.this[each.key].id
  route_table_id = aws_route_table.tier[each.value.tier].id
}

resource "aws_route" "internet" {
  for_each = { for tier, given in var.tiers : tier => given if given.public_ip }

  route_table_id         = aws_route_table.tier[each.key].id
  destination_cidr_block = "0.0.0.0/0"
  gateway_id             = aws_internet_gateway.this.id
}

resource "aws_cloudwatch_log_group" "flow" {
  name              = "/network/${var.environment}"
  retention_in_days = coalesce(var.flow_log_days, lookup(local.flow_log_days, var.environment, 7))
  tags              = local.tags
}
