"""`python -m structgen`: the command."""

import sys

from structgen.cli import main

sys.exit(main())
