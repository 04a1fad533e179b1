//! The real binary, on a real MariaDB and libvirt's test driver.
