locals {
  severities = {
    digest = { subscribers = { digest = { protocol = "lambda", endpoint = aws_lambda_function.this["digest"].arn } } }
    page   = { display_name = "Page the watch" }
    ticket = { display_name = "Ticket for the watch" }
  }

  topics = { for name, severity in local.severities : name => severity if local.enabled }
}
