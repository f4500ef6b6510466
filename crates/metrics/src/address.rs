//! Where metrics are served: a path with a `/` is a Unix socket, anything else a loopback address with a port.

use std::fmt;
use std::io::{self, ErrorKind};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why metrics cannot be served at an address.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// It is neither a path with a `/` nor an address with a port.
    NotAnAddress(String),
    /// Other machines could reach it.
    NotLoopback(SocketAddr),
    /// Somebody else listens at this socket, or the file is no socket.
    Taken(PathBuf),
    /// The system refused.
    System(String, io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NotAnAddress(text) => write!(
                f,
                "{text:?} is neither the path of a socket, with a /, nor an address such as 127.0.0.1:9100"
            ),
            Error::NotLoopback(address) => {
                write!(
                    f,
                    "{address} can be reached from other machines: metrics are served on loopback only"
                )
            }
            Error::Taken(path) => {
                write!(f, "{} exists, and is not a socket left behind", path.display())
            }
            Error::System(text, error) => write!(f, "cannot serve metrics at {text}: {error}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::System(_, error) => Some(error),
            _ => None,
        }
    }
}

/// A place where somebody listens.
#[derive(Debug)]
pub enum Listener {
    Unix(UnixListener),
    Tcp(TcpListener),
}

/// A connection, and how long the other side may take.
pub enum Connection {
    Unix(UnixStream),
    Tcp(TcpStream),
}

/// Where a listener listens, for whoever ends it.
#[derive(Debug)]
pub struct Place {
    /// The path, from the root on, or the address with the port that the system chose.
    pub text: String,
    /// The listening socket once more.
    socket: UnixStream,
    /// The file that is to be removed.
    file: Option<SocketFile>,
}

/// The file of a socket: its path, which is right wherever the process goes meanwhile, and what tells it from another
/// that has taken its place.
#[derive(Debug)]
struct SocketFile {
    path: PathBuf,
    id: (u64, u64),
}

impl SocketFile {
    fn at(given: &Path) -> io::Result<SocketFile> {
        let path = std::path::absolute(given)?;
        let id = SocketFile::id(&path)?;
        Ok(SocketFile { path, id })
    }

    fn id(path: &Path) -> io::Result<(u64, u64)> {
        path.symlink_metadata().map(|file| (file.dev(), file.ino()))
    }
}

impl Place {
    fn of(socket: OwnedFd, text: String, file: Option<SocketFile>) -> Place {
        Place { text, socket: socket.into(), file }
    }

    /// Whoever waits for a connection has an error instead, and the file goes.
    pub fn end(&self) {
        let _ = self.socket.shutdown(Shutdown::Both);
        if let Some(file) = &self.file
            && SocketFile::id(&file.path).is_ok_and(|id| id == file.id)
        {
            let _ = std::fs::remove_file(&file.path);
        }
    }
}

impl Listener {
    /// Listens at an address.
    pub fn at(text: &str) -> Result<(Listener, Place), Error> {
        let refused = |error| Error::System(text.into(), error);
        if text.contains('/') {
            let given = Path::new(text);
            remove_left_behind(given)?;
            let listener = UnixListener::bind(given).map_err(refused)?;
            let file = SocketFile::at(given).map_err(refused)?;
            let socket = listener.try_clone().map_err(refused)?.into();
            let place = Place::of(socket, file.path.display().to_string(), Some(file));
            return Ok((Listener::Unix(listener), place));
        }
        let address: SocketAddr = text.parse().map_err(|_| Error::NotAnAddress(text.into()))?;
        if !address.ip().is_loopback() {
            return Err(Error::NotLoopback(address));
        }
        let listener = TcpListener::bind(address).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let socket = listener.try_clone().map_err(refused)?.into();
        Ok((Listener::Tcp(listener), Place::of(socket, address.to_string(), None)))
    }

    /// The next connection.
    pub fn accept(&self) -> io::Result<Connection> {
        match self {
            Listener::Unix(listener) => Ok(Connection::Unix(listener.accept()?.0)),
            Listener::Tcp(listener) => Ok(Connection::Tcp(listener.accept()?.0)),
        }
    }
}

/// Removes a socket that nobody listens at any more: the process that made it did not live to do so.
fn remove_left_behind(path: &Path) -> Result<(), Error> {
    let Ok(file) = path.symlink_metadata() else { return Ok(()) };
    let is_dead = || {
        UnixStream::connect(path).is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
    };
    if !file.file_type().is_socket() || !is_dead() {
        return Err(Error::Taken(path.into()));
    }
    std::fs::remove_file(path).map_err(|error| Error::System(path.display().to_string(), error))
}

impl Connection {
    /// Gives the other side so much time for each read and write.
    pub fn limit(&self, time: Duration) -> io::Result<()> {
        let time = Some(time);
        match self {
            Connection::Unix(c) => {
                c.set_read_timeout(time).and_then(|()| c.set_write_timeout(time))
            }
            Connection::Tcp(c) => c.set_read_timeout(time).and_then(|()| c.set_write_timeout(time)),
        }
    }
}

impl io::Read for Connection {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Connection::Unix(c) => c.read(into),
            Connection::Tcp(c) => c.read(into),
        }
    }
}

impl io::Write for Connection {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Connection::Unix(c) => c.write(bytes),
            Connection::Tcp(c) => c.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
