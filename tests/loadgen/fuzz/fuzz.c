/* The list of harnesses and the tape; see fuzz.h. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#define WRITES "rows=40\ntables=4\nrows_per_request=10\ntags=g:int,t:binary(5)\n"
#define ALL_TYPES "columns=a:float,b:int,c:binary(9),d:double,e:bool\n"
#define NUMBERS "columns=a:float,b:int,d:double,e:bool\n"
#define READS                                                                                      \
    "rows_present=100\noperations=write,read,count\nask.read.span_ms=10\nask.count.span_ms=10\n"   \
    "ask.read.value_high=9\nask.read.text=SELECT r {device} {from} {to} {value}\n"                 \
    "ask.count.text=SELECT c {device} {at} {until} {value}\n"

const struct harness fuzz_harnesses[] = {
    {"cassandra", "driver=cassandra\npartitions=2\n" WRITES ALL_TYPES READS, fuzz_driver},
    {"cratedb",
     "driver=cratedb\nquery_path=/q\nquery_posted=1\nquery_member=stmt\nanswer_rows=rows\n" WRITES
         ALL_TYPES READS,
     fuzz_driver},
    {"iotdb", "driver=iotdb\nmethod=tablets\n" WRITES ALL_TYPES READS, fuzz_driver},
    {"lines", "driver=lines\nquery_path=/q?\nanswer_column=name\n" WRITES ALL_TYPES READS,
     fuzz_driver},
    {"lines-tcp", "driver=lines\nmethod=tcp\n" WRITES ALL_TYPES, fuzz_driver},
    {"points", "driver=points\nquery_path=/q?\nquery_posted=1\n" WRITES NUMBERS READS, fuzz_driver},
    {"samples",
     "driver=samples\nmethod=import\nquery_path=/q?\nanswer_column=__name__\n" WRITES NUMBERS READS,
     fuzz_driver},
    {"pgarrays", "driver=pgarrays\n" WRITES ALL_TYPES, fuzz_driver},
    {"pgwire", "driver=pgwire\nparted=1\npartitions=2\n" WRITES ALL_TYPES, fuzz_driver},
    {"postgres", "driver=postgres\n" WRITES ALL_TYPES READS, fuzz_driver},
    {"postgres-insert", "driver=postgres\nmethod=insert\n" WRITES ALL_TYPES READS, fuzz_driver},
    {"tdengine-rest", "driver=tdengine\nmethod=rest\ndatabase=x\n" WRITES ALL_TYPES READS,
     fuzz_driver},
    {"tdengine-ws", "driver=tdengine\nmethod=ws\ndatabase=x\n" WRITES ALL_TYPES, fuzz_driver},
    {"tdengine-block", NULL, fuzz_raw_block},
    {"remote-write", "driver=samples\nmethod=remote-write\n", fuzz_remote_write},
    {"spec", NULL, fuzz_spec_text},
    {"words", NULL, fuzz_words},
    {NULL, NULL, NULL},
};

struct tape fuzz_tape;
const char *fuzz_spec;

size_t fuzz_left(void)
{
    return (size_t)(fuzz_tape.end - fuzz_tape.at);
}

uint8_t fuzz_take8(void)
{
    return fuzz_left() ? *fuzz_tape.at++ : 0;
}

uint32_t fuzz_take32(void)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; i++)
        value = value << 8 | fuzz_take8();
    return value;
}

uint8_t *fuzz_take_bytes(size_t most, int ends, size_t *length)
{
    const size_t count = most < fuzz_left() ? most : fuzz_left();
    uint8_t *bytes = malloc(count + (ends ? 1 : 0) + (count == 0 && !ends ? 1 : 0));
    if (!bytes)
        abort();
    if (count)
        memcpy(bytes, fuzz_tape.at, count);
    if (ends)
        bytes[count] = 0;
    fuzz_tape.at += count;
    *length = count;
    return bytes;
}

int fuzz_run(const char *name, const uint8_t *bytes, size_t size)
{
    for (const struct harness *h = fuzz_harnesses; h->name; h++)
        if (strcmp(h->name, name) == 0) {
            fuzz_tape = (struct tape){bytes, bytes + size};
            fuzz_spec = h->spec;
            h->run(h);
            return 1;
        }
    return 0;
}
