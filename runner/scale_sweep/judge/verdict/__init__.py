"""Is this number the server's, and what was the bottleneck?"""
