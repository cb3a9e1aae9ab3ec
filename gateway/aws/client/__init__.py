"""The client towards AWS: serialize, sign, send once, classify the reply. Read `mutations` first."""
