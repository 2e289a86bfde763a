//! Says which ABI the shared library has.

fn main() {
    // Programs that were linked with one version of the ABI run with every library of it. Given to
    // the shared library alone: archives have no such name.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libswath.so.0");
    println!("cargo::rerun-if-changed=build.rs");
}
