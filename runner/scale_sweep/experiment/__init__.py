"""Settings, the operations of a load, and the axes along which a server is scaled."""
