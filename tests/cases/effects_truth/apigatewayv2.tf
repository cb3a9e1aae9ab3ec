resource "aws_apigatewayv2_api" "seed" {
  name                         = "first" # then "second"
  description                  = "first" # then "second"
  protocol_type                = "HTTP"
  version                      = "1" # then "2"
  disable_execute_api_endpoint = false # then true
  cors_configuration {
    allow_origins = ["https://a.example.com"] # then ["https://b.example.com"]
    allow_methods = ["GET"] # then ["POST"]
    max_age       = 100 # then 200
  }
  tags = { team = "one", kept = "yes" } # then { team = "two", added = "yes" }
}

resource "aws_apigatewayv2_api" "socket" {
  name                       = "socket"
  protocol_type              = "WEBSOCKET"
  route_selection_expression = "$request.body.a"
}

resource "aws_apigatewayv2_integration" "seed" {
  api_id                 = aws_apigatewayv2_api.seed.id
  integration_type       = "HTTP_PROXY"
  integration_method     = "GET" # then "POST"
  integration_uri        = "https://a.example.com" # then "https://b.example.com"
  description            = "first" # then "second"
  payload_format_version = "1.0"
  timeout_milliseconds   = 20000 # then 25000
}

resource "aws_apigatewayv2_integration" "socket" {
  api_id           = aws_apigatewayv2_api.socket.id
  integration_type = "MOCK"
}

resource "aws_apigatewayv2_integration_response" "seed" {
  api_id                   = aws_apigatewayv2_api.socket.id
  integration_id           = aws_apigatewayv2_integration.socket.id
  integration_response_key = "/200/"
  response_templates       = { "application/json" = "first" } # then { "application/json" = "second" }
}

resource "aws_apigatewayv2_route" "seed" {
  api_id             = aws_apigatewayv2_api.seed.id
  route_key          = "GET /a" # then "GET /b"
  authorization_type = "NONE" # then "AWS_IAM"
  operation_name     = "first" # then "second"
  target             = "integrations/${aws_apigatewayv2_integration.seed.id}"
}

resource "aws_apigatewayv2_route" "socket" {
  api_id    = aws_apigatewayv2_api.socket.id
  route_key = "$default"
}

resource "aws_apigatewayv2_route_response" "seed" {
  api_id             = aws_apigatewayv2_api.socket.id
  route_id           = aws_apigatewayv2_route.socket.id
  route_response_key = "$default"
}

resource "aws_apigatewayv2_model" "seed" {
  api_id       = aws_apigatewayv2_api.socket.id
  name         = "first" # then "second"
  description  = "first" # then "second"
  content_type = "application/json"
  schema       = jsonencode({ type = "object" }) # then jsonencode({ type = "array" })
}

resource "aws_apigatewayv2_authorizer" "seed" {
  api_id           = aws_apigatewayv2_api.seed.id
  name             = "first" # then "second"
  authorizer_type  = "JWT"
  identity_sources = ["$request.header.A"] # then ["$request.header.B"]
  jwt_configuration {
    audience = ["first"] # then ["second"]
    issuer   = "https://a.example.com" # then "https://b.example.com"
  }
}

resource "aws_apigatewayv2_stage" "seed" {
  api_id          = aws_apigatewayv2_api.seed.id
  name            = "seed"
  description     = "first" # then "second"
  auto_deploy     = true
  stage_variables = { a = "b" } # then { a = "c" }
  default_route_settings {
    throttling_burst_limit = 10 # then 20
    throttling_rate_limit  = 10 # then 20
  }
  tags = { team = "one" } # then { team = "two" }
}

data "aws_subnets" "default" {}

resource "aws_apigatewayv2_vpc_link" "seed" {
  name               = "first" # then "second"
  security_group_ids = []
  subnet_ids         = [data.aws_subnets.default.ids[0]]
  tags               = { team = "one" } # then { team = "two" }
}
