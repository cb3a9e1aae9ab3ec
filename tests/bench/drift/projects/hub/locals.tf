locals {
  name = "hub"
  tags = { Team = "network", Terraform = "true" }

  # What each workspace has over what all of them have; the account's own workspace is the default one.
  defaults = {
    flow_log_days = 30
    dns_hostnames = true
    session_days  = 14
    report_rate   = "rate(1 day)"
  }

  workspaces = {
    default   = { flow_log_days = 90, session_days = 60 }
    rehearsal = { flow_log_days = 3 }
  }

  settings = merge(local.defaults, lookup(local.workspaces, terraform.workspace, {}))

  zones = ["eu-west-1a", "eu-west-1b"]

  networks = {
    shared     = { cidr = "10.60.0.0/16" }
    edge       = { cidr = "10.61.0.0/16", public_addresses = true }
    inspection = { cidr = "10.62.0.0/16", flow_log_days = 365, tags = { Owner = "security" } }
  }

  subnets = merge([for network, given in local.networks : { for index, zone in local.zones : "${network}-${substr(zone, -1, 1)}" => {
    network = network
    zone    = zone
    cidr    = cidrsubnet(given.cidr, 8, index)
    public  = lookup(given, "public_addresses", false)
  } }]...)

  routes   = jsondecode(file("${path.module}/data/routes.json"))
  gateways = { internet = aws_internet_gateway.edge.id, office = aws_vpn_gateway.office.id }

  acl_rules = {
    web     = { number = 100, port = 443 }
    tunnel  = { number = 110, port = 500, protocol = "udp" }
    scanner = { number = 120, port = 22, cidr = "198.51.100.64/28" }
  }

  groups   = { resolver = "Asks for names", proxy = "The way out", relay = "Mail of all networks" }
  firewall = { for rule in csvdecode(file("${path.module}/data/firewall.csv")) : rule.name => rule }

  offices = { berlin = "192.0.2.0/27", porto = "198.51.100.32/27" }

  alarm_defaults = { period = 60, evaluation_periods = 3, statistic = "Sum" }

  alarms = {
    tunnel-drops = { metric = "Dropped" }
    nat-ports    = { metric = "PortErrors", threshold = 10 }
    dns-failures = { metric = "ServFail", evaluation_periods = 5 }
  }

  functions = yamldecode(templatefile("${path.module}/templates/functions.yaml.tftpl", { report_memory = var.report_memory }))
}
