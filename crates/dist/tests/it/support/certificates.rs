//! A private CA and certificates signed by it.

use std::path::PathBuf;

use purlin_dist::Tls;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, SanType};
use tempfile::TempDir;

/// A temporary folder of PEM files: the certificates of the CAs `ours` and `theirs` (`ours.pem`), and of each a
/// certificate for 127.0.0.1 and one for another host (`ours-here.pem`, `ours-elsewhere.pem`, and `.key`).
pub(crate) struct Files(TempDir);

impl Files {
    pub(crate) fn new() -> Self {
        let files = Self(tempfile::tempdir().expect("a folder"));
        for authority in ["ours", "theirs"] {
            let mut params = CertificateParams::new([]).expect("no names");
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            params.distinguished_name.push(DnType::CommonName, authority);
            let issuer = CertifiedIssuer::self_signed(params, key()).expect("it can be signed");
            files.write(&format!("{authority}.pem"), &issuer.pem());
            for (host, name) in [("here", "127.0.0.1"), ("elsewhere", "elsewhere.example")] {
                let (key, params) = (key(), CertificateParams::new([name.to_owned()]));
                let mut params = params.expect("a name");
                // WHY the address as a DNS name, too: a BEAM node looks for the host of a peer among the DNS names.
                let name = SanType::DnsName(name.try_into().expect("ASCII"));
                params.subject_alt_names.push(name);
                let certificate = params.signed_by(&key, &issuer);
                let certificate = certificate.expect("it can be signed");
                files.write(&format!("{authority}-{host}.pem"), &certificate.pem());
                files.write(&format!("{authority}-{host}.key"), &key.serialize_pem());
            }
        }
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("there is room");
    }

    /// Returns TLS settings with that certificate, which trust the CA `ours`.
    pub(crate) fn tls(&self, who: &str) -> Tls {
        let [pem, key] = ["pem", "key"].map(|kind| self.path(&format!("{who}.{kind}")));
        Tls::from_pem(pem, key, self.path("ours.pem")).expect("the files are in order")
    }

    /// Writes the options file of a BEAM with that certificate, the CA `ours` and further options; returns its path.
    pub(crate) fn options(&self, who: &str, more: &str) -> String {
        let [pem, key] = ["pem", "key"].map(|kind| self.path(&format!("{who}.{kind}")));
        let trusts = self.path("ours.pem");
        let own = format!(
            "{{certfile, {pem:?}}}, {{keyfile, {key:?}}}, {{cacertfile, {trusts:?}}}, \
             {{verify, verify_peer}}{more}"
        );
        let options =
            format!("[{{server, [{own}, {{fail_if_no_peer_cert, true}}]}}, {{client, [{own}]}}].");
        let name = format!("{who}.options");
        self.write(&name, &options);
        self.path(&name).display().to_string()
    }
}

fn key() -> KeyPair {
    KeyPair::generate().expect("there is chance")
}
