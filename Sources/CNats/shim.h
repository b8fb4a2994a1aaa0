/* libnats, the client of the fleet's servers, and OpenSSL's hash, which proves that a file has come whole. */
#ifndef CNATS_SHIM_H
#define CNATS_SHIM_H

#include <nats/nats.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>

#endif
