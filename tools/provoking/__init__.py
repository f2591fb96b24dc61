"""Parts of tools/provoke.py: commands of `scale` with odd input, and an oracle that judges how each ends."""
