#!/usr/bin/env bash
# git: build a history, clone it, repack, look through it; every object name must come out the same.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"

have git git
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org
export GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.org

cat >"$work/history.sh" <<'END'
set -e
rm -rf "$1" && mkdir "$1" && cd "$1"
git init -q -b main origin && cd origin
for i in $(seq 60); do
    mkdir -p "dir$((i % 7))"
    seq $((i * 37)) $((i * 37 + 900)) >"dir$((i % 7))/file$((i % 23))"
    git add . && GIT_AUTHOR_DATE="$((1000000000 + i)) +0000" \
        GIT_COMMITTER_DATE="$((1000000000 + i)) +0000" git commit -q -m "commit $i"
    [ $((i % 20)) -ne 0 ] || git branch "branch$i"
done
cd .. && git clone -q origin copy && cd copy
git gc -q --aggressive
git fsck --strict --full
git rev-list --objects --all | sort
git log -p --stat --graph
git blame dir3/file3
git grep -n 123 HEAD~10 -- dir1 dir2
git diff HEAD~30 HEAD
git archive HEAD | sha256sum
git merge-base HEAD origin/branch20
END

check "git finds malloc in Allod" uses_allod git git --version
same_output "history, clone, gc, fsck, log and blame are the same" \
    bash "$work/history.sh" "$work/repository"
