resource "aws_iam_role" "functions" {
  name = "${local.id}-functions"
  tags = local.tags

  assume_role_policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "lambda.amazonaws.com" } }]
  })
}

resource "aws_lambda_function" "this" {
  for_each = local.workers

  function_name                  = "${local.id}-${each.key}"
  role                           = aws_iam_role.functions.arn
  handler                        = "${each.key}.handler"
  runtime                        = "python3.12"
  filename                       = "${path.module}/code.zip"
  memory_size                    = each.value.memory
  timeout                        = each.value.timeout
  reserved_concurrent_executions = each.value.concurrency
  tags                           = local.tags

  environment {
    variables = each.value.environment
  }
}

resource "aws_ssm_parameter" "agent" {
  for_each = local.settings

  name  = "/${local.id}/agent/${each.key}"
  type  = "String"
  value = lookup(var.settings, each.key, each.value)
}

resource "aws_vpc" "collectors" {
  cidr_block = "10.20.0.0/16"
  tags       = merge(local.tags, { Name = "${local.id}-collectors" })
}

resource "aws_security_group" "collectors" {
  name        = "${local.id}-collectors"
  description = "Collectors of traces and metrics"
  vpc_id      = aws_vpc.collectors.id
  tags        = local.tags

  dynamic "ingress" {
    for_each = [
      { port = 4317, cidrs = ["10.20.0.0/16"], about = "OTLP over gRPC" },
      { port = 4318, cidrs = ["10.20.0.0/16", "10.30.0.0/16"], about = "OTLP over HTTP" },
    ]

    content {
      protocol    = "tcp"
      from_port   = ingress.value.port
      to_port     = ingress.value.port
      cidr_blocks = ingress.value.cidrs
      description = ingress.value.about
    }
  }
}
