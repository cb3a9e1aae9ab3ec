queues = {
  postings = { delay = 5 }
  payouts  = {}
  closings = { visibility = 900, keep_days = 14 }
}

cutoff = {
  ie = "17:00"
  uk = "17:30"
  us = "22:00"
}
