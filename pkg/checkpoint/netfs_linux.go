package checkpoint

import "golang.org/x/sys/unix"

// networkFS names the network file system that path is on, "" if it is on none
// or does not exist.
func networkFS(path string) string {
	var fs unix.Statfs_t
	if unix.Statfs(path, &fs) != nil {
		return ""
	}
	switch uint32(fs.Type) {
	case unix.NFS_SUPER_MAGIC:
		return "NFS"
	case unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC:
		return "SMB"
	case unix.AFS_SUPER_MAGIC:
		return "AFS"
	case unix.CEPH_SUPER_MAGIC:
		return "Ceph"
	case unix.V9FS_MAGIC:
		return "9p"
	case unix.CODA_SUPER_MAGIC:
		return "Coda"
	}
	return ""
}
