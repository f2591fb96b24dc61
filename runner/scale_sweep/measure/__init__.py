"""Runs a plan: one trial on its server (`trial`), all of them (`executing`), or samples without a load
(`observing`)."""
