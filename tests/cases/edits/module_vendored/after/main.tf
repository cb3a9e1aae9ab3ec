module "a" {
  source = "./vendor/queue"
  name   = "a"
  delay  = 5
}
