locals {
  # A function has one integration, whatever number of routes lead to it.
  served = toset([for route in values(var.routes) : route.function])
}

resource "aws_apigatewayv2_api" "this" {
  name          = var.name
  description   = "Appointments of the clinic"
  protocol_type = "HTTP"
  tags          = var.tags

  cors_configuration {
    allow_origins = [for host in var.origins : "https://${host}"]
    allow_methods = ["GET", "POST"]
    allow_headers = ["content-type"]
    max_age       = 600
  }
}

resource "aws_apigatewayv2_stage" "live" {
  api_id      = aws_apigatewayv2_api.this.id
  name        = "live"
  auto_deploy = true
}

resource "aws_apigatewayv2_integration" "this" {
  for_each = local.served

  api_id                 = aws_apigatewayv2_api.this.id
  integration_type       = "AWS_PROXY"
  integration_uri        = module.function[each.key].arn
  payload_format_version = "2.0"
  timeout_milliseconds   = try(local.functions[each.key].gateway_timeout, var.gateway_timeout) * 1000
}

resource "aws_apigatewayv2_route" "this" {
  for_each = var.routes

  api_id             = aws_apigatewayv2_api.this.id
  route_key          = each.key
  authorization_type = each.value.authorization
  target             = "integrations/${aws_apigatewayv2_integration.this[each.value.function].id}"
}

resource "aws_lambda_permission" "api" {
  for_each = local.served

  statement_id  = "api"
  action        = "lambda:InvokeFunction"
  function_name = module.function[each.key].name
  principal     = "apigateway.amazonaws.com"
  source_arn    = "${aws_apigatewayv2_api.this.execution_arn}/*/*"
}

resource "aws_cloudwatch_log_group" "access" {
  name              = "/api/${var.name}"
  retention_in_days = var.access_log_days
  tags              = var.tags
}
