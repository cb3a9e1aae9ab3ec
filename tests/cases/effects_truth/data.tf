data "aws_subnets" "default" {}

resource "aws_security_group" "seed" {
  name = "truth-data"
}

resource "aws_iam_role" "seed" {
  name               = "truth-data"
  assume_role_policy = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Principal = { Service = ["transfer.amazonaws.com", "sagemaker.amazonaws.com"] }, Action = "sts:AssumeRole" }] })
}

resource "aws_timestreamwrite_database" "seed" {
  database_name = "seed"
  kms_key_id    = "arn:aws:kms:eu-west-1:123456789012:key/first" # then "arn:aws:kms:eu-west-1:123456789012:key/second"
  tags          = { team = "one" } # then { team = "two" }
}

resource "aws_timestreamwrite_table" "seed" {
  database_name = aws_timestreamwrite_database.seed.database_name
  table_name    = "seed"
  retention_properties {
    magnetic_store_retention_period_in_days = 30 # then 40
    memory_store_retention_period_in_hours  = 8 # then 9
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_dms_replication_subnet_group" "seed" {
  replication_subnet_group_id          = "seed"
  replication_subnet_group_description = "first"
  subnet_ids                           = [data.aws_subnets.default.ids[0], data.aws_subnets.default.ids[1]]
  tags                                 = { team = "one" } # then { team = "two" }
}

resource "aws_dms_replication_instance" "seed" {
  replication_instance_id    = "seed"
  replication_instance_class = "dms.t3.micro"
  allocated_storage          = 20
  apply_immediately          = true
  tags                       = { team = "one" } # then { team = "two" }
}

resource "aws_dms_endpoint" "seed" {
  endpoint_id   = "seed"
  endpoint_type = "source"
  engine_name   = "mysql"
  server_name   = "a.example.com"
  port          = 3306
  username      = "seed"
  password      = "placeholder"
  tags          = { team = "one" } # then { team = "two" }
}

resource "aws_datasync_location_s3" "seed" {
  s3_bucket_arn = "arn:aws:s3:::first"
  subdirectory  = "/a"
  s3_config {
    bucket_access_role_arn = aws_iam_role.seed.arn
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_transfer_server" "seed" {
  identity_provider_type = "SERVICE_MANAGED"
  protocols              = ["SFTP"]
  tags                   = { team = "one" } # then { team = "two" }
}

resource "aws_transfer_user" "seed" {
  server_id      = aws_transfer_server.seed.id
  user_name      = "seed"
  role           = aws_iam_role.seed.arn
  home_directory = "/a"
  tags           = { team = "one" } # then { team = "two" }
}

resource "aws_sagemaker_model" "seed" {
  name               = "seed"
  execution_role_arn = aws_iam_role.seed.arn
  primary_container {
    image = "123456789012.dkr.ecr.eu-west-1.amazonaws.com/a:b"
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_sagemaker_endpoint_configuration" "seed" {
  name = "seed"
  production_variants {
    variant_name           = "a"
    model_name             = aws_sagemaker_model.seed.name
    initial_instance_count = 1
    instance_type          = "ml.t2.medium"
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_sagemaker_endpoint_configuration" "second" {
  name = "second"
  production_variants {
    variant_name           = "a"
    model_name             = aws_sagemaker_model.seed.name
    initial_instance_count = 1
    instance_type          = "ml.t2.medium"
  }
}

resource "aws_sagemaker_endpoint" "seed" {
  name                 = "seed"
  endpoint_config_name = aws_sagemaker_endpoint_configuration.seed.name
  tags                 = { team = "one" } # then { team = "two" }
}

resource "aws_sagemaker_notebook_instance" "seed" {
  name          = "seed"
  role_arn      = aws_iam_role.seed.arn
  instance_type = "ml.t2.medium"
  tags          = { team = "one" } # then { team = "two" }
}

resource "aws_sagemaker_notebook_instance_lifecycle_configuration" "seed" {
  name     = "seed"
  on_start = base64encode("first")
}

resource "aws_fsx_lustre_file_system" "seed" {
  storage_capacity = 1200
  subnet_ids       = [data.aws_subnets.default.ids[0]]
  tags             = { team = "one" } # then { team = "two" }
}

resource "aws_glacier_vault" "seed" {
  name = "seed"
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_media_store_container" "seed" {
  name = "seed"
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_ivs_channel" "seed" {
  name         = "seed"
  latency_mode = "LOW"
  type         = "STANDARD"
}

resource "aws_quicksight_group" "seed" {
  group_name  = "seed"
  description = "first"
}

resource "aws_quicksight_user" "seed" {
  user_name     = "seed"
  email         = "seed@example.com"
  identity_type = "QUICKSIGHT"
  user_role     = "READER"
}

resource "aws_quicksight_group_membership" "seed" {
  group_name  = aws_quicksight_group.seed.group_name
  member_name = aws_quicksight_user.seed.user_name
}

resource "aws_directory_service_directory" "seed" {
  name     = "seed.example.com"
  password = "Placeholder-1"
  size     = "Small"
  vpc_settings {
    vpc_id     = aws_vpc.seed.id
    subnet_ids = [aws_subnet.a.id, aws_subnet.b.id]
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_vpc" "seed" {
  cidr_block = "10.1.0.0/16"
}

resource "aws_subnet" "a" {
  vpc_id            = aws_vpc.seed.id
  cidr_block        = "10.1.1.0/24"
  availability_zone = "eu-west-1a"
}

resource "aws_subnet" "b" {
  vpc_id            = aws_vpc.seed.id
  cidr_block        = "10.1.2.0/24"
  availability_zone = "eu-west-1b"
}

resource "aws_s3tables_table_bucket" "seed" {
  name = "truth-tables"
}

resource "aws_s3tables_namespace" "seed" {
  namespace        = "seed"
  table_bucket_arn = aws_s3tables_table_bucket.seed.arn
}

resource "aws_workspaces_ip_group" "seed" {
  name        = "seed"
  description = "first"
}

resource "aws_rekognition_collection" "seed" {
  collection_id = "seed"
}

resource "aws_comprehend_document_classifier" "seed" {
  name                 = "seed"
  data_access_role_arn = aws_iam_role.seed.arn
  language_code        = "en"
  input_data_config {
    s3_uri = "s3://first/a"
  }
}

resource "aws_transcribe_vocabulary" "seed" {
  vocabulary_name = "seed"
  language_code   = "en-US"
  phrases         = ["first"]
}

resource "aws_networkfirewall_firewall_policy" "seed" {
  name = "seed"
  firewall_policy {
    stateless_default_actions          = ["aws:pass"]
    stateless_fragment_default_actions = ["aws:drop"]
  }
  tags = { team = "one" } # then { team = "two" }
}
