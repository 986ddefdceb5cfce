// SPDX-License-Identifier: Apache-2.0
// listing: what all lists share: fetching, columns by flag or by settings, the three forms.
#pragma once

#include "cli/cli.h"
#include "cli/table.h"

/* listing_get fetches path; 0, or the exit status after the error was written. */
int listing_get(struct cli *cli, struct str path, struct answer *answer);
/* listing_get_one is the same for the one named of a list ("projects"). */
int listing_get_one(struct cli *cli, const char *list, struct str name, struct answer *answer);
/* listing_items gives the list "items" of an answer; never NULL. */
const struct doc *listing_items(const struct doc *body);
/* listing_begin makes the table; name ("workload") is the key of its columns in the settings. 0, or
 * the exit status after the error was written. */
int listing_begin(struct cli *cli, const struct args *args, const char *name,
                  const struct column *columns, uint32_t count, struct table *t);
int listing_print(struct cli *cli, const struct table *t);
/* listing_form: true when the answer was written as JSON or YAML, with the status in *failed. */
bool listing_form(struct cli *cli, const struct args *args, const struct doc *doc, int *failed);
/* listing_title writes a heading of a description; listing_pair a line "  Name      value". Values are
 * folded and made harmless. */
void listing_title(struct cli *cli, const char *title);
void listing_pair(struct cli *cli, const char *name, struct str value);
