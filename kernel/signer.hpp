// The signature of a Jupyter message: an HMAC over its four JSON frames, by the connection file's key.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

typedef struct evp_mac_ctx_st EVP_MAC_CTX;

namespace xcuda::kernel {

class signer {
public:
    // A scheme as in connection files: "hmac-sha256". An empty key means unsigned messages. Throws
    // std::runtime_error naming a scheme that OpenSSL doesn't have.
    signer(const std::string& scheme, const std::string& key);

    using frames = std::array<std::string_view, 4>;  // header, parent header, metadata, content

    // In hexadecimal; empty without a key. Any thread may call it.
    std::string sign(const frames& parts) const;

    // Takes the same time wherever the two differ.
    bool verify(std::string_view signature, const frames& parts) const;

private:
    std::shared_ptr<EVP_MAC_CTX> m_keyed;  // copied for each message
};

}  // namespace xcuda::kernel
