locals {
  function_defaults = { memory = 128, timeout = 30, concurrency = -1 }
  environment       = { LEVEL = "info", NAMESPACE = local.id }

  functions = {
    digest = { environment = { HOUR = "7" }, memory = 256 }
    enrich = { concurrency = 10 }
    ship   = {}
  }

  settings = {
    flush-seconds = "10"
    sample-rate   = "0.1"
    max-spans     = "5000"
  }

  workers = {
    for name, function in local.functions : name => merge(
      local.function_defaults,
      function,
      { environment = merge(local.environment, try(function.environment, {})) }
    ) if local.enabled
  }
}
