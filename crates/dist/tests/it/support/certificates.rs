//! An authority of one's own, and who has certificates of it.

use std::path::PathBuf;

use purlin_dist::Tls;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, SanType};
use tempfile::TempDir;

/// PEM files, until it is dropped: of the authorities `ours` and `theirs` the certificates (`ours.pem`), and of
/// each a certificate for 127.0.0.1 and one for another host (`ours-here.pem`, `ours-elsewhere.pem`, and `.key`).
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
                // WHY an address as a name, too: a node of the BEAM looks for the host of a node among the names.
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

    /// Who shows that certificate, and trusts our authority.
    pub(crate) fn tls(&self, who: &str) -> Tls {
        let [pem, key] = ["pem", "key"].map(|kind| self.path(&format!("{who}.{kind}")));
        Tls::from_pem(pem, key, self.path("ours.pem")).expect("the files are in order")
    }

    /// The file in which a BEAM finds its options: that certificate, our authority, and what else is said.
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
