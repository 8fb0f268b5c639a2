"""What the project claims about its speed, measured: ``python dev.py bench``."""
