# The same module twice: a value for one of them is an argument here, never an edit in the module.
module "retry" {
  source = "./modules/worker"

  name       = "kafka-retry"
  visibility = 60
}

module "archive" {
  source = "./modules/worker"

  name       = "kafka-archive"
  visibility = 300
  alarm_at   = 5000
}
