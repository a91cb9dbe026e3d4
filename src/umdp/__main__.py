"""``python -m umdp``: the command line, where the console script is not on the path."""

from umdp.cli import main

if __name__ == "__main__":
    main()
