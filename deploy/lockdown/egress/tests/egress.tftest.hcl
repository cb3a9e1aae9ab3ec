mock_provider "aws" {}

variables {
  vpc_id                    = "vpc-agents"
  gateway_security_group_id = "sg-gateway"
  other_destinations        = { "the model's API" = "203.0.113.0/24" }
}

run "agents_reach_the_gateway_and_not_aws" {
  command = plan

  assert {
    condition     = aws_vpc_security_group_egress_rule.gateway.referenced_security_group_id == "sg-gateway" && aws_vpc_security_group_egress_rule.gateway.from_port == 443
    error_message = "Agents do not reach the gateway."
  }

  assert {
    condition     = keys(aws_vpc_security_group_egress_rule.others) == ["the model's API"]
    error_message = "Agents reach more than was named."
  }

  assert {
    condition     = contains(aws_route53_resolver_firewall_domain_list.aws.domains, "*.amazonaws.com.") && contains(aws_route53_resolver_firewall_domain_list.aws.domains, "*.api.aws.") && aws_route53_resolver_firewall_rule.aws.action == "BLOCK"
    error_message = "Names of AWS can be resolved."
  }

  assert {
    condition     = aws_route53_resolver_firewall_rule_group_association.agents.vpc_id == "vpc-agents"
    error_message = "The rule holds for no network."
  }
}

run "refuses_the_internet" {
  command = plan

  variables {
    other_destinations = { everything = "0.0.0.0/0" }
  }

  expect_failures = [var.other_destinations]
}
