"""python -m monotable: the monotable command."""

from . import main

main()
