resource "aws_cloudwatch_log_group" "lambda" {
  count = var.create ? 1 : 0

  name              = "/aws/lambda/${var.function_name}"
  retention_in_days = var.cloudwatch_logs_retention_in_days
  tags              = merge(var.tags, var.cloudwatch_logs_tags)
}

resource "aws_iam_role" "lambda" {
  count = var.create ? 1 : 0

  name        = var.function_name
  description = coalesce(var.role_description, "Role of ${var.function_name}")
  tags        = merge(var.tags, var.role_tags)

  assume_role_policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "lambda.amazonaws.com" } }]
  })
}

resource "aws_iam_role_policy" "additional" {
  count = var.create && length(var.policy_statements) > 0 ? 1 : 0

  name = "${var.function_name}-inline"
  role = aws_iam_role.lambda[0].name

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      for key, statement in var.policy_statements : {
        Sid      = replace(title(key), "-", "")
        Effect   = try(statement.effect, "Allow")
        Action   = statement.actions
        Resource = statement.resources
      }
    ]
  })
}

resource "aws_lambda_function" "this" {
  count = var.create ? 1 : 0

  function_name                  = var.function_name
  description                    = var.description
  role                           = aws_iam_role.lambda[0].arn
  handler                        = var.handler
  runtime                        = var.runtime
  filename                       = var.package
  memory_size                    = var.memory_size
  timeout                        = var.timeout
  reserved_concurrent_executions = var.reserved_concurrent_executions
  tags                           = var.tags

  dynamic "environment" {
    for_each = length(keys(var.environment_variables)) == 0 ? [] : [true]

    content {
      variables = var.environment_variables
    }
  }

  dynamic "tracing_config" {
    for_each = var.tracing_mode == null ? [] : [true]

    content {
      mode = var.tracing_mode
    }
  }

  depends_on = [aws_cloudwatch_log_group.lambda]
}

resource "aws_lambda_function_event_invoke_config" "this" {
  count = var.create && var.create_async_event_config ? 1 : 0

  function_name                = aws_lambda_function.this[0].function_name
  maximum_event_age_in_seconds = var.maximum_event_age_in_seconds
  maximum_retry_attempts       = var.maximum_retry_attempts
}

resource "aws_lambda_event_source_mapping" "this" {
  for_each = { for key, source in var.event_source_mapping : key => source if var.create }

  function_name    = aws_lambda_function.this[0].arn
  event_source_arn = each.value.event_source_arn
  batch_size       = try(each.value.batch_size, null)
  enabled          = try(each.value.enabled, true)
}

output "arn" {
  value = try(aws_lambda_function.this[0].arn, "")
}

output "name" {
  value = try(aws_lambda_function.this[0].function_name, "")
}
