module "shop" {
  source = "./service"
  name   = "shop"

  delay_seconds = 5
}

module "mail" {
  source = "./service"
  name   = "mail"

  keep_days = 2
}
