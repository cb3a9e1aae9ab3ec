resource "aws_vpc" "seed" {
  cidr_block                       = "10.1.0.0/16"
  enable_dns_hostnames             = false # then true
  enable_dns_support               = true
  assign_generated_ipv6_cidr_block = true
  tags                             = { team = "one", kept = "yes" } # then { team = "two", added = "yes" }
}

resource "aws_vpc" "peer" {
  cidr_block = "10.2.0.0/16"
}

resource "aws_subnet" "seed" {
  vpc_id                                      = aws_vpc.seed.id
  cidr_block                                  = "10.1.1.0/24"
  availability_zone                           = "eu-west-1a"
  map_public_ip_on_launch                     = false # then true
  tags                                        = { team = "one", kept = "yes" } # then { team = "two", added = "yes" }
}

resource "aws_subnet" "second" {
  vpc_id            = aws_vpc.seed.id
  cidr_block        = "10.1.2.0/24"
  availability_zone = "eu-west-1b"
}

resource "aws_internet_gateway" "seed" {
  vpc_id = aws_vpc.seed.id
  tags   = { team = "one" } # then { team = "two" }
}

resource "aws_egress_only_internet_gateway" "seed" {
  vpc_id = aws_vpc.seed.id
  tags   = { team = "one" } # then { team = "two" }
}

resource "aws_route_table" "seed" {
  vpc_id = aws_vpc.seed.id
  tags   = { team = "one" } # then { team = "two" }
}

resource "aws_route_table" "inline" {
  vpc_id = aws_vpc.seed.id
  route {
    cidr_block = "192.168.0.0/24" # then "192.168.1.0/24"
    gateway_id = aws_internet_gateway.seed.id
  }
}

resource "aws_route" "seed" {
  route_table_id         = aws_route_table.seed.id
  destination_cidr_block = "0.0.0.0/0"
  gateway_id             = aws_internet_gateway.seed.id
}

resource "aws_route_table_association" "seed" {
  subnet_id      = aws_subnet.seed.id
  route_table_id = aws_route_table.seed.id # then aws_route_table.inline.id
}

resource "aws_main_route_table_association" "seed" {
  vpc_id         = aws_vpc.seed.id
  route_table_id = aws_route_table.seed.id # then aws_route_table.inline.id
}

resource "aws_security_group" "seed" {
  name        = "seed"
  description = "seed"
  vpc_id      = aws_vpc.seed.id
  tags        = { team = "one" } # then { team = "two" }
}

resource "aws_security_group" "inline" {
  name   = "inline"
  vpc_id = aws_vpc.seed.id
  ingress {
    description = "first" # then "second"
    from_port   = 80
    to_port     = 80 # then 81
    protocol    = "tcp"
    cidr_blocks = ["10.0.0.0/8"] # then ["10.1.0.0/16"]
  }
  egress {
    from_port   = 443
    to_port     = 443 # then 444
    protocol    = "tcp"
    cidr_blocks = ["10.0.0.0/8"] # then ["10.1.0.0/16"]
  }
}

resource "aws_security_group_rule" "seed" {
  security_group_id = aws_security_group.seed.id
  type              = "ingress"
  from_port         = 22
  to_port           = 22
  protocol          = "tcp"
  cidr_blocks       = ["10.0.0.0/8"]
  description       = "first" # then "second"
}

resource "aws_security_group" "rules" {
  name   = "rules"
  vpc_id = aws_vpc.seed.id
}

resource "aws_vpc_security_group_ingress_rule" "seed" {
  security_group_id = aws_security_group.rules.id
  cidr_ipv4         = "10.0.0.0/8" # then "10.1.0.0/16"
  from_port         = 80 # then 79
  to_port           = 80 # then 81
  ip_protocol       = "tcp"
  description       = "first" # then "second"
}

resource "aws_vpc_security_group_egress_rule" "seed" {
  security_group_id = aws_security_group.rules.id
  cidr_ipv4         = "10.0.0.0/8" # then "10.1.0.0/16"
  from_port         = 80 # then 79
  to_port           = 80 # then 81
  ip_protocol       = "tcp"
  description       = "first" # then "second"
}

resource "aws_network_acl" "seed" {
  vpc_id = aws_vpc.seed.id
  tags   = { team = "one" } # then { team = "two" }
}

resource "aws_network_acl" "inline" {
  vpc_id = aws_vpc.seed.id
  ingress {
    rule_no    = 100
    action     = "allow" # then "deny"
    protocol   = "tcp"
    from_port  = 80
    to_port    = 80 # then 81
    cidr_block = "10.0.0.0/8" # then "10.1.0.0/16"
  }
}

resource "aws_network_acl_rule" "seed" {
  network_acl_id = aws_network_acl.seed.id
  rule_number    = 200
  egress         = false
  protocol       = "tcp"
  rule_action    = "allow"
  cidr_block     = "10.0.0.0/8"
  from_port      = 22
  to_port        = 22
}

resource "aws_network_acl_association" "seed" {
  network_acl_id = aws_network_acl.seed.id
  subnet_id      = aws_subnet.second.id
}

resource "aws_eip" "seed" {
  domain = "vpc"
  tags   = { team = "one" } # then { team = "two" }
}

resource "aws_eip" "free" {
  domain = "vpc"
}

resource "aws_nat_gateway" "seed" {
  allocation_id = aws_eip.seed.id
  subnet_id     = aws_subnet.seed.id
  tags          = { team = "one" } # then { team = "two" }
}

resource "aws_network_interface" "seed" {
  subnet_id         = aws_subnet.seed.id
  description       = "first" # then "second"
  security_groups   = [aws_security_group.seed.id] # then [aws_security_group.rules.id]
  source_dest_check = true # then false
  tags              = { team = "one" } # then { team = "two" }
}

