resource "aws_security_group" "this" {
  for_each = local.groups

  name        = "${local.name}-${each.key}"
  description = each.value
  vpc_id      = aws_vpc.this["shared"].id
  tags        = local.tags
}

resource "aws_vpc_security_group_ingress_rule" "this" {
  for_each = local.firewall

  security_group_id = aws_security_group.this[each.value.group].id
  ip_protocol       = each.value.protocol
  from_port         = tonumber(each.value.port)
  to_port           = tonumber(each.value.port)
  cidr_ipv4         = each.value.cidr
  description       = each.value.description != "" ? each.value.description : null
}

resource "aws_security_group" "partners" {
  name        = "${local.name}-partners"
  description = "Partners behind the edge"
  vpc_id      = aws_vpc.this["edge"].id
  tags        = local.tags

  dynamic "ingress" {
    for_each = [{ port = 443, from = ["203.0.113.0/26", "203.0.113.128/26"] }, { port = 8883, from = ["203.0.113.0/26"] }]

    content {
      from_port   = ingress.value.port
      to_port     = ingress.value.port
      protocol    = "tcp"
      cidr_blocks = ingress.value.from
    }
  }
}

resource "aws_security_group" "appliance" {
  name        = "${local.name}-appliance"
  description = "The tunnel's end"
  vpc_id      = aws_vpc.this["edge"].id
  tags        = local.tags

  ingress {
    description = "offices"
    from_port   = 443
    to_port     = 443
    protocol    = "tcp"
    cidr_blocks = ["192.0.2.0/27", "198.51.100.32/27", "203.0.113.248/29"]
  }
}

resource "aws_ec2_managed_prefix_list" "offices" {
  name           = "${local.name}-offices"
  address_family = "IPv4"
  max_entries    = 10
  tags           = local.tags

  dynamic "entry" {
    for_each = local.offices

    content {
      cidr        = entry.value
      description = entry.key
    }
  }
}

resource "aws_wafv2_ip_set" "blocked" {
  name               = "${local.name}-blocked"
  scope              = "REGIONAL"
  ip_address_version = "IPV4"
  addresses          = ["192.0.2.44/32", "203.0.113.7/32"]
  tags               = local.tags
}

resource "aws_instance" "appliance" {
  ami                    = "ami-12c6146b"
  instance_type          = lookup({ rehearsal = "t3.micro" }, terraform.workspace, "t3.medium")
  subnet_id              = aws_subnet.this["edge-a"].id
  vpc_security_group_ids = [aws_security_group.appliance.id]
  tags                   = merge(local.tags, { Name = "${local.name}-appliance" })
}
