# lit's shell tests, each of which finds nothing of its earlier runs.
import glob
import os
import shutil

import lit.formats


class FreshShTest(lit.formats.ShTest):
    """Removes what %t names before the test runs: a file that a tool no longer
    writes must be missing here as it is in a fresh build."""

    def execute(self, test, lit_config):
        folder, name = os.path.split(test.getExecPath())
        pattern = os.path.join(
            glob.escape(os.path.join(folder, "Output")), glob.escape(name) + ".tmp*"
        )
        for path in glob.glob(pattern):
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            else:
                os.remove(path)
        return super().execute(test, lit_config)
