resource "aws_api_gateway_rest_api" "seed" {
  name                         = "first" # then "second"
  description                  = "first" # then "second"
  api_key_source               = "HEADER" # then "AUTHORIZER"
  binary_media_types           = ["image/png"] # then ["image/gif"]
  minimum_compression_size     = 100 # then 200
  disable_execute_api_endpoint = false # then true
  endpoint_configuration {
    types = ["REGIONAL"]
  }
  tags = { team = "one", kept = "yes" } # then { team = "two", added = "yes" }
}

resource "aws_api_gateway_resource" "seed" {
  rest_api_id = aws_api_gateway_rest_api.seed.id
  parent_id   = aws_api_gateway_rest_api.seed.root_resource_id
  path_part   = "first" # then "second"
}

resource "aws_api_gateway_authorizer" "seed" {
  name                             = "first" # then "second"
  rest_api_id                      = aws_api_gateway_rest_api.seed.id
  type                             = "TOKEN"
  authorizer_uri                   = "arn:aws:apigateway:eu-west-1:lambda:path/2015-03-31/functions/arn:aws:lambda:eu-west-1:123456789012:function:first/invocations" # then "arn:aws:apigateway:eu-west-1:lambda:path/2015-03-31/functions/arn:aws:lambda:eu-west-1:123456789012:function:second/invocations"
  authorizer_credentials           = "arn:aws:iam::123456789012:role/first" # then "arn:aws:iam::123456789012:role/second"
  authorizer_result_ttl_in_seconds = 100 # then 200
  identity_source                  = "method.request.header.A" # then "method.request.header.B"
  identity_validation_expression   = "a" # then "b"
}

resource "aws_api_gateway_method" "seed" {
  rest_api_id        = aws_api_gateway_rest_api.seed.id
  resource_id        = aws_api_gateway_resource.seed.id
  http_method        = "GET"
  authorization      = "NONE" # then "AWS_IAM"
  api_key_required   = false # then true
  operation_name     = "first" # then "second"
  request_parameters = { "method.request.header.A" = true } # then { "method.request.header.A" = false }
  request_models     = { "application/json" = "Error" } # then { "application/json" = "Empty" }
}

resource "aws_api_gateway_method_response" "seed" {
  rest_api_id         = aws_api_gateway_rest_api.seed.id
  resource_id         = aws_api_gateway_resource.seed.id
  http_method         = aws_api_gateway_method.seed.http_method
  status_code         = "200"
  response_models     = { "application/json" = "Error" } # then { "application/json" = "Empty" }
  response_parameters = { "method.response.header.A" = true } # then { "method.response.header.A" = false }
}

resource "aws_api_gateway_integration" "seed" {
  rest_api_id             = aws_api_gateway_rest_api.seed.id
  resource_id             = aws_api_gateway_resource.seed.id
  http_method             = aws_api_gateway_method.seed.http_method
  type                    = "HTTP"
  uri                     = "https://a.example.com" # then "https://b.example.com"
  integration_http_method = "GET" # then "POST"
  passthrough_behavior    = "WHEN_NO_MATCH" # then "NEVER"
  content_handling        = "CONVERT_TO_TEXT" # then "CONVERT_TO_BINARY"
  timeout_milliseconds    = 20000 # then 25000
  request_templates       = { "application/json" = "first" } # then { "application/json" = "second" }
  request_parameters      = { "integration.request.header.X" = "'first'" } # then { "integration.request.header.X" = "'second'" }
}

resource "aws_api_gateway_integration_response" "seed" {
  depends_on         = [aws_api_gateway_integration.seed]
  rest_api_id        = aws_api_gateway_rest_api.seed.id
  resource_id        = aws_api_gateway_resource.seed.id
  http_method        = aws_api_gateway_method.seed.http_method
  status_code        = aws_api_gateway_method_response.seed.status_code
  response_templates = { "application/json" = "first" } # then { "application/json" = "second" }
  selection_pattern  = "a" # then "b"
}

