# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Stands in for OpenVINO in bench_test.py: a peer that cannot run the model.

__version__ = "0.fake"


class Core:
    def read_model(self, path):
        raise RuntimeError("no such op | Frobnicate")
