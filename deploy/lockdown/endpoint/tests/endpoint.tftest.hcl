mock_provider "aws" {}

variables {
  vpc_id             = "vpc-1"
  region             = "eu-central-1"
  subnet_ids         = ["subnet-1"]
  security_group_ids = ["sg-1"]
  route_table_ids    = ["rtb-1"]
  gateway_role_arns  = ["arn:aws:iam::123456789012:role/sentinel-gateway"]
  organization_id    = "o-abcdefghij"
}

run "only_the_gateway_passes" {
  command = plan

  assert {
    condition = alltrue([
      for endpoint in concat(values(aws_vpc_endpoint.interface), values(aws_vpc_endpoint.gateway)) :
      length(jsondecode(endpoint.policy).Statement) == 1 &&
      jsondecode(endpoint.policy).Statement[0].Condition.ArnEquals["aws:PrincipalArn"][0] == "arn:aws:iam::123456789012:role/sentinel-gateway" &&
      jsondecode(endpoint.policy).Statement[0].Condition.StringEquals["aws:ResourceOrgID"] == "o-abcdefghij"
    ])
    error_message = "Somebody else passes, or data leaves to another organization."
  }

  assert {
    condition     = length(aws_vpc_endpoint.interface) == 3 && aws_vpc_endpoint.gateway["s3"].service_name == "com.amazonaws.eu-central-1.s3" && aws_vpc_endpoint.interface["sts"].private_dns_enabled
    error_message = "An endpoint is missing, or clients do not find it."
  }
}

run "refuses_patterns_of_roles" {
  command = plan

  variables {
    gateway_role_arns = ["*"]
  }

  expect_failures = [var.gateway_role_arns]
}

run "refuses_a_service_without_a_gateway_endpoint" {
  command = plan

  variables {
    gateway_services = ["ec2"]
  }

  expect_failures = [var.gateway_services]
}
