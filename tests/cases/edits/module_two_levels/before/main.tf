module "shop" {
  source = "./service"
  name   = "shop"
}

module "mail" {
  source = "./service"
  name   = "mail"
}
