"""Does a stored run still contain what was measured?"""
