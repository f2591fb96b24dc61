/* gzip by the zlib of the machine, opened when it is asked for. Every text becomes a whole gzip
 * file of its own. See packing.h. */
#include "packing.h"

#include <stdlib.h>

#include "library.h"

enum {
    LEVEL = 1, /* the fastest: the load generator's CPU is not the server's */
    DEFLATED = 8,
    GZIP_WINDOW = 15 + 16,
    MEMORY_LEVEL = 8,
    FINISH = 4,
    STREAM_END = 1
};

struct zlib_stream { /* z_stream of zlib.h, the same since zlib 1.0 */
    const unsigned char *next_in;
    unsigned int left_in;
    unsigned long total_in;
    unsigned char *next_out;
    unsigned int left_out;
    unsigned long total_out;
    const char *message;
    void *state;
    void *(*allocate)(void *, unsigned int, unsigned int);
    void (*release)(void *, void *);
    void *opaque;
    int data_type;
    unsigned long adler, reserved;
};

struct zlib {
    int (*init)(struct zlib_stream *, int level, int method, int window, int memory, int strategy,
                const char *version, int size);
    int (*deflate)(struct zlib_stream *, int flush);
    int (*reset)(struct zlib_stream *);
    int (*end)(struct zlib_stream *);
    unsigned long (*bound)(struct zlib_stream *, unsigned long length);
    const char *(*version)(void);
};

struct packer {
    struct zlib zlib;
    struct zlib_stream stream;
    char *out;
    size_t size;
};

static struct packer *gzip_new(struct fault *fault)
{
    static const char *const usual[] = {"libz.so.1", "libz.so", NULL};
    struct packer *g = calloc(1, sizeof *g);
    if (!g) {
        fault_no_memory(fault);
        return NULL;
    }
    const struct symbol symbols[] = {
        {"deflateInit2_", &g->zlib.init}, {"deflate", &g->zlib.deflate},
        {"deflateReset", &g->zlib.reset}, {"deflateEnd", &g->zlib.end},
        {"deflateBound", &g->zlib.bound}, {"zlibVersion", &g->zlib.version},
    };
    void *handle = library_open(NULL, usual, "apt-get install zlib1g", fault);
    if (!handle || !library_find(handle, symbols, sizeof symbols / sizeof *symbols, "", fault)) {
        free(g);
        return NULL;
    }
    if (g->zlib.init(&g->stream, LEVEL, DEFLATED, GZIP_WINDOW, MEMORY_LEVEL, 0, g->zlib.version(),
                     (int)sizeof g->stream) != 0) {
        fault_set(fault, FAULT_LIBRARY, "LIBRARY", "zlib %s cannot compress", g->zlib.version());
        free(g);
        return NULL;
    }
    return g;
}

static void gzip_free(struct packer *g)
{
    if (!g)
        return;
    g->zlib.end(&g->stream);
    free(g->out);
    free(g);
}

static const char *gzip_pack(struct packer *g, const char *text, size_t length, size_t *packed)
{
    const size_t most = g->zlib.bound(&g->stream, length);
    if (most > g->size) {
        char *larger = realloc(g->out, most);
        if (!larger)
            return NULL;
        g->out = larger;
        g->size = most;
    }
    g->stream.next_in = (const unsigned char *)text;
    g->stream.left_in = (unsigned int)length;
    g->stream.next_out = (unsigned char *)g->out;
    g->stream.left_out = (unsigned int)g->size;
    const int ended = g->zlib.deflate(&g->stream, FINISH);
    *packed = g->size - g->stream.left_out;
    g->zlib.reset(&g->stream);
    return ended == STREAM_END ? g->out : NULL;
}

const struct packing packing_gzip = {.make = gzip_new, .drop = gzip_free, .pack = gzip_pack};
