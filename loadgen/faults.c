/* Faults by kind; see faults.h. */
#include "faults.h"

#include <stdio.h>
#include <string.h>

#include "events.h"

void faults_init(struct fault_book *book)
{
    memset(book, 0, sizeof *book);
    pthread_mutex_init(&book->lock, NULL);
}

void faults_free(struct fault_book *book)
{
    pthread_mutex_destroy(&book->lock);
}

void faults_note(struct fault_book *book, const struct fault *fault, int64_t worker)
{
    bool is_new = false;
    pthread_mutex_lock(&book->lock);
    uint32_t kind = 0;
    while (kind < book->kinds && strcmp(book->counts[kind].code, fault->code) != 0)
        kind++;
    if (kind < FAULT_KINDS_MAX) {
        struct fault_count *entry = &book->counts[kind];
        is_new = kind == book->kinds;
        if (is_new) {
            book->kinds++;
            memcpy(entry->code, fault->code, sizeof entry->code);
            memcpy(entry->message, fault->message, sizeof entry->message);
        }
        entry->count++;
    }
    pthread_mutex_unlock(&book->lock);
    if (is_new)
        event_error(fault, worker);
}

void faults_put(struct fault_book *book, struct json *json)
{
    pthread_mutex_lock(&book->lock);
    json_key(json, "error_kinds");
    json_open(json, '[');
    for (uint32_t i = 0; i < book->kinds; i++) {
        json_open(json, '{');
        json_put_text(json, "code", book->counts[i].code);
        json_put_text(json, "message", book->counts[i].message);
        json_put_whole(json, "count", book->counts[i].count);
        json_close(json, '}');
    }
    json_close(json, ']');
    pthread_mutex_unlock(&book->lock);
}
