# lit's shell tests, which remove the files of their earlier runs first.
import glob
import os
import shutil

import lit.formats


class FreshShTest(lit.formats.ShTest):
    """Removes the files that %t names before a test runs. A file that a tool no
    longer writes is then missing, as in a fresh build."""

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
