//! Only the client with the pinned certificate is accepted.

use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair, PKCS_ECDSA_P521_SHA512};
use rustls::pki_types::ServerName;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio_rustls::client::TlsStream;

use super::*;

/// A certificate as hosts create it: P-521, self-signed CA.
struct TestCertificate {
    certificate: rcgen::Certificate,
    key: KeyPair,
}

impl TestCertificate {
    fn new() -> Self {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P521_SHA512).unwrap();
        let mut params = CertificateParams::new([NAME.to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self { certificate: params.self_signed(&key).unwrap(), key }
    }
}

/// Connects as a client with `identity` to a provider that pins `pinned`. Returns the handshake
/// error, or the first byte that the provider sends after the handshake.
async fn connect(
    pinned: &TestCertificate,
    identity: Option<&TestCertificate>,
) -> std::io::Result<u8> {
    let tls = Tls::for_host(&pinned.certificate.pem()).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(tls.certificate.clone()).unwrap();
    let provider = Arc::new(aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let mut config = match identity {
        None => config.with_no_client_auth(),
        Some(TestCertificate { certificate, key }) => {
            let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
            let key = aws_lc_rs::sign::any_supported_type(&key).unwrap();
            // Allows a key that does not belong to the certificate.
            let shown = CertifiedKey::new(vec![certificate.der().clone()], key);
            config.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(shown)))
        }
    };
    config.alpn_protocols = vec![ALPN.to_vec()];
    let (near, far) = tokio::io::duplex(1 << 16);
    let server = tokio::spawn(async move {
        // TLS reports a rejection to the client.
        if let Ok(mut stream) = tls.acceptor.accept(far).await {
            stream.write_all(b"!").await.unwrap();
            stream.shutdown().await.unwrap();
        }
    });
    let name = ServerName::try_from(NAME).unwrap();
    let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
    let mut stream: TlsStream<DuplexStream> = connector.connect(name, near).await?;
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(ALPN));
    let first = stream.read_u8().await;
    server.await.unwrap();
    first
}

#[tokio::test]
async fn pinned_certificate_is_accepted() {
    let host = TestCertificate::new();
    assert_eq!(connect(&host, Some(&host)).await.unwrap(), b'!');
}

#[tokio::test]
async fn missing_client_certificate_is_rejected() {
    let refused = connect(&TestCertificate::new(), None).await.unwrap_err();
    assert!(refused.to_string().contains("CertificateRequired"), "{refused}");
}

#[tokio::test]
async fn other_certificate_of_same_name_is_rejected() {
    let refused =
        connect(&TestCertificate::new(), Some(&TestCertificate::new())).await.unwrap_err();
    assert!(refused.to_string().contains("AccessDenied"), "{refused}");
}

#[tokio::test]
async fn pinned_certificate_without_its_key_is_rejected() {
    let host = TestCertificate::new();
    let thief =
        TestCertificate { certificate: host.certificate.clone(), key: TestCertificate::new().key };
    let refused = connect(&host, Some(&thief)).await.unwrap_err();
    assert!(refused.to_string().contains("DecryptError"), "{refused}");
}

#[test]
fn invalid_host_certificate_fails_at_startup() {
    for pem in ["", "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n"] {
        assert!(matches!(Tls::for_host(pem), Err(ServeError::Certificate(_))));
    }
}
