#!/usr/bin/env bash
# cJSON, a library in C: from malloc and free to frames.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

patch=$here/cjson/port.patch

debian_source cjson "$work/before"
if ! grep -q 'define CJSON_VERSION_PATCH 15' "$work/before/cJSON.h"; then
    echo "skipped: the patch is for cJSON 1.7.15, and this Debian has another"
    exit 0
fi

# build FOLDER FLAG...: the library, and the program that measures it.
build() {
    local folder=$1
    shift
    (
        cd "$folder" &&
            gcc -O2 -std=gnu11 -I. "$@" -c cJSON.c cJSON_Utils.c &&
            ar rcs libcjson.a cJSON.o cJSON_Utils.o &&
            gcc -O2 -std=gnu11 -I. "$here/cjson/documents.c" libcjson.a -o documents "$@" -lm
    )
}

# own_tests FOLDER FLAG...: each of the library's test programs.
own_tests() {
    local folder=$1 test name
    shift
    for test in "$folder"/tests/*.c; do
        name=$(basename "$test" .c)
        [ "$name" = unity_setup ] && continue
        (
            cd "$folder/tests" &&
                gcc -DUNITY_INCLUDE_DOUBLE -I.. -Iunity/src -Iunity/examples "$name.c" unity/src/unity.c ../libcjson.a \
                    -o "$name" "$@" -lm &&
                "./$name"
        ) || { echo "$name failed"; return 1; }
    done
}

# The same texts as on malloc, and nothing that is used after its frame.
same_documents() {
    "$work/before/documents" 10 "$work"/before/tests/inputs/test* 2>"$work/checksum.before" &&
        "$work/after/documents" 10 "$work"/before/tests/inputs/test* 2>"$work/checksum.after" &&
        diff "$work/checksum.before" "$work/checksum.after"
}

# A document of 6 MB, of the library's own largest test.
large_document() {
    awk 'BEGIN { printf "[" } { all = all $0 "\n" } END { for (i = 1; i < 1800; i++) printf "%s,", all; print all "]" }' \
        "$work/before/tests/inputs/test4" >"$work/large.json"
}

measure() {
    large_document
    for how in '100000 small' '5 large'; do
        local rounds=${how% *} texts=("$work/large.json")
        [ "${how#* }" = small ] && texts=("$work"/before/tests/inputs/test[1-5])
        echo "== ${how#* } documents: before on the system's malloc, on Allod's heap, and on frames"
        allod ab --no-store --a "program:$work/before/documents" --b "program:$work/after/documents" \
            --result nanoseconds "$work/before/documents" "$rounds" "${texts[@]}"
        allod ab --no-store --a allocator:system --b allocator:allod \
            --result nanoseconds "$work/before/documents" "$rounds" "${texts[@]}"
    done
}

on_frames=(-I"$prefix/include" -DON_FRAMES -L"$prefix/lib" -lallod "-Wl,-rpath,$prefix/lib")
cp -r "$work/before" "$work/after"
check "cJSON builds on malloc" build "$work/before"
check "cJSON passes its own tests on malloc" own_tests "$work/before"
check "the patch for cJSON applies" port "$patch" "$work/after"
check "cJSON builds on frames" build "$work/after" "${on_frames[@]}"
check "cJSON passes its own tests in a frame" own_tests "$work/after" "$here/cjson/in_a_frame.c" "${on_frames[@]}"
check "cJSON prints the same documents in frames" same_documents
changed "$patch"
[ -z "${MEASURE:-}" ] || measure
