#!/usr/bin/env bash
# Published programs that were moved to Allod: the patches apply to their sources, and each passes its own tests before and
# after. benches/ports/run measures them as well.
set -euo pipefail
cd "$(dirname "$0")/../benches/ports"
for name in graphql-query cjson redis; do
    bash "$name.sh"
done
