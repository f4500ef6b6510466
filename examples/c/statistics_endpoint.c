/* A server that says how much memory it holds: GET anything on the port it prints, and it answers with the
 * heap's numbers as JSON. For a service's own metrics, call write_statistics from its handler. */
#include <allod/heap.h>
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The heap's numbers as JSON. Returns the length, or -1. */
static int write_statistics(char *text, size_t room) {
    allod_stats now = {.record_size = sizeof now};
    if (allod_stats_get(&now) != 0) return -1;
    return snprintf(text, room,
                    "{\"held_bytes\":%llu,\"cached_bytes\":%llu,\"free_resident_bytes\":%llu,"
                    "\"peak_span_bytes\":%llu,\"given_back_bytes\":%llu}\n",
                    (unsigned long long)(now.small_bytes + now.large_bytes),
                    (unsigned long long)now.cached_bytes, (unsigned long long)now.dirty_bytes,
                    (unsigned long long)now.peak_span_bytes, (unsigned long long)now.purged_bytes);
}

static int answer(int client) {
    char request[1024], body[512], head[128];
    if (read(client, request, sizeof request) <= 0) return -1;
    int length = write_statistics(body, sizeof body);
    if (length < 0) return -1;
    int head_length = snprintf(head, sizeof head,
                               "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                               "Content-Length: %d\r\nConnection: close\r\n\r\n",
                               length);
    return write(client, head, (size_t)head_length) < 0 || write(client, body, (size_t)length) < 0 ? -1 : 0;
}

int main(void) {
    int server = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    if (server < 0 || bind(server, (struct sockaddr *)&address, length) != 0 || listen(server, 8) != 0 ||
        getsockname(server, (struct sockaddr *)&address, &length) != 0) {
        perror("statistics_endpoint");
        return 1;
    }
    printf("http://127.0.0.1:%d/\n", ntohs(address.sin_port));
    fflush(stdout);
    for (;;) {
        int client = accept(server, NULL, NULL);
        if (client < 0) continue;
        if (answer(client) != 0) fputs("statistics_endpoint: a client was not answered\n", stderr);
        close(client);
    }
}
