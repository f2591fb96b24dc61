"""`scale judge`: a load tool and a server that run already."""
