locals {
  tags     = { ManagedBy = "platform", Environment = var.environment }
  defaults = yamldecode(file("${path.module}/teams/_defaults.yaml"))
  owners   = yamldecode(file("${path.module}/teams/_owners.yaml"))

  # A service is a file in the folder of its team.
  services = {
    for service in fileset("${path.module}/teams", "*/*.yaml") :
    trimsuffix(basename(service), ".yaml") => merge({ team = dirname(service), tier = "standard" }, yamldecode(file("${path.module}/teams/${service}")))
  }

  queues = merge([for name, service in local.services : {
    for queue, given in try(service.queues, {}) : "${name}-${queue}" => merge(local.defaults.queue, { service = name, team = service.team }, given)
  }]...)

  tables = merge([for name, service in local.services : {
    for table, given in try(service.tables, {}) : "${name}-${table}" => merge({ key = "id", tags = {} }, given)
  }]...)

  alarms = merge([for name, service in local.services : {
    for alarm, given in try(service.alarms, {}) : "${name}-${alarm}" => merge(local.defaults.alarm, { tier = service.tier }, given)
  }]...)

  parameters = merge([for name, service in local.services : {
    for key, value in try(service.parameters, {}) : "/${name}/${key}" => value
  }]...)

  topics = merge([for name, service in local.services : {
    for topic in try(service.topics, []) : "${name}-${topic}" => { team = service.team }
  }]...)

  subscriptions = merge([for name, service in local.services : {
    for link in try(service.listens, []) : "${link.topic}-${name}-${link.queue}" => { topic = link.topic, queue = "${name}-${link.queue}", filter = try(link.filter, null) }
  }]...)

  rules = merge([for name, service in local.services : {
    for rule in try(service.open, []) : "${name}-${rule.name}" => merge({ service = name }, rule)
  }]...)

  schedules = { for name, service in local.services : name => { rate = service.schedule, paused = try(service.paused, false) } if can(service.schedule) }
}
