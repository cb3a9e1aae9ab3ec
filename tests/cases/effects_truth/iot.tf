resource "aws_iot_thing_type" "seed" {
  name       = "seed"
  deprecated = false # then true
  properties {
    description           = "seed"
    searchable_attributes = ["a"]
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_iot_thing" "seed" {
  name       = "seed"
  attributes = { a = "b" } # then { a = "c" }
}

resource "aws_iot_thing_group" "seed" {
  name = "seed"
  properties {
    description = "first" # then "second"
    attribute_payload {
      attributes = { a = "b" } # then { a = "c" }
    }
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_iot_thing_group_membership" "seed" {
  thing_name       = aws_iot_thing.seed.name
  thing_group_name = aws_iot_thing_group.seed.name
}

resource "aws_iot_policy" "seed" {
  name   = "seed"
  policy = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Action = ["iot:*"], Resource = "*" }] }) # then jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Action = ["iot:Connect"], Resource = "*" }] })
}

resource "aws_iot_certificate" "seed" {
  active = true # then false
}

resource "aws_iot_policy_attachment" "seed" {
  policy = aws_iot_policy.seed.name
  target = aws_iot_certificate.seed.arn
}

resource "aws_iot_thing_principal_attachment" "seed" {
  principal = aws_iot_certificate.seed.arn
  thing     = aws_iot_thing.seed.name
}

resource "aws_iot_topic_rule" "seed" {
  name        = "seed"
  description = "first" # then "second"
  enabled     = true # then false
  sql         = "SELECT * FROM 'a'" # then "SELECT * FROM 'b'"
  sql_version = "2016-03-23"
  sns {
    message_format = "RAW"
    role_arn       = "arn:aws:iam::123456789012:role/first"
    target_arn     = "arn:aws:sns:eu-west-1:123456789012:first" # then "arn:aws:sns:eu-west-1:123456789012:second"
  }
}

resource "aws_iot_role_alias" "seed" {
  alias               = "seed"
  role_arn            = "arn:aws:iam::123456789012:role/first" # then "arn:aws:iam::123456789012:role/second"
  credential_duration = 3600 # then 7200
}

resource "aws_iot_domain_configuration" "seed" {
  name         = "seed"
  service_type = "DATA"
}

resource "aws_iot_billing_group" "seed" {
  name = "seed"
  properties {
    description = "first" # then "second"
  }
}
