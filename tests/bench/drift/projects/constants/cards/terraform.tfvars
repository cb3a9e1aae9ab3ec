services = {
  authorize = { count = 3, image = "cards/authorize:4.2" }
  settle    = { count = 1, image = "cards/settle:4.0" }
}

alarms = {
  declined   = { metric = "Declined", threshold = 50, about = "Cards are declined" }
  fraud      = { metric = "FraudScore", threshold = 90, statistic = "Maximum" }
  settlement = { metric = "Unsettled", threshold = 10, period = 3600, periods = 1 }
}
