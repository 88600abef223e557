#include "signer.hpp"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <stdexcept>

namespace xcuda::kernel {

signer::signer(const std::string& scheme, const std::string& key) {
    if (key.empty()) {
        return;
    }
    std::string digest = scheme.starts_with("hmac-") ? scheme.substr(5) : scheme;
    EVP_MAC* method = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
    m_keyed.reset(EVP_MAC_CTX_new(method), EVP_MAC_CTX_free);
    EVP_MAC_free(method);
    const OSSL_PARAM settings[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0),
                                   OSSL_PARAM_construct_end()};
    if (m_keyed == nullptr || EVP_MAC_init(m_keyed.get(), reinterpret_cast<const unsigned char*>(key.data()),
                                           key.size(), settings) != 1) {
        throw std::runtime_error("the signature scheme " + scheme + " is not one that OpenSSL has");
    }
}

std::string signer::sign(const frames& parts) const {
    if (m_keyed == nullptr) {
        return {};
    }
    const std::unique_ptr<EVP_MAC_CTX, decltype(&EVP_MAC_CTX_free)> context(EVP_MAC_CTX_dup(m_keyed.get()),
                                                                            EVP_MAC_CTX_free);
    for (std::string_view part : parts) {
        EVP_MAC_update(context.get(), reinterpret_cast<const unsigned char*>(part.data()), part.size());
    }
    unsigned char bytes[EVP_MAX_MD_SIZE];
    std::size_t size = 0;
    EVP_MAC_final(context.get(), bytes, &size, sizeof bytes);
    std::string text;
    for (std::size_t i = 0; i < size; ++i) {
        text += "0123456789abcdef"[bytes[i] >> 4];
        text += "0123456789abcdef"[bytes[i] & 15];
    }
    return text;
}

bool signer::verify(std::string_view signature, const frames& parts) const {
    if (m_keyed == nullptr) {
        return true;
    }
    const std::string expected = sign(parts);
    return signature.size() == expected.size() &&
           CRYPTO_memcmp(signature.data(), expected.data(), expected.size()) == 0;
}

}  // namespace xcuda::kernel
