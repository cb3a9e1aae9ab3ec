runner_max = 3

workers = {
  mailer  = { visibility = 120 }
  indexer = { desired_count = 2 }
}

admin_ports = [
  { port = 22, cidrs = ["192.0.2.0/28"], about = "ssh" },
  { port = 9090, cidrs = ["192.0.2.0/28", "198.51.100.0/28"], about = "metrics" },
]
