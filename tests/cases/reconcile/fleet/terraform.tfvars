desired = 2

teams = {
  red  = { days = 7 }
  blue = { days = 14 }
}
