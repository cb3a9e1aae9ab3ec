environment = "production"
cidr        = "10.60.0.0/16"
zones       = ["a", "b"]

tiers = {
  public  = { first = 0, public_ip = true }
  private = { first = 10 }
  data    = { first = 20, tags = { Data = "internal" } }
}

edge = [{ port = "443", from = "0.0.0.0/0" }, { port = "80", from = "0.0.0.0/0" }]

offices = [{ cidr = "192.0.2.0/26", name = "Berlin" }, { cidr = "192.0.2.64/26", name = "Lyon" }]

inside = {
  api     = { port = 8443, cidr = "10.60.0.0/16", why = "Services among themselves" }
  metrics = { port = 9100, cidr = "10.0.0.0/8" }
}
