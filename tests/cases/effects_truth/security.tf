resource "aws_guardduty_detector" "seed" {
  enable                       = true # then false
  finding_publishing_frequency = "SIX_HOURS" # then "ONE_HOUR"
  tags                         = { team = "one" } # then { team = "two" }
}

resource "aws_guardduty_filter" "seed" {
  name        = "seed"
  detector_id = aws_guardduty_detector.seed.id
  action      = "ARCHIVE" # then "NOOP"
  description = "first" # then "second"
  rank        = 1 # then 2
  finding_criteria {
    criterion {
      field  = "region"
      equals = ["eu-west-1"] # then ["eu-west-2"]
    }
  }
}

resource "aws_macie2_account" "seed" {
  finding_publishing_frequency = "FIFTEEN_MINUTES" # then "ONE_HOUR"
  status                       = "ENABLED" # then "PAUSED"
}

resource "aws_wafv2_ip_set" "seed" {
  name               = "seed"
  description        = "first" # then "second"
  scope              = "REGIONAL"
  ip_address_version = "IPV4"
  addresses          = ["10.0.0.1/32"] # then ["10.0.0.2/32"]
  tags               = { team = "one" } # then { team = "two" }
}

resource "aws_wafv2_regex_pattern_set" "seed" {
  name        = "seed"
  description = "first" # then "second"
  scope       = "REGIONAL"
  regular_expression {
    regex_string = "one" # then "two"
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_wafv2_rule_group" "seed" {
  name        = "seed"
  description = "first" # then "second"
  scope       = "REGIONAL"
  capacity    = 10
  rule {
    name     = "a"
    priority = 1
    action {
      allow {}
    }
    statement {
      geo_match_statement {
        country_codes = ["US"] # then ["DE"]
      }
    }
    visibility_config {
      cloudwatch_metrics_enabled = false
      metric_name                = "a"
      sampled_requests_enabled   = false
    }
  }
  visibility_config {
    cloudwatch_metrics_enabled = false
    metric_name                = "a"
    sampled_requests_enabled   = false
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_wafv2_web_acl" "seed" {
  name        = "seed"
  description = "first" # then "second"
  scope       = "REGIONAL"
  default_action {
    allow {}
  }
  rule {
    name     = "a"
    priority = 1 # then 2
    action {
      block {}
    }
    statement {
      rate_based_statement {
        limit              = 1000 # then 2000
        aggregate_key_type = "IP"
      }
    }
    visibility_config {
      cloudwatch_metrics_enabled = false # then true
      metric_name                = "a"
      sampled_requests_enabled   = false
    }
  }
  visibility_config {
    cloudwatch_metrics_enabled = false # then true
    metric_name                = "a" # then "b"
    sampled_requests_enabled   = false # then true
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_cloudwatch_log_group" "seed" {
  name = "aws-waf-logs-seed"
}

resource "aws_wafv2_web_acl_logging_configuration" "seed" {
  log_destination_configs = [aws_cloudwatch_log_group.seed.arn]
  resource_arn            = aws_wafv2_web_acl.seed.arn
}

data "aws_subnets" "default" {}

resource "aws_lb" "seed" {
  name     = "truth-waf"
  internal = true
  subnets  = [data.aws_subnets.default.ids[0], data.aws_subnets.default.ids[1]]
}

resource "aws_wafv2_web_acl_association" "seed" {
  resource_arn = aws_lb.seed.arn
  web_acl_arn  = aws_wafv2_web_acl.seed.arn
}

resource "aws_s3_bucket" "seed" {
  bucket        = "truth-trail"
  force_destroy = true
}

resource "aws_cloudtrail" "seed" {
  name                          = "seed"
  s3_bucket_name                = aws_s3_bucket.seed.id
  s3_key_prefix                 = "first" # then "second"
  include_global_service_events = true # then false
  is_multi_region_trail         = false # then true
  enable_log_file_validation    = false # then true
  enable_logging                = true # then false
  kms_key_id                    = "arn:aws:kms:eu-west-1:123456789012:key/first" # then "arn:aws:kms:eu-west-1:123456789012:key/second"
  tags                          = { team = "one" } # then { team = "two" }
}

resource "aws_config_configuration_recorder" "seed" {
  name     = "seed"
  role_arn = "arn:aws:iam::123456789012:role/first" # then "arn:aws:iam::123456789012:role/second"
  recording_group {
    all_supported                 = true
    include_global_resource_types = true # then false
  }
}

resource "aws_config_delivery_channel" "seed" {
  depends_on     = [aws_config_configuration_recorder.seed]
  name           = "seed"
  s3_bucket_name = aws_s3_bucket.seed.id
  s3_key_prefix  = "first" # then "second"
  snapshot_delivery_properties {
    delivery_frequency = "Six_Hours" # then "Three_Hours"
  }
}

resource "aws_config_configuration_recorder_status" "seed" {
  depends_on = [aws_config_delivery_channel.seed]
  name       = aws_config_configuration_recorder.seed.name
  is_enabled = true # then false
}

resource "aws_config_config_rule" "seed" {
  depends_on                  = [aws_config_configuration_recorder.seed]
  name                        = "seed"
  description                 = "first" # then "second"
  maximum_execution_frequency = "Six_Hours" # then "Three_Hours"
  input_parameters            = jsonencode({ maxAccessKeyAge = "90" }) # then jsonencode({ maxAccessKeyAge = "80" })
  source {
    owner             = "AWS"
    source_identifier = "ACCESS_KEYS_ROTATED"
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_config_configuration_aggregator" "seed" {
  name = "seed"
  account_aggregation_source {
    account_ids = ["123456789012"]
    regions     = ["eu-west-1"] # then ["eu-west-2"]
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_config_aggregate_authorization" "seed" {
  account_id = "123456789012"
  region     = "eu-west-2"
  tags       = { team = "one" } # then { team = "two" }
}

resource "aws_config_retention_configuration" "seed" {
  retention_period_in_days = 90 # then 120
}

resource "aws_shield_protection" "seed" {
  name         = "seed"
  resource_arn = aws_lb.seed.arn
  tags         = { team = "one" } # then { team = "two" }
}

resource "aws_inspector2_enabler" "seed" {
  account_ids    = ["123456789012"]
  resource_types = ["ECR"] # then ["ECR", "EC2"]
}
