module "a" {
  source = "./vendor/queue"
  name   = "a"
}
