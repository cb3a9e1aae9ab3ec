locals {
  filter_defaults = { period = 300, periods = 1, severity = "ticket" }

  # Who writes logs, and what is counted in them
  sources = {
    api = {
      days = 14
      filters = {
        errors  = { pattern = "{ $.level = \"error\" }", threshold = 10, severity = "page" }
        latency = { pattern = "{ $.ms > 2000 }", threshold = 50, periods = 3 }
      }
    }
    auth = {
      tags = { Data = "personal" }
      filters = {
        denied = { pattern = "{ $.outcome = \"denied\" }", threshold = 20 }
        errors = { pattern = "{ $.level = \"error\" }", threshold = 1 }
      }
    }
    flow  = {}
    probe = { enabled = false, days = 3 }
  }

  active = { for name, source in local.sources : name => source if local.enabled && try(source.enabled, true) }

  filters = merge([
    for name, source in local.active : {
      for key, filter in try(source.filters, {}) : "${name}-${key}" => merge(local.filter_defaults, filter, { source = name })
    }
  ]...)
}