resource "aws_api_gateway_deployment" "seed" {
  depends_on  = [aws_api_gateway_integration.seed]
  rest_api_id = aws_api_gateway_rest_api.seed.id
  description = "first" # then "second"
}

resource "aws_api_gateway_stage" "seed" {
  stage_name           = "seed"
  rest_api_id          = aws_api_gateway_rest_api.seed.id
  deployment_id        = aws_api_gateway_deployment.seed.id
  description          = "first" # then "second"
  variables            = { a = "b" } # then { a = "c" }
  xray_tracing_enabled = false # then true
  tags                 = { team = "one" } # then { team = "two" }
}

resource "aws_api_gateway_method_settings" "seed" {
  rest_api_id = aws_api_gateway_rest_api.seed.id
  stage_name  = aws_api_gateway_stage.seed.stage_name
  method_path = "*/*"
  settings {
    metrics_enabled        = true # then false
    logging_level          = "INFO" # then "ERROR"
    throttling_burst_limit = 10 # then 20
    throttling_rate_limit  = 10 # then 20
  }
}

resource "aws_api_gateway_api_key" "seed" {
  name        = "first" # then "second"
  description = "first" # then "second"
  enabled     = true # then false
  tags        = { team = "one" } # then { team = "two" }
}

resource "aws_api_gateway_usage_plan" "seed" {
  name        = "first" # then "second"
  description = "first" # then "second"
  api_stages {
    api_id = aws_api_gateway_rest_api.seed.id
    stage  = aws_api_gateway_stage.seed.stage_name
  }
  quota_settings {
    limit  = 20 # then 30
    period = "WEEK" # then "MONTH"
  }
  throttle_settings {
    burst_limit = 5 # then 6
    rate_limit  = 10 # then 11
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_api_gateway_usage_plan_key" "seed" {
  key_id        = aws_api_gateway_api_key.seed.id
  key_type      = "API_KEY"
  usage_plan_id = aws_api_gateway_usage_plan.seed.id
}

resource "aws_api_gateway_model" "seed" {
  rest_api_id  = aws_api_gateway_rest_api.seed.id
  name         = "seed"
  description  = "seed"
  content_type = "application/json"
  schema       = jsonencode({ type = "object" })
}

resource "aws_api_gateway_request_validator" "seed" {
  name                        = "first" # then "second"
  rest_api_id                 = aws_api_gateway_rest_api.seed.id
  validate_request_body       = true # then false
  validate_request_parameters = false # then true
}

resource "aws_api_gateway_gateway_response" "seed" {
  rest_api_id         = aws_api_gateway_rest_api.seed.id
  response_type       = "UNAUTHORIZED"
  status_code         = "401" # then "403"
  response_templates  = { "application/json" = "first" } # then { "application/json" = "second" }
  response_parameters = { "gatewayresponse.header.A" = "'first'" } # then { "gatewayresponse.header.A" = "'second'" }
}

resource "aws_api_gateway_domain_name" "seed" {
  domain_name              = "api.example.com"
  regional_certificate_arn = "arn:aws:acm:eu-west-1:123456789012:certificate/first"
  security_policy          = "TLS_1_2"
  endpoint_configuration {
    types = ["REGIONAL"]
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_api_gateway_base_path_mapping" "seed" {
  api_id      = aws_api_gateway_rest_api.seed.id
  stage_name  = aws_api_gateway_stage.seed.stage_name
  domain_name = aws_api_gateway_domain_name.seed.domain_name
  base_path   = "first" # then "second"
}

resource "aws_api_gateway_vpc_link" "seed" {
  name        = "first"
  description = "first"
  target_arns = [aws_lb.seed.arn]
  tags        = { team = "one" } # then { team = "two" }
}

data "aws_subnets" "default" {}

resource "aws_lb" "seed" {
  name               = "truth-apigw"
  internal           = true
  load_balancer_type = "network"
  subnets            = [data.aws_subnets.default.ids[0]]
}

resource "aws_api_gateway_account" "seed" {
  cloudwatch_role_arn = "arn:aws:iam::123456789012:role/first" # then "arn:aws:iam::123456789012:role/second"
}
