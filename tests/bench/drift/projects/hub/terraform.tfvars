hosts = {
  resolver = "10.60.0.2"
  proxy    = "10.60.0.10"
  vpn      = "10.61.0.4"
  relay    = "10.60.1.25"
}

queues = {
  findings = { visibility = 120, attempts = 5 }
  changes  = { wait = 20 }
  tickets  = {}
}

bastions = {
  admin   = { min = 1, max = 2, desired = 1 }
  vendors = { min = 0, max = 3, desired = 1, instance_type = "t3.nano" }
}
