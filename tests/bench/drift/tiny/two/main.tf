module "app" {
  source = "../modules/log"

  name = "/two/app"
}
