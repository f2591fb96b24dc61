"""One trial: provision → ready → schema → preload → check → warm-up → measure → drain → flush → verify → teardown."""
