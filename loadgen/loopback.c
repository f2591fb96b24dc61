/* Preloaded, it binds servers that listen on all addresses to the loopback address of IPv4. No part
 * of scale-loadgen. */
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#ifndef RTLD_NEXT
#define RTLD_NEXT ((void *)-1L)
#endif

typedef int binder(int, const struct sockaddr *, socklen_t);

/* False: the given address is a particular one. */
static bool narrowed(const struct sockaddr *address, socklen_t length,
                     struct sockaddr_storage *instead)
{
    static const struct in6_addr mapped = {.s6_addr = {[10] = 0xff, [11] = 0xff, 127, 0, 0, 1}};
    if (!address || length > sizeof *instead)
        return false;
    memcpy(instead, address, length);
    if (address->sa_family == AF_INET && length >= sizeof(struct sockaddr_in)) {
        struct sockaddr_in *four = (struct sockaddr_in *)instead;
        if (four->sin_addr.s_addr != htonl(INADDR_ANY))
            return false;
        four->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return true;
    }
    if (address->sa_family == AF_INET6 && length >= sizeof(struct sockaddr_in6)) {
        struct sockaddr_in6 *six = (struct sockaddr_in6 *)instead;
        if (!IN6_IS_ADDR_UNSPECIFIED(&six->sin6_addr))
            return false;
        six->sin6_addr = mapped;
        return true;
    }
    return false;
}

int bind(int fd, const struct sockaddr *address, socklen_t length)
{
    struct sockaddr_storage instead;
    binder *next;
    *(void **)&next = dlsym(RTLD_NEXT, "bind");
    if (!next) {
        errno = ENOSYS;
        return -1;
    }
    if (narrowed(address, length, &instead))
        return next(fd, (const struct sockaddr *)&instead, length);
    return next(fd, address, length);
}
