// SPDX-License-Identifier: Apache-2.0
// cookie: what a browser is given to keep and shows again (RFC 6265). Scripts do not see them, pages of
// others do not send them along with what changes something.
#pragma once

#include "api/call.h"

#define COOKIE_SESSION "weir_session" /* a token of who has signed in with a browser */

/* cookie_get gives the value of a request's cookie; "": it has none of that name. */
struct str cookie_get(const struct http_request *r, struct str name);
/* cookie_set gives the browser one for paths from path on, for life_s seconds; 0 takes it away. */
void cookie_set(struct call *c, struct str name, struct str value, const char *path,
                int64_t life_s);
/* cookie_same_origin: a page of this server asks, as far as the browser tells: what cookies vouch for
 * must come from there when it changes something. */
bool cookie_same_origin(const struct http_request *r);
