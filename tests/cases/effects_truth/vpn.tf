resource "aws_vpc" "seed" {
  cidr_block = "10.1.0.0/16"
}

resource "aws_vpc" "second" {
  cidr_block = "10.2.0.0/16"
}

resource "aws_subnet" "seed" {
  vpc_id     = aws_vpc.seed.id
  cidr_block = "10.1.1.0/24"
}

resource "aws_subnet" "second" {
  vpc_id     = aws_vpc.seed.id
  cidr_block = "10.1.2.0/24"
}

resource "aws_route_table" "seed" {
  vpc_id = aws_vpc.seed.id
  lifecycle {
    ignore_changes = [propagating_vgws]
  }
}

resource "aws_vpn_gateway" "seed" {
  amazon_side_asn = 64513
  tags            = { team = "one" } # then { team = "two" }
}

resource "aws_vpn_gateway_attachment" "seed" {
  vpc_id         = aws_vpc.seed.id
  vpn_gateway_id = aws_vpn_gateway.seed.id
}

resource "aws_vpn_gateway_route_propagation" "seed" {
  vpn_gateway_id = aws_vpn_gateway_attachment.seed.vpn_gateway_id
  route_table_id = aws_route_table.seed.id
}

resource "aws_customer_gateway" "seed" {
  bgp_asn    = 65000
  ip_address = "172.83.124.10"
  type       = "ipsec.1"
  tags       = { team = "one" } # then { team = "two" }
}

resource "aws_vpn_connection" "seed" {
  customer_gateway_id = aws_customer_gateway.seed.id
  transit_gateway_id  = aws_ec2_transit_gateway.seed.id
  type                = "ipsec.1"
  static_routes_only  = true
  tags                = { team = "one" } # then { team = "two" }
}

resource "aws_ec2_transit_gateway" "seed" {
  description                     = "first" # then "second"
  default_route_table_association = "enable" # then "disable"
  default_route_table_propagation = "enable" # then "disable"
  dns_support                     = "enable" # then "disable"
  vpn_ecmp_support                = "enable" # then "disable"
  auto_accept_shared_attachments  = "disable" # then "enable"
  tags                            = { team = "one" } # then { team = "two" }
}

resource "aws_ec2_transit_gateway_vpc_attachment" "seed" {
  transit_gateway_id = aws_ec2_transit_gateway.seed.id
  vpc_id             = aws_vpc.seed.id
  subnet_ids         = [aws_subnet.seed.id] # then [aws_subnet.second.id]
  dns_support        = "enable" # then "disable"
  ipv6_support       = "disable" # then "enable"
  transit_gateway_default_route_table_association = false
  transit_gateway_default_route_table_propagation = false
  tags               = { team = "one" } # then { team = "two" }
}

resource "aws_ec2_transit_gateway_route_table" "seed" {
  transit_gateway_id = aws_ec2_transit_gateway.seed.id
  tags               = { team = "one" } # then { team = "two" }
}

resource "aws_ec2_transit_gateway_route" "seed" {
  destination_cidr_block         = "10.9.0.0/16"
  transit_gateway_attachment_id  = aws_ec2_transit_gateway_vpc_attachment.seed.id
  transit_gateway_route_table_id = aws_ec2_transit_gateway_route_table.seed.id
}

resource "aws_ec2_transit_gateway_route_table_association" "seed" {
  transit_gateway_attachment_id  = aws_ec2_transit_gateway_vpc_attachment.seed.id
  transit_gateway_route_table_id = aws_ec2_transit_gateway_route_table.seed.id
}

resource "aws_ec2_transit_gateway_route_table_propagation" "seed" {
  transit_gateway_attachment_id  = aws_ec2_transit_gateway_vpc_attachment.seed.id
  transit_gateway_route_table_id = aws_ec2_transit_gateway_route_table.seed.id
}
