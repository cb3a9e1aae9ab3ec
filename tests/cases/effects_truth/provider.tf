provider "aws" {
  region                      = "eu-west-1"
  max_retries                 = 1
  skip_credentials_validation = true
  skip_metadata_api_check     = true
  s3_use_path_style           = true
}
