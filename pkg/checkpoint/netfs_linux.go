package checkpoint

import "golang.org/x/sys/unix"

// fileSystem names the file system that path is on, "" if it does not exist or
// is of no kind that is known here.
func fileSystem(path string) (name string, network bool) {
	var fs unix.Statfs_t
	if unix.Statfs(path, &fs) != nil {
		return "", false
	}
	switch uint32(fs.Type) {
	case unix.NFS_SUPER_MAGIC:
		return "NFS", true
	case unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC:
		return "SMB", true
	case unix.AFS_SUPER_MAGIC:
		return "AFS", true
	case unix.CEPH_SUPER_MAGIC:
		return "Ceph", true
	case unix.V9FS_MAGIC:
		return "9p", true
	case unix.CODA_SUPER_MAGIC:
		return "Coda", true
	case unix.EXT4_SUPER_MAGIC:
		return "ext4", false
	case unix.XFS_SUPER_MAGIC:
		return "XFS", false
	case unix.BTRFS_SUPER_MAGIC:
		return "Btrfs", false
	case unix.F2FS_SUPER_MAGIC:
		return "F2FS", false
	case unix.OVERLAYFS_SUPER_MAGIC:
		return Overlay, false
	case unix.TMPFS_MAGIC, unix.RAMFS_MAGIC:
		return Memory, false
	}
	return "", false
}

// room returns how many bytes, and how many files, we may still write.
func room(path string) (Room, bool) {
	var fs unix.Statfs_t
	if unix.Statfs(path, &fs) != nil {
		return Room{}, false
	}
	r := Room{Bytes: int64(fs.Bavail) * int64(fs.Bsize), Files: int64(fs.Ffree)}
	if fs.Files == 0 {
		r.Files = -1 // there is no such limit
	}
	return r, true
}
