/* Harnesses of single parts: the reader of specs, raw blocks of TDengine, and texts that a server
 * words as they become JSON. */
#include <stdlib.h>
#include <string.h>

#include "drivers/tdengine.h"
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
