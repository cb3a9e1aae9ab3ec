module "zone" {
  source = "./vendor/zone"

  name    = "hub.example.org"
  records = { for host, address in var.hosts : host => { addresses = [address], ttl = var.dns.ttl } }
  tags    = local.tags
}

module "status_zone" {
  source = "./vendor/zone"

  name    = "status.example.org"
  comment = var.dns.comment
  records = {
    www  = { addresses = ["192.0.2.80"], ttl = 60 }
    page = { addresses = ["192.0.2.80", "192.0.2.81"] }
  }
}
