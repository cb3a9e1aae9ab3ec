resource "aws_api_gateway_rest_api" "shop" {
  name = "services-shop"
}

resource "aws_api_gateway_resource" "orders" {
  rest_api_id = aws_api_gateway_rest_api.shop.id
  parent_id   = aws_api_gateway_rest_api.shop.root_resource_id
  path_part   = "orders"
}

resource "aws_api_gateway_method" "orders_get" {
  rest_api_id   = aws_api_gateway_rest_api.shop.id
  resource_id   = aws_api_gateway_resource.orders.id
  http_method   = "GET"
  authorization = "AWS_IAM"
}

resource "aws_apigatewayv2_api" "mobile" {
  name          = "services-mobile"
  protocol_type = "HTTP"
}

resource "aws_apigatewayv2_integration" "worker" {
  api_id                 = aws_apigatewayv2_api.mobile.id
  integration_type       = "AWS_PROXY"
  integration_uri        = aws_lambda_function.worker.invoke_arn
  payload_format_version = "2.0"
}

resource "aws_apigatewayv2_route" "orders" {
  api_id    = aws_apigatewayv2_api.mobile.id
  route_key = "GET /orders"
  target    = "integrations/${aws_apigatewayv2_integration.worker.id}"
}

resource "aws_route53_zone" "main" {
  name = "services.example.org"
}

resource "aws_route53_record" "host" {
  for_each = local.hosts

  zone_id = aws_route53_zone.main.zone_id
  name    = "${each.key}.services.example.org"
  type    = "A"
  ttl     = 300
  records = [each.value]
}
