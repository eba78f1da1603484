# SPDX-License-Identifier: BSD-3-Clause
"""The rules of tools/check-house by name. Each takes the tree and yields path, line and what is wrong there."""
from . import one_entry, one_name, order, paths, public, sizes

RULES = {"order": order.check, "folders": sizes.check_folders, "files": sizes.check_files, "types": one_name.check,
         "paths": paths.check, "public": public.check, "names": one_entry.check, "instances": sizes.check_instances}
