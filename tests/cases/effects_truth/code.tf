resource "aws_iam_role" "seed" {
  name               = "truth-code"
  assume_role_policy = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Principal = { Service = ["codebuild.amazonaws.com", "codepipeline.amazonaws.com", "codedeploy.amazonaws.com"] }, Action = "sts:AssumeRole" }] })
}

resource "aws_codebuild_project" "seed" {
  name                   = "seed"
  description            = "first" # then "second"
  service_role           = aws_iam_role.seed.arn
  build_timeout          = 10 # then 20
  queued_timeout         = 10 # then 20
  artifacts {
    type = "NO_ARTIFACTS"
  }
  environment {
    compute_type = "BUILD_GENERAL1_SMALL" # then "BUILD_GENERAL1_MEDIUM"
    image        = "aws/codebuild/standard:6.0" # then "aws/codebuild/standard:7.0"
    type         = "LINUX_CONTAINER"
    environment_variable {
      name  = "A"
      value = "first" # then "second"
    }
  }
  source {
    type            = "GITHUB"
    location        = "https://example.com/a.git" # then "https://example.com/b.git"
    git_clone_depth = 1
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_codedeploy_app" "seed" {
  name             = "seed"
  compute_platform = "Server"
  tags             = { team = "one" } # then { team = "two" }
}

resource "aws_codedeploy_deployment_group" "seed" {
  app_name              = aws_codedeploy_app.seed.name
  deployment_group_name = "seed"
  service_role_arn      = aws_iam_role.seed.arn
  tags                  = { team = "one" } # then { team = "two" }
}

resource "aws_cloudformation_stack" "seed" {
  name          = "seed"
  template_body = jsonencode({ Resources = { Q = { Type = "AWS::SQS::Queue", Properties = { QueueName = "truth-stack" } } } }) # then jsonencode({ Resources = { Q = { Type = "AWS::SQS::Queue", Properties = { QueueName = "truth-stack", DelaySeconds = 5 } } } })
  tags          = { team = "one" } # then { team = "two" }
}

resource "aws_cloudformation_stack_set" "seed" {
  name                    = "seed"
  description             = "first" # then "second"
  administration_role_arn = "arn:aws:iam::123456789012:role/AWSCloudFormationStackSetAdministrationRole"
  template_body           = jsonencode({ Resources = { Q = { Type = "AWS::SQS::Queue", Properties = { QueueName = "truth-set" } } } })
  tags                    = { team = "one" } # then { team = "two" }
}

resource "aws_signer_signing_profile" "seed" {
  name        = "seed"
  platform_id = "AWSLambda-SHA384-ECDSA"
  tags        = { team = "one" } # then { team = "two" }
}

resource "aws_resourcegroups_group" "seed" {
  name        = "seed"
  description = "first" # then "second"
  resource_query {
    query = jsonencode({ ResourceTypeFilters = ["AWS::AllSupported"], TagFilters = [{ Key = "team", Values = ["one"] }] }) # then jsonencode({ ResourceTypeFilters = ["AWS::AllSupported"], TagFilters = [{ Key = "team", Values = ["two"] }] })
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_appconfig_application" "seed" {
  name        = "first" # then "second"
  description = "first" # then "second"
  tags        = { team = "one" } # then { team = "two" }
}

resource "aws_appconfig_configuration_profile" "seed" {
  application_id = aws_appconfig_application.seed.id
  name           = "first" # then "second"
  description    = "first" # then "second"
  location_uri   = "hosted"
  tags           = { team = "one" } # then { team = "two" }
}

resource "aws_appconfig_hosted_configuration_version" "seed" {
  application_id           = aws_appconfig_application.seed.id
  configuration_profile_id = aws_appconfig_configuration_profile.seed.configuration_profile_id
  description              = "first"
  content                  = jsonencode({ a = "b" })
  content_type             = "application/json"
}

resource "aws_fis_experiment_template" "seed" {
  description = "first" # then "second"
  role_arn    = "arn:aws:iam::123456789012:role/first"
  stop_condition {
    source = "none"
  }
  action {
    name      = "stop"
    action_id = "aws:ec2:stop-instances"
    target {
      key   = "Instances"
      value = "some"
    }
  }
  target {
    name           = "some"
    resource_type  = "aws:ec2:instance"
    selection_mode = "ALL"
    resource_tag {
      key   = "a"
      value = "b"
    }
  }
}

resource "aws_resiliencehub_resiliency_policy" "seed" {
  name        = "seed"
  description = "first"
  tier        = "NonCritical"
  policy {
    az {
      rpo = "1h0m0s"
      rto = "1h0m0s"
    }
    hardware {
      rpo = "1h0m0s"
      rto = "1h0m0s"
    }
    software {
      rpo = "1h0m0s"
      rto = "1h0m0s"
    }
  }
  tags = { team = "one" } # then { team = "two" }
}
