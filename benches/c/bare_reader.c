/* The bare serial reader that the benchmark measures against: opens the URI read-only, lists the active domains, fetches
 * each one's XML, one after the other, and throws it away.
 *
 * cc -O2 -o bare_reader bare_reader.c $(pkg-config --cflags --libs libvirt)
 * bare_reader URI    prints: domains, bytes of XML, milliseconds from before the open to after the close
 */
#include <libvirt/libvirt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: bare_reader URI\n");
        return 2;
    }
    double start = now();
    virConnectPtr connection = virConnectOpenReadOnly(argv[1]);
    if (!connection)
        return 1;
    virDomainPtr *domains = NULL;
    int count = virConnectListAllDomains(connection, &domains, VIR_CONNECT_LIST_DOMAINS_ACTIVE);
    if (count < 0)
        return 1;
    size_t bytes = 0;
    for (int i = 0; i < count; i++) {
        char *xml = virDomainGetXMLDesc(domains[i], 0);
        if (!xml)
            return 1;
        bytes += strlen(xml);
        free(xml);
        virDomainFree(domains[i]);
    }
    free(domains);
    virConnectClose(connection);
    printf("%d domains %zu bytes %.1f ms\n", count, bytes, now() - start);
    return 0;
}