resource "aws_eip_association" "seed" {
  allocation_id        = aws_eip.free.id
  network_interface_id = aws_network_interface.seed.id
}

resource "aws_network_interface" "bare" {
  subnet_id = aws_subnet.second.id
  lifecycle {
    ignore_changes = [security_groups]
  }
}

resource "aws_network_interface_sg_attachment" "seed" {
  security_group_id    = aws_security_group.rules.id
  network_interface_id = aws_network_interface.bare.id
}

resource "aws_vpc_endpoint" "seed" {
  vpc_id            = aws_vpc.seed.id
  service_name      = "com.amazonaws.eu-west-1.s3"
  vpc_endpoint_type = "Gateway"
  route_table_ids   = [aws_route_table.seed.id]
  policy            = jsonencode({ Version = "2008-10-17", Statement = [{ Effect = "Allow", Principal = "*", Action = "*", Resource = "*" }] }) # then jsonencode({ Version = "2008-10-17", Statement = [{ Effect = "Deny", Principal = "*", Action = "*", Resource = "*" }] })
  tags              = { team = "one" } # then { team = "two" }
}

resource "aws_vpc_endpoint" "interface" {
  vpc_id              = aws_vpc.seed.id
  service_name        = "com.amazonaws.eu-west-1.sqs"
  vpc_endpoint_type   = "Interface"
  private_dns_enabled = false # then true
  security_group_ids  = [aws_security_group.seed.id] # then [aws_security_group.rules.id]
  subnet_ids          = [aws_subnet.seed.id] # then [aws_subnet.second.id]
}

resource "aws_vpc_endpoint" "bare" {
  vpc_id       = aws_vpc.seed.id
  service_name = "com.amazonaws.eu-west-1.dynamodb"
  lifecycle {
    ignore_changes = [route_table_ids, policy]
  }
}

resource "aws_vpc_endpoint_route_table_association" "seed" {
  route_table_id  = aws_route_table.seed.id
  vpc_endpoint_id = aws_vpc_endpoint.bare.id
}

resource "aws_vpc_endpoint_policy" "seed" {
  vpc_endpoint_id = aws_vpc_endpoint.bare.id
  policy          = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Principal = "*", Action = "dynamodb:*", Resource = "*" }] }) # then jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Deny", Principal = "*", Action = "dynamodb:*", Resource = "*" }] })
}

resource "aws_vpc_dhcp_options" "seed" {
  domain_name         = "a.example.com"
  domain_name_servers = ["10.0.0.2"]
  ntp_servers         = ["10.0.0.3"]
  tags                = { team = "one" } # then { team = "two" }
}

resource "aws_vpc_dhcp_options" "second" {
  domain_name = "b.example.com"
}

resource "aws_vpc_dhcp_options_association" "seed" {
  vpc_id          = aws_vpc.seed.id
  dhcp_options_id = aws_vpc_dhcp_options.seed.id
}

resource "aws_vpc_peering_connection" "seed" {
  vpc_id      = aws_vpc.seed.id
  peer_vpc_id = aws_vpc.peer.id
  auto_accept = true
  tags        = { team = "one" } # then { team = "two" }
}

resource "aws_vpc_peering_connection_options" "seed" {
  vpc_peering_connection_id = aws_vpc_peering_connection.seed.id
  accepter {
    allow_remote_vpc_dns_resolution = true # then false
  }
}

resource "aws_vpc_ipv4_cidr_block_association" "seed" {
  vpc_id     = aws_vpc.peer.id
  cidr_block = "10.3.0.0/16"
}

resource "aws_flow_log" "seed" {
  vpc_id                   = aws_vpc.seed.id
  traffic_type             = "ALL"
  log_destination_type     = "s3"
  log_destination          = "arn:aws:s3:::truth-flow"
  max_aggregation_interval = 600
  depends_on               = [aws_s3_bucket.flow]
  tags                     = { team = "one" } # then { team = "two" }
}

resource "aws_s3_bucket" "flow" {
  bucket = "truth-flow"
}

resource "aws_ec2_managed_prefix_list" "seed" {
  name           = "first" # then "second"
  address_family = "IPv4"
  max_entries    = 5
  entry {
    cidr        = "10.0.0.0/16" # then "10.4.0.0/16"
    description = "a" # then "b"
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_ec2_managed_prefix_list" "bare" {
  name           = "bare"
  address_family = "IPv4"
  max_entries    = 5
  lifecycle {
    ignore_changes = [entry, name]
  }
}

resource "aws_ec2_managed_prefix_list_entry" "seed" {
  prefix_list_id = aws_ec2_managed_prefix_list.bare.id
  cidr           = "10.5.0.0/16"
  description    = "first"
}

resource "aws_default_vpc" "seed" {
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_default_subnet" "seed" {
  availability_zone       = "eu-west-1a"
  map_public_ip_on_launch = true # then false
  tags                    = { team = "one" } # then { team = "two" }
}

resource "aws_default_security_group" "seed" {
  vpc_id = aws_vpc.peer.id
  ingress {
    protocol  = "-1"
    self      = true
    from_port = 0
    to_port   = 0
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_default_route_table" "seed" {
  default_route_table_id = aws_vpc.peer.default_route_table_id
  tags                   = { team = "one" } # then { team = "two" }
}

resource "aws_default_network_acl" "seed" {
  default_network_acl_id = aws_vpc.peer.default_network_acl_id
  tags                   = { team = "one" } # then { team = "two" }
}

resource "aws_ec2_carrier_gateway" "seed" {
  vpc_id = aws_vpc.seed.id
  tags   = { team = "one" } # then { team = "two" }
}
