"""Where the missing part of the rate went: an exact account of each level's efficiency."""
