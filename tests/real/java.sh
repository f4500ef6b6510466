#!/usr/bin/env bash
# The Java virtual machine: compile and run a program with threads and native memory.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"

have javac default-jdk-headless
export JAVA_TOOL_OPTIONS=

cat >"$work/Hello.java" <<'END'
import java.nio.ByteBuffer;
import java.util.*;
import java.util.stream.*;
import java.util.zip.CRC32;

public class Hello {
    static long work(int seed) {
        CRC32 crc = new CRC32();
        for (int i = 0; i < 500; i++) {
            ByteBuffer direct = ByteBuffer.allocateDirect(i * 31 % 5000 + 8);
            direct.putInt(seed * i);
            direct.flip();
            crc.update(direct);
        }
        Map<Integer, String> map = new TreeMap<>();
        for (int i = 0; i < 20000; i++) map.merge(i * 7919 % 5003, "" + i, String::concat);
        crc.update(map.toString().getBytes());
        return crc.getValue();
    }

    public static void main(String[] arguments) {
        System.out.println("hello from Java");
        System.out.println(IntStream.range(0, 8).parallel().mapToObj(Hello::work).collect(Collectors.toList()));
    }
}
END

check "the Java virtual machine finds malloc in Allod" uses_allod libjvm java -version
same_output "javac compiles the same" sh -c \
    "cd '$work' && rm -f ./*.class && javac Hello.java && cat ./*.class | sha256sum"
same_output "the Java program prints the same" java -Xmx256m -cp "$work" Hello
