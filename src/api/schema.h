// SPDX-License-Identifier: Apache-2.0
// schema: what a JSON value must be, written as one line of text and read into a tree once. The same
// tree checks bodies and arguments and becomes a part of the OpenAPI document. The notation:
//
//   str int num bool ts uuid qty any obj   num: at most three digits behind the point; ts: RFC 3339;
//                                          qty: a Kubernetes quantity; obj: any object
//   int(1..500) num(0..) str(..63)         ranges; of a string, its bytes
//   'asc'|'desc'                           one of these words
//   [T]  map<T>  {a* int, b T?}  Name      a list, an object of Ts, an object; a row of a table
//   T?                                     null too: the same as leaving it out
//   name* T    name T = 50                 it must be there; what is taken when it is not
//
// A text that cannot be read is our bug: CHECK.
#pragma once

#include "base/doc.h"
#include "base/err.h"
#include "codec/json.h"

enum schema_kind {
    SCHEMA_ANY,
    SCHEMA_STR,
    SCHEMA_INT,
    SCHEMA_NUM,
    SCHEMA_BOOL,
    SCHEMA_TIME,
    SCHEMA_UUID,
    SCHEMA_QUANTITY,
    SCHEMA_WORD,   /* one of words[] */
    SCHEMA_LIST,   /* of `of` */
    SCHEMA_MAP,    /* the same, by any name */
    SCHEMA_OBJECT, /* members[] */
    SCHEMA_NAMED,  /* `of`, under its name */
};

struct schema;
struct schema_member {
    struct str name;
    const struct schema *type;
    bool required, has_preset;
    struct str preset;
};
struct schema {
    enum schema_kind kind;
    bool nullable;
    int64_t least, most; /* of INT; of NUM in thousandths; of STR its bytes */
    bool has_least, has_most;
    struct str name; /* NAMED */
    const struct schema *of;
    const struct str *words;
    const struct schema_member *members;
    uint32_t words_count, members_count;
};

/* A row of a table of named ones; for an object the braces are left out. */
struct schema_row {
    const char *name, *text;
};
struct schema_rows {
    const struct schema_row *items;
    uint32_t count;
};
struct schemas {
    struct arena *arena;
    const struct schema_row **rows; /* sorted by name */
    struct schema *types;           /* [count] */
    uint32_t count;
};

/* schemas_init reads all rows; what they name must be among them. Everything lives in arena. */
void schemas_init(struct schemas *all, const struct schema_rows *tables, uint32_t tables_count,
                  struct arena *arena);
const struct schema *schemas_find(const struct schemas *all, struct str name); /* NULL: none */
/* schema_read reads one text; the names in it must be in `all`. */
const struct schema *schema_read(const struct schemas *all, const char *text);

/* schema_check reports everything in value that is not as it must be: wrong types, values out of
 * range, members unknown (with the nearest known one), given twice or missing. path is that of
 * value ("" at the top); first_wrong (may be NULL) receives the text of the first wrong value. */
void schema_check(const struct schema *type, const struct doc *value, struct str path,
                  struct problems *problems, struct str *first_wrong);

/* schema_time reads RFC 3339, and takes a time without a zone as UTC. */
MUST_USE bool schema_time(struct str text, int64_t *ms);

/* schema_show writes it as OpenAPI 3.1 (JSON Schema) has it; names become references. */
void schema_show(const struct schema *type, struct jw *w);
/* schema_must_have: it is an object with a member that must be there. */
bool schema_must_have(const struct schema *type);
