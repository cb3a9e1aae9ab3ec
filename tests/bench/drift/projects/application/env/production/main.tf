module "web" {
  source = "../../modules/app"

  stage        = "production"
  name         = "web"
  size         = "m5.large"
  error_limit  = 50
  long_polling = true

  instances = {
    min     = 2
    max     = 12
    desired = 4
  }
}

module "store" {
  source = "../../modules/store"

  stage    = "production"
  capacity = 25
  buckets  = { uploads = "web" }
}

resource "aws_cloudwatch_log_group" "audit" {
  name              = "/production/audit"
  retention_in_days = 731
}
