"""Takes signals (alerts, vulnerabilities, tickets) from outside sources, maps them to resources, and checks the evidence of motives against them."""
