/* A small JSON reader; see taosadapter_answer.h. It trusts the adapter to write JSON: on anything
 * else it ends early, and never leaves the text. */
#include "taosadapter_answer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static char *skip_blanks(char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

static char *skip_string(char *at) /* at its opening quote */
{
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1])
            at++;
    return *at ? at + 1 : at;
}

void answer_skip(struct json_at *place)
{
    char *at = skip_blanks(place->at);
    int depth = 0;
    do {
        if (*at == '"') {
            at = skip_string(at);
        } else if (*at == '[' || *at == '{') {
            depth++;
            at++;
        } else if (depth > 0 && (*at == ']' || *at == '}')) {
            depth--;
            at++;
        } else if (depth > 0 && *at) {
            at++;
        } else {
            at += strcspn(at, ",]} \t\r\n");
        }
    } while (depth > 0 && *at);
    place->at = at;
}

struct json_at answer_member(char *text, const char *key)
{
    struct json_at place = {skip_blanks(text)};
    const size_t length = strlen(key);
    if (*place.at != '{')
        return (struct json_at){NULL};
    place.at = skip_blanks(place.at + 1);
    while (*place.at == '"') {
        const char *name = place.at + 1;
        place.at = skip_blanks(skip_string(place.at));
        if (*place.at != ':')
            break;
        place.at = skip_blanks(place.at + 1);
        if (strncmp(name, key, length) == 0 && name[length] == '"')
            return place;
        answer_skip(&place);
        place.at = skip_blanks(place.at);
        if (*place.at == ',')
            place.at = skip_blanks(place.at + 1);
    }
    return (struct json_at){NULL};
}

bool answer_enter(struct json_at *place)
{
    if (!place->at)
        return false;
    char *at = skip_blanks(place->at);
    if (*at != '[')
        return false;
    place->at = skip_blanks(at + 1);
    return *place->at && *place->at != ']';
}

bool answer_next(struct json_at *place)
{
    place->at = skip_blanks(place->at);
    if (*place->at != ',') {
        place->at += *place->at == ']';
        return false;
    }
    place->at = skip_blanks(place->at + 1);
    return true;
}

int64_t answer_whole(struct json_at place, int64_t otherwise)
{
    char *end;
    const long long value = place.at ? strtoll(place.at, &end, 10) : 0;
    return place.at && end != place.at ? value : otherwise;
}

static char *put_utf8(char *out, unsigned code)
{
    if (code < 0x80) {
        *out++ = (char)code;
    } else if (code < 0x800) {
        *out++ = (char)(0xc0 | code >> 6);
        *out++ = (char)(0x80 | (code & 63));
    } else {
        *out++ = (char)(0xe0 | code >> 12);
        *out++ = (char)(0x80 | (code >> 6 & 63));
        *out++ = (char)(0x80 | (code & 63));
    }
    return out;
}

/* One escape; `*in` is behind its backslash. Never longer than what it came from. */
static char *put_escaped(char *out, char **in)
{
    static const char names[] = "nrtbf", meant[] = "\n\r\t\b\f";
    const char c = *(*in)++;
    const char *known = c ? strchr(names, c) : NULL;
    if (c == 'u' && strspn(*in, "0123456789abcdefABCDEF") >= 4) {
        char digits[5] = {(*in)[0], (*in)[1], (*in)[2], (*in)[3], '\0'};
        *in += 4;
        return put_utf8(out, (unsigned)strtoul(digits, NULL, 16));
    }
    *out = known ? meant[known - names] : c;
    return out + 1;
}

char *answer_text(struct json_at *place, size_t *length, bool *is_string)
{
    char *first = skip_blanks(place->at), *out = first;
    *is_string = *first == '"';
    if (!*is_string) {
        answer_skip(place);
        *length = (size_t)(place->at - first);
        return first;
    }
    char *in = first + 1;
    while (*in && *in != '"') {
        if (*in == '\\' && in[1]) {
            in++;
            out = put_escaped(out, &in);
        } else {
            *out++ = *in++;
        }
    }
    place->at = *in ? in + 1 : in;
    *length = (size_t)(out - first);
    return first;
}
