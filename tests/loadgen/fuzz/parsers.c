/* Harnesses of single parts: the reader of specs, raw blocks of TDengine, texts that a server words
 * as they become JSON, and the packer of snappy, whose blocks are unpacked again and compared. */
#include <stdlib.h>
#include <string.h>

#include "drivers/packing.h"
#include "drivers/tdengine_ask.h"
#include "fuzz.h"
#include "json.h"

/* Instead of spec_text.c: no file is read. */
char *spec_load_text(const char *path)
{
    (void)path;
    return strdup(fuzz_spec);
}

void fuzz_spec_text(const struct harness *harness)
{
    struct job job;
    size_t length;
    char *text = (char *)fuzz_take_bytes(SIZE_MAX, 1, &length);
    (void)harness;
    fuzz_spec = text;
    if (job_read(&job, "", VERB_LOAD) == EXIT_DONE && !job.driver)
        abort();
    job_close(&job);
    free(text);
}

/* A block is as long as it says: libtaos has read it whole. */
void fuzz_raw_block(const struct harness *harness)
{
    enum { HEAD_BYTES = 28, LENGTH_PLACE = 4 };
    size_t length;
    uint8_t *block = fuzz_take_bytes(SIZE_MAX, 0, &length);
    const uint32_t said = (uint32_t)length;
    uint64_t digest = 0;
    int64_t ns = 0;
    (void)harness;
    if (length >= HEAD_BYTES) {
        memcpy(block + LENGTH_PLACE, &said, sizeof said);
        raw_block_take(block, 1000000, &digest, NULL);
        raw_block_last_time(block, 1000000, &ns);
    }
    free(block);
}

void fuzz_words(const struct harness *harness)
{
    struct json json = {0};
    struct fault fault;
    size_t length;
    char *text = (char *)fuzz_take_bytes(4096, 1, &length);
    (void)harness;
    fault_set(&fault, FAULT_SERVER, text, "%s", text);
    json_open(&json, '{');
    json_put_text(&json, "code", fault.code);
    json_put_text(&json, "message", fault.message);
    json_key(&json, "value");
    json_text(&json, text, length);
    json_close(&json, '}');
    for (size_t i = 0; i < json.used; i++)
        if ((unsigned char)json.text[i] < ' ')
            abort();
    json_free(&json);
    free(text);
}

/* One element of a block of snappy; its end, NULL if it is not one. */
static const uint8_t *unpack_one(const uint8_t *at, const uint8_t *end, uint8_t *out, size_t *used,
                                 size_t size)
{
    const uint8_t tag = *at++;
    size_t length = (size_t)(tag >> 2) + 1, distance = 0;
    if ((tag & 3) == 0) {
        const size_t more = length > 60 ? length - 60 : 0;
        if (more > (size_t)(end - at))
            return NULL;
        length = more ? 1 : length;
        for (size_t i = 0; i < more; i++)
            length += (size_t)*at++ << 8 * i;
        if (length > (size_t)(end - at) || length > size - *used)
            return NULL;
        memcpy(out + *used, at, length);
        *used += length;
        return at + length;
    }
    const size_t bytes = (tag & 3) == 1 ? 1 : (tag & 3) == 2 ? 2 : 4;
    if (bytes > (size_t)(end - at))
        return NULL;
    for (size_t i = 0; i < bytes; i++)
        distance |= (size_t)*at++ << 8 * i;
    if (bytes == 1) {
        length = (tag >> 2 & 7) + 4;
        distance |= (size_t)(tag >> 5) << 8;
    }
    if (distance == 0 || distance > *used || length > size - *used)
        return NULL;
    for (; length > 0; length--, ++*used)
        out[*used] = out[*used - distance];
    return at;
}

static void compare(const uint8_t *text, size_t length, const uint8_t *packed, size_t packed_length)
{
    const uint8_t *at = packed, *const end = packed + packed_length;
    size_t said = 0, used = 0;
    uint8_t *out = malloc(length + 1);
    for (int shift = 0; at < end; shift += 7) {
        said |= (size_t)(*at & 127) << shift;
        if (!(*at++ & 128))
            break;
    }
    while (out && at && at < end)
        at = unpack_one(at, end, out, &used, length);
    if (!out || !at || said != length || used != length ||
        (length && memcmp(out, text, length) != 0))
        abort();
    free(out);
}

void fuzz_snappy(const struct harness *harness)
{
    struct fault fault;
    struct packer *packer = packing_snappy.make(&fault);
    (void)harness;
    while (packer && fuzz_left()) { /* several texts, by one packer */
        size_t length, packed;
        const size_t most = fuzz_take8() % 2 ? SIZE_MAX : fuzz_take32() % 4096;
        uint8_t *text = fuzz_take_bytes(most, 0, &length);
        const char *out = packing_snappy.pack(packer, (char *)text, length, &packed);
        if (out)
            compare(text, length, (const uint8_t *)out, packed);
        free(text);
    }
    packing_snappy.drop(packer);
}
