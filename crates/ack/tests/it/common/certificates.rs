//! Test certificate authorities and certificates signed by them.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use purlin_ack::{client, server};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use tempfile::TempDir;

/// Temporary PEM files, deleted on drop: the certificates of the authorities `ours` and `theirs`
/// (`ours.pem`), and for each a server and two clients (`ours-server.pem`, `ours-server.key`).
pub(crate) struct Files(TempDir);

/// Default configuration of a server and its client.
pub(crate) struct Known {
    pub(crate) server: server::Tls,
    pub(crate) client: Arc<ClientConfig>,
}

pub(crate) fn known() -> &'static Known {
    static KNOWN: OnceLock<Known> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let files = Files::new();
        Known { server: files.server(), client: files.config(None) }
    })
}

impl Files {
    pub(crate) fn new() -> Self {
        let files = Self(tempfile::tempdir().expect("a folder can be made"));
        for authority in ["ours", "theirs"] {
            let mut params = params(&[]);
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            params.distinguished_name.push(DnType::CommonName, authority);
            let issuer = CertifiedIssuer::self_signed(params, key()).expect("it can be signed");
            files.write(&format!("{authority}.pem"), &issuer.pem());
            for (who, names) in
                [("server", &["localhost", "127.0.0.1"][..]), ("client", &[]), ("other", &[])]
            {
                let (key, params) = (key(), self::params(names));
                let certificate = params.signed_by(&key, &issuer).expect("it can be signed");
                files.write(&format!("{authority}-{who}.pem"), &certificate.pem());
                files.write(&format!("{authority}-{who}.key"), &key.serialize_pem());
            }
        }
        files
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("there is room");
    }

    /// Returns the configuration of our server.
    pub(crate) fn server(&self) -> server::Tls {
        let tls = server::Tls::from_pem(self.path("ours-server.pem"), self.path("ours-server.key"));
        tls.expect("the files are in order")
    }

    /// Returns the configuration of our server with client certificates of our authority required.
    pub(crate) fn server_for_ours(&self) -> server::Tls {
        let tls = self.server().client_certificates(self.path("ours.pem"));
        tls.expect("the file is in order")
    }

    /// Returns a library client that trusts our server.
    pub(crate) fn client(&self) -> client::Tls {
        client::Tls::from_pem(self.path("ours.pem")).expect("the file is in order")
    }

    /// Returns a rustls client that trusts our server, with the certificate of `who`.
    pub(crate) fn config(&self, who: Option<&str>) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate("ours")).expect("it is a certificate");
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("there is one")
            .with_root_certificates(roots);
        Arc::new(match who {
            None => builder.with_no_client_auth(),
            Some(who) => {
                let key = PrivateKeyDer::from_pem_file(self.path(&format!("{who}.key")));
                let key = key.expect("it is a key");
                let own = builder.with_client_auth_cert(vec![self.certificate(who)], key);
                own.expect("the key fits")
            }
        })
    }

    fn certificate(&self, of: &str) -> CertificateDer<'static> {
        let certificate = CertificateDer::from_pem_file(self.path(&format!("{of}.pem")));
        certificate.expect("it is a certificate")
    }
}

fn key() -> KeyPair {
    KeyPair::generate().expect("there is chance")
}

fn params(names: &[&str]) -> CertificateParams {
    let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
    CertificateParams::new(names).expect("they are names")
}
