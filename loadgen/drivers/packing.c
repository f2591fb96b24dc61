/* See packing.h. With zlib each text becomes a gzip file. */
#include "packing.h"

#include <stdlib.h>

#include "library.h"

enum {
    LEVEL = 1, /* the load generator's CPU is not the server's */
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

struct snappy { /* the same since snappy 1.0.5; 0 is success */
    int (*compress)(const char *text, size_t length, char *out, size_t *out_length);
    size_t (*bound)(size_t length);
};

struct packer { /* the library of its kind only */
    struct zlib zlib;
    struct zlib_stream stream;
    struct snappy snappy;
    char *out;
    size_t size;
};

static bool make_room(struct packer *p, size_t bytes)
{
    if (bytes <= p->size)
        return true;
    char *larger = realloc(p->out, bytes);
    if (!larger)
        return false;
    p->out = larger;
    p->size = bytes;
    return true;
}

static void drop(struct packer *p)
{
    if (p)
        free(p->out);
    free(p);
}

static struct packer *gzip_make(struct fault *fault)
{
    static const char *const usual[] = {"libz.so.1", "libz.so", NULL};
    struct packer *p = calloc(1, sizeof *p);
    if (!p) {
        fault_no_memory(fault);
        return NULL;
    }
    const struct symbol symbols[] = {
        {"deflateInit2_", &p->zlib.init}, {"deflate", &p->zlib.deflate},
        {"deflateReset", &p->zlib.reset}, {"deflateEnd", &p->zlib.end},
        {"deflateBound", &p->zlib.bound}, {"zlibVersion", &p->zlib.version},
    };
    void *handle = library_open(NULL, usual, "apt-get install zlib1g", fault);
    if (!handle || !library_find(handle, symbols, sizeof symbols / sizeof *symbols, "", fault)) {
        drop(p);
        return NULL;
    }
    if (p->zlib.init(&p->stream, LEVEL, DEFLATED, GZIP_WINDOW, MEMORY_LEVEL, 0, p->zlib.version(),
                     (int)sizeof p->stream) != 0) {
        fault_set(fault, FAULT_LIBRARY, "LIBRARY", "zlib %s cannot compress", p->zlib.version());
        drop(p);
        return NULL;
    }
    return p;
}

static void gzip_drop(struct packer *p)
{
    if (p)
        p->zlib.end(&p->stream);
    drop(p);
}

static const char *gzip_pack(struct packer *p, const char *text, size_t length, size_t *packed)
{
    if (!make_room(p, p->zlib.bound(&p->stream, length)))
        return NULL;
    p->stream.next_in = (const unsigned char *)text;
    p->stream.left_in = (unsigned int)length;
    p->stream.next_out = (unsigned char *)p->out;
    p->stream.left_out = (unsigned int)p->size;
    const int ended = p->zlib.deflate(&p->stream, FINISH);
    *packed = p->size - p->stream.left_out;
    p->zlib.reset(&p->stream);
    return ended == STREAM_END ? p->out : NULL;
}

static struct packer *snappy_make(struct fault *fault)
{
    static const char *const usual[] = {"libsnappy.so.1", "libsnappy.so", NULL};
    struct packer *p = calloc(1, sizeof *p);
    if (!p) {
        fault_no_memory(fault);
        return NULL;
    }
    const struct symbol symbols[] = {
        {"snappy_compress", &p->snappy.compress},
        {"snappy_max_compressed_length", &p->snappy.bound},
    };
    void *handle = library_open(NULL, usual, "apt-get install libsnappy1v5", fault);
    if (handle && library_find(handle, symbols, sizeof symbols / sizeof *symbols, "", fault))
        return p;
    drop(p);
    return NULL;
}

static const char *snappy_pack(struct packer *p, const char *text, size_t length, size_t *packed)
{
    if (!make_room(p, p->snappy.bound(length)))
        return NULL;
    *packed = p->size;
    return p->snappy.compress(text, length, p->out, packed) == 0 ? p->out : NULL;
}

const struct packing packing_gzip = {.make = gzip_make, .drop = gzip_drop, .pack = gzip_pack};
const struct packing packing_snappy = {.make = snappy_make, .drop = drop, .pack = snappy_pack};
