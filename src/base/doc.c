// SPDX-License-Identifier: Apache-2.0
#include "base/doc.h"

#include "base/check.h"
#include "base/num.h"

const char *doc_kind_name(enum doc_kind kind)
{
    switch (kind) {
    case DOC_NULL:
        return "nothing";
    case DOC_BOOL:
        return "true or false";
    case DOC_NUMBER:
        return "a number";
    case DOC_STRING:
        return "a text";
    case DOC_LIST:
        return "a list";
    case DOC_MAP:
        return "a map";
    }
    check_fail(__FILE__, __LINE__, "not a doc_kind");
}

const struct doc *doc_get(const struct doc *map, struct str key)
{
    if (!map || map->kind != DOC_MAP) {
        return NULL;
    }
    for (const struct doc *member = map->child; member; member = member->next) {
        if (str_eq(member->key, key)) {
            return member;
        }
    }
    return NULL;
}

static const struct doc *item_at(const struct doc *list, struct str digits)
{
    uint64_t index;
    if (!list || list->kind != DOC_LIST || !num_parse_u64(digits, &index)) {
        return NULL;
    }
    const struct doc *item = list->child;
    for (; item && index > 0; index--) {
        item = item->next;
    }
    return item;
}

const struct doc *doc_at(const struct doc *root, struct str path)
{
    const struct doc *at = root;
    uint32_t i = 0;
    while (at && i < path.len) {
        struct str rest = str_sub(path, i, path.len);
        if (path.ptr[i] == '[') {
            uint32_t close = str_find(rest, ']');
            if (close == rest.len) {
                return NULL;
            }
            at = item_at(at, str_sub(rest, 1, close - 1));
            i += close + 1;
            continue;
        }
        if (i > 0) {
            if (path.ptr[i] != '.') {
                return NULL;
            }
            rest = str_sub(path, ++i, path.len);
        }
        uint32_t dot = str_find(rest, '.');
        uint32_t bracket = str_find(rest, '[');
        uint32_t len = dot < bracket ? dot : bracket;
        at = doc_get(at, str_sub(rest, 0, len));
        i += len;
    }
    return at;
}
