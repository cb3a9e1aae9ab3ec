environment = "production"
log_days    = 60

tiers = {
  small  = { memory = 256, timeout = 60 }
  medium = { memory = 512, timeout = 120 }
  large  = { memory = 1024, timeout = 180, concurrency = 20 }
}

parameters = {
  snapshot  = "daily"
  timezone  = "UTC"
  watermark = "900"
}

quality = { rejected = 200 }
