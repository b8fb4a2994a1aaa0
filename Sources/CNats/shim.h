/* libnats, the client library for the fleet's NATS servers, and OpenSSL's hash functions, which verify transferred files. */
#ifndef CNATS_SHIM_H
#define CNATS_SHIM_H

#include <nats/nats.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>

#endif
