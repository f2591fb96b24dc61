/* See faults.h. */
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
    } else {
        book->others++;
    }
    pthread_mutex_unlock(&book->lock);
    if (is_new)
        event_error(fault, worker, 1);
}

void faults_report_totals(struct fault_book *book)
{
    struct fault fault = {0};
    pthread_mutex_lock(&book->lock);
    for (uint32_t i = 0; i < book->kinds; i++) {
        const struct fault_count *entry = &book->counts[i];
        if (entry->count < 2) /* told when it came */
            continue;
        memcpy(fault.code, entry->code, sizeof fault.code);
        memcpy(fault.message, entry->message, sizeof fault.message);
        event_error(&fault, -1, entry->count);
    }
    pthread_mutex_unlock(&book->lock);
}

static void put_kind(struct json *json, const char *code, const char *message, uint64_t count)
{
    json_open(json, '{');
    json_put_text(json, "code", code);
    json_put_text(json, "message", message);
    json_put_whole(json, "count", count);
    json_close(json, '}');
}

void faults_put(struct fault_book *book, struct json *json)
{
    pthread_mutex_lock(&book->lock);
    json_begin(json, "error_kinds", '[');
    for (uint32_t i = 0; i < book->kinds; i++)
        put_kind(json, book->counts[i].code, book->counts[i].message, book->counts[i].count);
    if (book->others)
        put_kind(json, "other", "of kinds that are not listed", book->others);
    json_close(json, ']');
    pthread_mutex_unlock(&book->lock);
}
