/* See ask_text.h. */
#include "ask_text.h"

#include <stdio.h>
#include <stdlib.h>

#include "numbers.h"

enum { PLACEHOLDER_BYTES = 8 };

char *ask_statement(const struct marks *marks, bool is_numbered)
{
    size_t size = 1;
    uint32_t number = 0;
    for (uint32_t i = 0; i < marks->count; i++)
        size += marks->pieces[i].length + PLACEHOLDER_BYTES;
    char *text = malloc(size), *out = text;
    if (!text)
        return NULL;
    for (uint32_t i = 0; i < marks->count; i++) {
        out = put_text(out, marks->pieces[i].plain, marks->pieces[i].length);
        if (marks->pieces[i].mark == MARK_NONE)
            continue;
        *out++ = is_numbered ? '$' : '?';
        if (is_numbered)
            out = put_unsigned(out, ++number);
    }
    *out = '\0';
    return text;
}

char *ask_put_value(char *out, const struct parameter *parameter)
{
    int64_t time;
    double value;
    memcpy(&time, parameter->value, sizeof time);
    memcpy(&value, parameter->value, sizeof value);
    return parameter->type == TYPE_TIMESTAMP ? put_whole(out, time) : put_double(out, value);
}

char *ask_fill(char *out, const struct marks *marks, const struct parameter *parameters,
               const struct driver *driver,
               size_t (*table_name)(const struct driver *, uint32_t, char *))
{
    for (uint32_t i = 0; i < marks->count; i++) {
        out = put_text(out, marks->pieces[i].plain, marks->pieces[i].length);
        if (marks->pieces[i].mark == MARK_NONE)
            continue;
        const struct parameter *parameter = parameters++;
        if (parameter->is_table)
            out += table_name(driver, parameter->table, out);
        else if (parameter->type == TYPE_BINARY) /* an item */
            out = put_text(out, parameter->value, (size_t)parameter->length);
        else
            out = ask_put_value(out, parameter);
    }
    *out = '\0';
    return out;
}
