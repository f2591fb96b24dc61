"""Parts that every package may use: errors, units, texts, input files, signals, child processes, registries."""
