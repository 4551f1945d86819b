"""`python -m benchmarks NAME [options]`: every number of the pages of the benchmarks."""

import sys

from benchmarks.commands import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
