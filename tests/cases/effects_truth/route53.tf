data "aws_subnets" "default" {}

data "aws_vpc" "default" {
  default = true
}

resource "aws_vpc" "seed" {
  cidr_block = "10.1.0.0/16"
}

resource "aws_route53_delegation_set" "seed" {
  reference_name = "seed"
}

resource "aws_route53_zone" "seed" {
  name              = "seed.example.org"
  comment           = "first" # then "second"
  force_destroy     = true
  delegation_set_id = aws_route53_delegation_set.seed.id
  tags              = { team = "one", kept = "yes" } # then { team = "two", added = "yes" }
}

resource "aws_route53_zone" "private" {
  name = "private.example.org"
  vpc {
    vpc_id = data.aws_vpc.default.id
  }
  lifecycle {
    ignore_changes = [vpc]
  }
}

resource "aws_route53_zone_association" "seed" {
  zone_id = aws_route53_zone.private.zone_id
  vpc_id  = aws_vpc.seed.id
}

resource "aws_route53_vpc_association_authorization" "seed" {
  zone_id = aws_route53_zone.private.zone_id
  vpc_id  = aws_vpc.seed.id
}

resource "aws_route53_record" "seed" {
  zone_id = aws_route53_zone.seed.zone_id
  name    = "a.seed.example.org"
  type    = "A"
  ttl     = 100 # then 200
  records = ["10.0.0.1"] # then ["10.0.0.2"]
}

resource "aws_route53_record" "weighted" {
  zone_id        = aws_route53_zone.seed.zone_id
  name           = "w.seed.example.org"
  type           = "CNAME"
  ttl            = 100
  records        = ["a.example.com"] # then ["b.example.com"]
  set_identifier = "one"
  weighted_routing_policy {
    weight = 10 # then 20
  }
}

resource "aws_route53_health_check" "seed" {
  fqdn              = "a.example.com" # then "b.example.com"
  port              = 80 # then 81
  type              = "HTTP"
  resource_path     = "/a" # then "/b"
  failure_threshold = 3 # then 4
  request_interval  = 30
  invert_healthcheck = false # then true
  disabled          = false # then true
  tags              = { team = "one" } # then { team = "two" }
}

resource "aws_cloudwatch_log_group" "seed" {
  name = "/aws/route53/seed"
}

resource "aws_route53_query_log" "seed" {
  cloudwatch_log_group_arn = aws_cloudwatch_log_group.seed.arn
  zone_id                  = aws_route53_zone.seed.zone_id
}

resource "aws_security_group" "seed" {
  name = "truth-resolver"
}

resource "aws_route53_resolver_endpoint" "seed" {
  name               = "first" # then "second"
  direction          = "OUTBOUND"
  security_group_ids = [aws_security_group.seed.id]
  ip_address {
    subnet_id = data.aws_subnets.default.ids[0]
  }
  ip_address {
    subnet_id = data.aws_subnets.default.ids[1]
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_route53_resolver_rule" "seed" {
  name                 = "first"
  domain_name          = "example.net"
  rule_type            = "FORWARD"
  resolver_endpoint_id = aws_route53_resolver_endpoint.seed.id
  target_ip {
    ip = "10.0.0.1"
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_route53_resolver_rule_association" "seed" {
  name             = "seed"
  resolver_rule_id = aws_route53_resolver_rule.seed.id
  vpc_id           = aws_vpc.seed.id
}

resource "aws_route53_resolver_query_log_config" "seed" {
  name            = "seed"
  destination_arn = aws_cloudwatch_log_group.seed.arn
  tags            = { team = "one" } # then { team = "two" }
}

resource "aws_route53_resolver_query_log_config_association" "seed" {
  resolver_query_log_config_id = aws_route53_resolver_query_log_config.seed.id
  resource_id                  = aws_vpc.seed.id
}
