"""Runs `scale-loadgen`: writes its spec, reads its JSON lines, and merges several processes."""
