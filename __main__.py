"""``python -m rigconv``."""

from .converters.cli import main

main()
