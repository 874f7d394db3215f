//! A CA and certificates signed by it, in PEM files.

use std::fs;
use std::path::Path;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

/// A certificate authority.
pub(crate) type Authority = CertifiedIssuer<'static, KeyPair>;

/// Creates a CA with that name and writes its certificate to `NAME.pem`.
pub(crate) fn authority(folder: &Path, name: &str) -> Authority {
    let mut params = CertificateParams::new([]).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    fs::write(folder.join(format!("{name}.pem")), authority.pem()).unwrap();
    authority
}

/// Creates a certificate for these hosts in `WHO.pem` and its key in `WHO.key`.
pub(crate) fn certificate(folder: &Path, authority: &Authority, who: &str, hosts: &[&str]) {
    let hosts: Vec<_> = hosts.iter().map(|&host| host.to_owned()).collect();
    let (key, params) = (KeyPair::generate().unwrap(), CertificateParams::new(hosts).unwrap());
    let certificate = params.signed_by(&key, authority).unwrap();
    fs::write(folder.join(format!("{who}.pem")), certificate.pem()).unwrap();
    fs::write(folder.join(format!("{who}.key")), key.serialize_pem()).unwrap();
}
