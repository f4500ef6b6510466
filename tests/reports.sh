#!/usr/bin/env bash
# The page of `allod report --html` in a browser: nothing overlaps, nothing is cut off, axes say what they count, and
# everything can be read, at three widths, light and dark. With SHOTS=FOLDER the pictures are kept there.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

if ! have chromium chromium fonts-dejavu-core || ! have python3 python3-minimal; then
    echo "not ok reports: there is no chromium, and it could not be installed: no page was looked at"
    exit 1
fi
here=$root/tests/reports
shots=${SHOTS:-$work}
mkdir -p "$shots"

browser() {
    timeout 120 chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --disable-dev-shm-usage \
        --user-data-dir="$work/profile" --allow-file-access-from-files "$@" 2>/dev/null
}

# Pages are looked at in a frame, since no window of a browser is as narrow as a phone.
frame() {
    local page=$1 width=$2 height=$3 scheme=$4
    printf '<!doctype html><html style="color-scheme:%s"><body style="margin:0"><iframe src="%s" style="%s"></iframe>' \
        "$scheme" "$page" "border:0;width:${width}px;height:${height}px;color-scheme:$scheme" >"$work/frame.html"
}

# looks_right PAGE WIDTH light|dark
looks_right() {
    local name=$1 width=$2 scheme=$3 preferred=1 title
    [ "$scheme" = dark ] && preferred=0
    frame "checked-$name.html" "$width" 900 "$scheme"
    title=$(browser --blink-settings=preferredColorScheme=$preferred --virtual-time-budget=20000 --dump-dom \
        "file://$work/frame.html" | sed -n '/<title>/,/<\/title>/p')
    frame "$name.html" "$width" 2400 "$scheme"
    browser --blink-settings=preferredColorScheme=$preferred --window-size="$((width < 500 ? 500 : width)),2400" \
        --screenshot="$shots/$name-$width-$scheme.png" "file://$work/frame.html"
    echo "$title"
    [ -s "$shots/$name-$width-$scheme.png" ] && echo "$title" | grep -q 'checked [0-9]* charts</title>'
}

# page NAME FILE...: a page, and the same with the script that checks it, which the page itself would not let run.
page() {
    local name=$1
    shift
    "$prefix/bin/allod" report --html "$work/$name.html" "$@"
    {
        sed 's/<meta http-equiv="Content-Security-Policy"[^>]*>//' "$work/$name.html"
        printf '<script>%s</script>\n' "$(cat "$here/check.js")"
    } >"$work/checked-$name.html"
}

# The check itself finds what is wrong.
finds() {
    local words=$1 edit=$2
    sed "$edit" "$work/checked-many.html" >"$work/checked-broken.html"
    cp "$work/checked-broken.html" "$work/broken.html"
    ! looks_right broken 375 light >"$work/found" 2>&1 && grep -q "$words" "$work/found"
}

for seed in 1 2 3; do
    python3 "$here/made_up.py" "$seed" >"$work/run-$seed.json"
done
"$prefix/bin/allod" replay --runs 2 --only allod --json "$work/replay.json" "$root/crates/lab/traces/git.trace" >/dev/null
check "a page of what is hard to draw is made" page many "$work"/run-?.json
check "a page of a real measurement is made" page real "$work/replay.json"
for scheme in light dark; do
    for width in 375 768 1280; do
        check "the page of what is hard to draw, $width pixels wide, $scheme" looks_right many "$width" "$scheme"
    done
done
check "the page of a real measurement on a phone" looks_right real 375 dark
check "a label that is cut off is found" finds "is cut off" 's/text-anchor="end"/text-anchor="start"/'
check "labels on one another are found" finds "lies on" 's/font-size="11"/font-size="24"/'
check "a page that is too wide is found" finds "pixels wide" 's/<h1>/<h1 style="width:900px">/'
check "colours that cannot be read are found" finds "contrast of only" 's/--muted: #57606A/--muted: #D0D0D0/'
printed() {
    browser --no-pdf-header-footer --print-to-pdf="$shots/many.pdf" "file://$work/many.html"
    [ "$(head -c 4 "$shots/many.pdf")" = %PDF ]
}
check "the page prints" printed
