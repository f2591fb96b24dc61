/* See tags_file.h. */
#include "tags_file.h"

#include <stdlib.h>
#include <string.h>

#include "tags.h"
#include "whole_file.h"

#define BYTES_MAX (256ull << 20)
static const char between[] = "\x1f";

/* False after reporting the mistake. */
static bool read_line(struct tags_file *file, uint32_t count, char *line, struct mistakes *mistakes)
{
    const char **literal = &file->literals[file->lines * count];
    for (uint32_t i = 0; i < count; i++) {
        literal[i] = strsep(&line, between);
        if (!literal[i] || !*literal[i] || strlen(literal[i]) >= TAG_TEXT_MAX) {
            mistake_add(mistakes, "tags_file", "line %llu: tag %u is missing, empty or too long",
                        (unsigned long long)file->lines + 1, i + 1);
            return false;
        }
    }
    if (line)
        mistake_add(mistakes, "tags_file", "line %llu has more than %u tags",
                    (unsigned long long)file->lines + 1, count);
    return !line;
}

void tags_file_read(struct schema *schema, const struct spec *spec, struct mistakes *mistakes)
{
    uint64_t size = 0, lines = 1;
    if (!spec->tags_file)
        return;
    char *text = (char *)whole_file(spec->tags_file, BYTES_MAX, &size, "tags_file", mistakes);
    if (!text)
        return;
    for (uint64_t i = 0; i < size; i++)
        lines += text[i] == '\n';
    struct tags_file *file = calloc(1, sizeof *file);
    if (!file)
        abort();
    schema->tags_file = file;
    file->text = text;
    file->literals = calloc(lines * schema->tag_count + 1, sizeof *file->literals);
    if (!file->literals)
        abort();
    char *rest = text, *line;
    if (size > BYTES_MAX || strlen(text) != size)
        mistake_add(mistakes, "tags_file", "is too long, or has a zero");
    else
        while ((line = strsep(&rest, "\n")) != NULL)
            if (*line) {
                if (!read_line(file, schema->tag_count, line, mistakes))
                    return;
                file->lines++;
            }
    if (file->lines == 0 && mistakes->count == 0)
        mistake_add(mistakes, "tags_file", "has no line");
}

void tags_file_free(struct tags_file *file)
{
    if (!file)
        return;
    free(file->literals);
    free(file->text);
    free(file);
}

const char *tags_file_literal(const struct schema *schema, uint32_t tag, uint32_t table)
{
    const struct tags_file *file = schema->tags_file;
    return file->literals[table % file->lines * schema->tag_count + tag];
}
