"""What malloc_info says of this process: `shape` prints the elements and their attributes, `sums` checks the numbers."""

import ctypes
import errno
import os
import sys
import threading
import xml.etree.ElementTree as ElementTree

libc = ctypes.CDLL(None, use_errno=True)
libc.malloc.restype = libc.fopen.restype = ctypes.c_void_p
libc.free.argtypes = libc.fclose.argtypes = [ctypes.c_void_p]
libc.malloc_info.argtypes = [ctypes.c_int, ctypes.c_void_p]
file = os.path.join(sys.argv[2], f"malloc_info.{os.getpid()}.xml")


def info():
    stream = libc.fopen(file.encode(), b"w")
    assert libc.malloc_info(0, stream) == 0
    assert libc.fclose(stream) == 0
    return ElementTree.parse(file).getroot()


def sum_of(parent, kind):
    """Count and bytes of one kind of free memory."""
    total = parent.find(f"total[@type='{kind}']")
    return [int(total.get("count")), int(total.get("size"))]


def added(pairs):
    return [sum(column) for column in zip(*pairs)] or [0, 0]


def size_of(element, kind):
    return int(element.find(f"{kind[0]}[@type='{kind[1]}']").get("size"))


def free_blocks(size):
    """Free blocks, in all heaps, that would serve a request of a size."""
    entries = (entry for heap in info().findall("heap") for entry in heap.find("sizes"))
    return sum(int(e.get("count")) for e in entries if int(e.get("from")) <= size <= int(e.get("to")))


def shape():
    """What a program that reads glibc's can rely on."""
    root, found = info(), set()

    def note(element, path):
        path += "/" + element.tag
        found.add(f"{path} {sorted(element.keys())} {element.get('type', '')}")
        for child in element:
            note(child, path)

    note(root, "")
    # glibc's lists of chunks that it has not sorted yet, and the mappings that make up an arena.
    own = ("unsorted", "subheaps")
    print("\n".join(sorted(line for line in found if not any(word in line for word in own))))


def sums():
    sizes = [100, 5000, 200_000]
    blocks = [libc.malloc(size) for size in sizes for _ in range(300)]
    wait = threading.Barrier(4)
    threads = [threading.Thread(target=wait.wait) for _ in range(3)]
    before = [free_blocks(size) for size in sizes]
    # Every tenth block stays, so that no slab is given up.
    for block in (blocks[i] for i in range(len(blocks)) if i % 10):
        libc.free(block)
    for size, count in zip(sizes, before):
        assert free_blocks(size) >= count + 250, size
    for thread in threads:
        thread.start()
    root = info()
    wait.wait()
    heaps = root.findall("heap")
    assert [heap.get("nr") for heap in heaps] == [str(i) for i in range(len(heaps))]
    assert len(heaps) >= 4, "a heap for each thread"
    for heap in heaps:
        entries = [[int(e.get("count")), int(e.get("total"))] for e in heap.find("sizes")]
        bounds = [int(e.get(name)) for e in heap.find("sizes") for name in ("from", "to")]
        assert bounds == sorted(bounds) and all(count > 0 for count, _ in entries)
        listed, free = added(entries), added([sum_of(heap, "fast"), sum_of(heap, "rest")])
        # What is free but not cut into blocks is one more, and not listed by size.
        assert listed[0] <= free[0] <= listed[0] + 1 and listed[1] <= free[1]
        assert size_of(heap, ("system", "current")) >= free[1]
    assert sum_of(root, "fast") == added(sum_of(heap, "fast") for heap in heaps)
    rest, of_heaps = sum_of(root, "rest"), added(sum_of(heap, "rest") for heap in heaps)
    assert of_heaps[0] <= rest[0] <= of_heaps[0] + 1 and rest[1] >= of_heaps[1]
    current = size_of(root, ("system", "current"))
    assert current >= sum(size_of(heap, ("system", "current")) for heap in heaps)
    assert size_of(root, ("system", "max")) >= current
    large = libc.malloc(50 << 20)
    assert size_of(info(), ("total", "mmap")) >= sum_of(root, "mmap")[1] + (50 << 20)
    libc.free(large)


def refusals():
    stream = libc.fopen(file.encode(), b"w")
    for options in (1, -1, 2**31 - 1):
        ctypes.set_errno(0)
        assert libc.malloc_info(options, stream) == -1 and ctypes.get_errno() == errno.EINVAL
    assert libc.fclose(stream) == 0 and os.path.getsize(file) == 0


{"shape": shape, "sums": sums, "refusals": refusals}[sys.argv[1]]()
