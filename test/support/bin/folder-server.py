#!/usr/bin/python3
"""Shows one folder as another through FUSE, as a file server would: stopped by SIGSTOP it hangs whoever touches the folder.

usage: folder-server.py SOURCE MOUNTPOINT [--no-links]
"""
import errno
import os
import sys

from fusepy import FUSE, FuseOSError, Operations


class Folder(Operations):
    def __init__(self, source, has_links):
        self.source = source
        self.has_links = has_links

    def at(self, path):
        return os.path.join(self.source, path.lstrip("/"))

    def __call__(self, op, *args):
        try:
            return super().__call__(op, *args)
        except OSError as error:
            raise FuseOSError(error.errno) from error

    def access(self, path, mode):
        if not os.access(self.at(path), mode):
            raise FuseOSError(errno.EACCES)

    def getattr(self, path, fh=None):
        found = os.lstat(self.at(path))
        names = ("st_atime", "st_ctime", "st_gid", "st_ino", "st_mode", "st_mtime", "st_nlink", "st_size", "st_uid")
        return {name: getattr(found, name) for name in names}

    def statfs(self, path):
        found = os.statvfs(self.at(path))
        names = ("f_bavail", "f_bfree", "f_blocks", "f_bsize", "f_favail", "f_ffree", "f_files", "f_flag", "f_frsize")
        return {name: getattr(found, name) for name in (*names, "f_namemax")}

    def readdir(self, path, fh):
        return [".", "..", *os.listdir(self.at(path))]

    def create(self, path, mode, fi=None):
        return os.open(self.at(path), os.O_RDWR | os.O_CREAT, mode)

    def open(self, path, flags):
        return os.open(self.at(path), flags & ~os.O_NOFOLLOW)

    def read(self, path, size, offset, fh):
        return os.pread(fh, size, offset)

    def write(self, path, data, offset, fh):
        return os.pwrite(fh, data, offset)

    def truncate(self, path, length, fh=None):
        os.truncate(self.at(path), length)

    # Not there at all: the kernel would wait for it at the close of a file, even for a process that was killed.
    flush = None

    def fsync(self, path, datasync, fh):
        return os.fsync(fh)

    def release(self, path, fh):
        return os.close(fh)

    def link(self, target, source):
        if not self.has_links:
            raise FuseOSError(errno.EPERM)
        os.link(self.at(source), self.at(target))

    def rename(self, old, new):
        os.rename(self.at(old), self.at(new))

    def symlink(self, target, source):
        os.symlink(source, self.at(target))

    def readlink(self, path):
        return os.readlink(self.at(path))

    def mkdir(self, path, mode):
        os.mkdir(self.at(path), mode)

    def rmdir(self, path):
        os.rmdir(self.at(path))

    def unlink(self, path):
        os.unlink(self.at(path))

    def chmod(self, path, mode):
        os.chmod(self.at(path), mode)

    def chown(self, path, uid, gid):
        os.chown(self.at(path), uid, gid, follow_symlinks=False)

    def utimens(self, path, times=None):
        os.utime(self.at(path), times, follow_symlinks=False)


if __name__ == "__main__":
    FUSE(
        Folder(sys.argv[1], "--no-links" not in sys.argv),
        sys.argv[2],
        foreground=True,
        nothreads=True,
        allow_other=True,
        use_ino=True,
        attr_timeout=0,
        entry_timeout=0,
    )
