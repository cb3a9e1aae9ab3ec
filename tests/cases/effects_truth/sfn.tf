resource "aws_iam_role" "seed" {
  name               = "truth-sfn"
  assume_role_policy = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Principal = { Service = "states.amazonaws.com" }, Action = "sts:AssumeRole" }] })
}

resource "aws_iam_role" "second" {
  name               = "truth-sfn-second"
  assume_role_policy = aws_iam_role.seed.assume_role_policy
}

resource "aws_sfn_activity" "seed" {
  name = "seed"
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_cloudwatch_log_group" "seed" {
  name = "truth-sfn"
}

resource "aws_sfn_state_machine" "seed" {
  name       = "seed"
  role_arn   = aws_iam_role.seed.arn # then aws_iam_role.second.arn
  type       = "STANDARD"
  definition = jsonencode({ StartAt = "a", States = { a = { Type = "Pass", Result = "first", End = true } } }) # then jsonencode({ StartAt = "a", States = { a = { Type = "Pass", Result = "second", End = true } } })
  logging_configuration {
    level                  = "ERROR" # then "ALL"
    include_execution_data = false # then true
    log_destination        = "${aws_cloudwatch_log_group.seed.arn}:*"
  }
  tracing_configuration {
    enabled = false # then true
  }
  tags = { team = "one", kept = "yes" } # then { team = "two", added = "yes" }
}

resource "aws_sfn_alias" "seed" {
  name        = "seed"
  description = "first" # then "second"
  routing_configuration {
    state_machine_version_arn = "${aws_sfn_state_machine.seed.arn}:1"
    weight                    = 100
  }
}
