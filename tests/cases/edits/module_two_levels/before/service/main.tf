variable "name" {
  type = string
}

module "jobs" {
  source = "../queue"
  name   = "${var.name}-jobs"
}
