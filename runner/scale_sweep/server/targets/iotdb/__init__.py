"""IoTDB."""
