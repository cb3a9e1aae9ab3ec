resource "aws_glue_catalog_database" "seed" {
  name         = "seed"
  description  = "first" # then "second"
  location_uri = "s3://first" # then "s3://second"
  parameters   = { a = "b" } # then { a = "c" }
  tags         = { team = "one" } # then { team = "two" }
}

resource "aws_glue_catalog_table" "seed" {
  name          = "seed"
  database_name = aws_glue_catalog_database.seed.name
  description   = "first" # then "second"
  owner         = "first" # then "second"
  retention     = 1 # then 2
  table_type    = "EXTERNAL_TABLE" # then "VIRTUAL_VIEW"
  parameters    = { EXTERNAL = "TRUE" } # then { EXTERNAL = "FALSE" }
  storage_descriptor {
    location      = "s3://first/a" # then "s3://second/a"
    input_format  = "org.apache.hadoop.mapred.TextInputFormat"
    output_format = "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat"
    columns {
      name    = "a" # then "b"
      type    = "string" # then "int"
      comment = "first" # then "second"
    }
  }
  partition_keys {
    name = "day"
    type = "string"
  }
}

resource "aws_glue_partition" "seed" {
  database_name    = aws_glue_catalog_database.seed.name
  table_name       = aws_glue_catalog_table.seed.name
  partition_values = ["2026"]
  parameters       = { a = "b" } # then { a = "c" }
}

resource "aws_glue_connection" "seed" {
  name                  = "seed"
  description           = "first"
  connection_properties = { JDBC_CONNECTION_URL = "jdbc:mysql://a.example.com/a", PASSWORD = "placeholder", USERNAME = "seed" }
  tags                  = { team = "one" } # then { team = "two" }
}

resource "aws_glue_crawler" "seed" {
  name          = "seed"
  database_name = aws_glue_catalog_database.seed.name
  role          = "arn:aws:iam::123456789012:role/first"
  description   = "first"
  schedule      = "cron(15 12 * * ? *)"
  table_prefix  = "a"
  s3_target {
    path = "s3://first"
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_glue_job" "seed" {
  name              = "seed"
  description       = "first" # then "second"
  role_arn          = "arn:aws:iam::123456789012:role/first" # then "arn:aws:iam::123456789012:role/second"
  glue_version      = "4.0"
  worker_type       = "G.1X" # then "G.2X"
  number_of_workers = 2 # then 3
  max_retries       = 1 # then 2
  timeout           = 100 # then 200
  command {
    name            = "glueetl"
    script_location = "s3://first/a.py" # then "s3://first/b.py"
    python_version  = "3"
  }
  default_arguments = { "--a" = "b" } # then { "--a" = "c" }
  execution_property {
    max_concurrent_runs = 1 # then 2
  }
  tags = { team = "one", kept = "yes" } # then { team = "two", added = "yes" }
}

resource "aws_glue_trigger" "seed" {
  name          = "seed"
  description   = "first"
  type          = "SCHEDULED"
  schedule      = "cron(15 12 * * ? *)"
  enabled       = false
  actions {
    job_name = aws_glue_job.seed.name
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_glue_registry" "seed" {
  registry_name = "seed"
  description   = "seed"
  tags          = { team = "one" } # then { team = "two" }
}

resource "aws_glue_schema" "seed" {
  schema_name       = "seed"
  registry_arn      = aws_glue_registry.seed.arn
  data_format       = "AVRO"
  compatibility     = "NONE" # then "BACKWARD"
  description       = "first" # then "second"
  schema_definition = jsonencode({ type = "record", name = "r1", fields = [{ name = "f1", type = "int" }] })
  tags              = { team = "one" } # then { team = "two" }
}

resource "aws_glue_workflow" "seed" {
  name                   = "seed"
  description            = "first" # then "second"
  default_run_properties = { a = "b" } # then { a = "c" }
  max_concurrent_runs    = 1 # then 2
  tags                   = { team = "one" } # then { team = "two" }
}

resource "aws_glue_security_configuration" "seed" {
  name = "seed"
  encryption_configuration {
    cloudwatch_encryption {
      cloudwatch_encryption_mode = "DISABLED"
    }
    job_bookmarks_encryption {
      job_bookmarks_encryption_mode = "DISABLED"
    }
    s3_encryption {
      s3_encryption_mode = "SSE-S3"
    }
  }
}

resource "aws_glue_data_catalog_encryption_settings" "seed" {
  data_catalog_encryption_settings {
    connection_password_encryption {
      return_connection_password_encrypted = true # then false
      aws_kms_key_id                       = "arn:aws:kms:eu-west-1:123456789012:key/first" # then "arn:aws:kms:eu-west-1:123456789012:key/second"
    }
    encryption_at_rest {
      catalog_encryption_mode = "SSE-KMS"
      sse_aws_kms_key_id      = "arn:aws:kms:eu-west-1:123456789012:key/first" # then "arn:aws:kms:eu-west-1:123456789012:key/second"
    }
  }
}

resource "aws_glue_resource_policy" "seed" {
  policy = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Principal = { AWS = "123456789012" }, Action = ["glue:GetTable"], Resource = "*" }] }) # then jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Deny", Principal = { AWS = "123456789012" }, Action = ["glue:GetTable"], Resource = "*" }] })
}

resource "aws_glue_dev_endpoint" "seed" {
  name     = "seed"
  role_arn = "arn:aws:iam::123456789012:role/first"
  tags     = { team = "one" } # then { team = "two" }
}
