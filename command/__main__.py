import sys

from xcuda.command.main import main

sys.exit(main())
