resource "aws_s3_bucket" "seed" {
  bucket        = "truth-athena"
  force_destroy = true
}

resource "aws_athena_workgroup" "seed" {
  name          = "seed"
  description   = "first" # then "second"
  state         = "ENABLED" # then "DISABLED"
  force_destroy = true
  configuration {
    enforce_workgroup_configuration    = true # then false
    publish_cloudwatch_metrics_enabled = true # then false
    bytes_scanned_cutoff_per_query     = 10485760 # then 10485761
    result_configuration {
      output_location = "s3://truth-athena/a/" # then "s3://truth-athena/b/"
    }
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_athena_database" "seed" {
  name          = "seed"
  bucket        = aws_s3_bucket.seed.id
  force_destroy = true
}

resource "aws_athena_data_catalog" "seed" {
  name        = "seed"
  description = "first"
  type        = "LAMBDA"
  parameters  = { function = "arn:aws:lambda:eu-west-1:123456789012:function:first" }
  tags        = { team = "one" } # then { team = "two" }
}

resource "aws_athena_named_query" "seed" {
  name        = "seed"
  workgroup   = aws_athena_workgroup.seed.id
  database    = "seed"
  description = "first"
  query       = "SELECT 1"
}

resource "aws_athena_prepared_statement" "seed" {
  name            = "seed"
  workgroup       = aws_athena_workgroup.seed.name
  query_statement = "SELECT 1"
  description     = "first"
}
