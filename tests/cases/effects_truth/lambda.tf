resource "aws_iam_role" "seed" {
  name               = "lambda"
  assume_role_policy = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Principal = { Service = "lambda.amazonaws.com" }, Action = "sts:AssumeRole" }] })
}

resource "aws_iam_role" "second" {
  name               = "lambda-second"
  assume_role_policy = aws_iam_role.seed.assume_role_policy
}

resource "aws_sqs_queue" "seed" {
  name = "truth-lambda"
}

resource "aws_sqs_queue" "second" {
  name = "truth-lambda-second"
}

resource "aws_lambda_function" "seed" {
  function_name = "seed"
  description   = "first" # then "second"
  filename      = "${path.cwd}/code.zip"
  handler       = "a.handler" # then "b.handler"
  role          = aws_iam_role.seed.arn # then aws_iam_role.second.arn
  runtime       = "python3.11" # then "python3.12"
  memory_size   = 128 # then 256
  timeout       = 3 # then 6
  layers        = [aws_lambda_layer_version.seed.arn] # then []
  publish       = true
  reserved_concurrent_executions = 5 # then 6
  environment {
    variables = { A = "b" } # then { A = "c", D = "e" }
  }
  tracing_config {
    mode = "PassThrough" # then "Active"
  }
  dead_letter_config {
    target_arn = aws_sqs_queue.seed.arn # then aws_sqs_queue.second.arn
  }
  ephemeral_storage {
    size = 512 # then 1024
  }
  tags = { team = "one", kept = "yes" } # then { team = "two", added = "yes" }
}

resource "aws_lambda_function" "bare" {
  function_name = "bare"
  filename      = "${path.cwd}/code.zip"
  handler       = "a.handler"
  role          = aws_iam_role.seed.arn
  runtime       = "python3.12"
  publish       = true
}

resource "aws_lambda_layer_version" "seed" {
  layer_name          = "seed"
  description         = "seed"
  filename            = "${path.cwd}/code.zip"
  compatible_runtimes = ["python3.11"]
  license_info        = "MIT"
}

resource "aws_lambda_layer_version_permission" "seed" {
  layer_name     = aws_lambda_layer_version.seed.layer_name
  version_number = aws_lambda_layer_version.seed.version
  statement_id   = "seed"
  action         = "lambda:GetLayerVersion"
  principal      = "111111111111"
}

resource "aws_lambda_alias" "seed" {
  name             = "seed"
  description      = "first" # then "second"
  function_name    = aws_lambda_function.bare.function_name
  function_version = aws_lambda_function.bare.version # then "$LATEST"
}

resource "aws_lambda_permission" "seed" {
  statement_id  = "seed"
  action        = "lambda:InvokeFunction"
  function_name = aws_lambda_function.bare.function_name
  principal     = "events.amazonaws.com"
  source_arn    = "arn:aws:events:eu-west-1:123456789012:rule/seed"
}

resource "aws_lambda_event_source_mapping" "seed" {
  event_source_arn                   = aws_sqs_queue.seed.arn
  function_name                      = aws_lambda_function.bare.arn
  batch_size                         = 5 # then 6
  enabled                            = true # then false
  maximum_batching_window_in_seconds = 1 # then 2
  filter_criteria {
    filter {
      pattern = jsonencode({ a = ["b"] }) # then jsonencode({ a = ["c"] })
    }
  }
}

resource "aws_lambda_function_url" "seed" {
  function_name      = aws_lambda_function.bare.function_name
  authorization_type = "NONE" # then "AWS_IAM"
  cors {
    allow_origins = ["https://a.example.com"] # then ["https://b.example.com"]
    max_age       = 100 # then 200
  }
}

resource "aws_lambda_function_event_invoke_config" "seed" {
  function_name                = aws_lambda_function.bare.function_name
  maximum_event_age_in_seconds = 60 # then 120
  maximum_retry_attempts       = 0 # then 1
  destination_config {
    on_failure {
      destination = aws_sqs_queue.seed.arn # then aws_sqs_queue.second.arn
    }
  }
}
