#!/usr/bin/env bash
# A small machine that has what the one under it may lack: persistent memory (an NVDIMM, whose ext4 grants MAP_SYNC), disks that lose writes (dm-flakey) and
# RDMA by software (rdma_rxe, as verbs.sh sets it up).
# QEMU emulates it; kernel, QEMU and tools are packages of the distribution, downloaded by apt-get and only unpacked, under artifacts/guest: nothing is installed.
#   guest.sh build    makes it, once (a minute, 1 GB); says in its last line why it cannot
#   guest.sh boot [--share NAME=DIR]... [--nvdimm FILE]... [--disk FILE]... [--forward PORT:PORT]...
# It says '= 0' when it is there, then runs each line of stdin as root, and says '= STATUS' behind what that has written. Its root is read-only, /tmp and /mnt are memory.
# A share is /mnt/NAME, read-only; an NVDIMM is /dev/pmemN; a disk /dev/vda and on; a port of this machine is forwarded to one of the guest.
# The files must be there and have their size; only they keep anything. Kill the process for a power cut: what the guest had not written to them is gone.
#   GUEST_DIR      where it is made (artifacts/guest)
#   GUEST_SECONDS  after so many the machine is killed (240)
#   GUEST_LOG      the kernel's messages (/dev/null)
set -euo pipefail
cd "$(dirname "$0")/../.."
guest=$(realpath -m "${GUEST_DIR:-artifacts/guest}")
machine_packages="qemu-system-x86"
guest_packages="linux-image-amd64 busybox-static kmod ndctl e2fsprogs dmsetup libssl3 libstdc++6 zlib1g tzdata" # the last four for .NET
guest_packages+=" iproute2 libfabric1 ibverbs-providers perftest" # RDMA devices of software
first_modules="virtio_pci 9pnet_virtio 9p" # what the root needs
modules="virtio_net virtio_blk ext4 nfit nd_pmem dm_mod dm_flakey"

fail() { echo "guest.sh: $*" >&2; exit 1; }

# unpack NAME PACKAGE...: the packages, and all that they depend on, as if nothing were installed.
unpack() {
  local to=$guest/new/$1 debs=$guest/new/$1.debs; shift
  mkdir -p "$debs/partial" "$to/usr"/{bin,sbin,lib,lib64}
  for name in bin sbin lib lib64; do ln -s "usr/$name" "$to/$name"; done
  : > "$debs/status"
  timeout 300 apt-get -qq -y --no-install-recommends -o Dir::State::Status="$debs/status" -o Dir::Cache::Archives="$debs" \
    -o APT::Sandbox::User= -o Debug::NoLocking=1 --download-only install "$@" </dev/null >"$debs.log" 2>&1 \
    || fail "the packages cannot be downloaded: $(tail -n 1 "$debs.log")"
  for deb in "$debs"/*.deb; do
    dpkg --fsys-tarfile "$deb" | tar -x --no-same-owner --keep-directory-symlink -C "$to"
  done
  rm -r "$debs"
}

# kmod NAME ARGUMENT...: the guest's tool for modules, by its own libraries.
kmod() {
  local root=$guest/new/root name=$1; shift
  "$root/lib64/ld-linux-x86-64.so.2" --library-path "$root/usr/lib/x86_64-linux-gnu" --argv0 "$name" "$root/bin/kmod" "$@"
}

build() {
  # One that another state of this script has made is made anew.
  local self; self=$(cksum <test/guest/guest.sh)
  [ "$(cat "$guest/made" 2>/dev/null)" != "$self" ] || return 0
  [ "$(uname -sm)" = "Linux x86_64" ] || fail "it is made on Linux for x86-64 only"
  for tool in apt-get dpkg tar gzip; do command -v $tool >/dev/null || fail "$tool is not there"; done
  rm -rf "$guest"; mkdir -p "$guest/new"
  unpack machine $machine_packages
  unpack root $guest_packages
  local root=$guest/new/root version
  version=$(ls "$root/lib/modules")
  mv "$root/boot/vmlinuz-$version" "$guest/kernel"
  kmod depmod -b "$root" "$version"
  mkdir -p "$root"/{dev,proc,sys,tmp,mnt,run,root}
  echo root:x:0:0:root:/root:/bin/sh > "$root/etc/passwd"
  echo "127.0.0.1 localhost guest" > "$root/etc/hosts"
  init > "$root/init"; chmod +x "$root/init"
  first "$root" "$version"
  rm -rf "$root/boot" "$root/usr/share"/{doc,man,locale}
  mv "$guest/new"/* "$guest"; rmdir "$guest/new"; echo "$self" >"$guest/made"
}

# The first file system: what mounts the root, and no more.
first() {
  local at=$guest/new/first module
  mkdir -p "$at"/{bin,dev,root,modules}
  cp "$1/bin/busybox" "$at/bin/busybox"
  {
    echo '#!/bin/busybox sh'
    for module in $(kmod modprobe -d "$1" -S "$2" -aD $first_modules | sed -n 's/^insmod //p' | awk '!seen[$1]++ { print $1 }'); do
      cp "$module" "$at/modules/"
      echo "/bin/busybox insmod /modules/$(basename "$module")"
    done
    echo '/bin/busybox mount -t devtmpfs dev /dev'
    echo '/bin/busybox mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=262144 root /root'
    echo 'exec /bin/busybox switch_root /root /init'
  } > "$at/init"
  chmod +x "$at/init"
  (cd "$at" && find . | bin/busybox cpio -o -H newc 2>/dev/null) | gzip -1 > "$guest/initrd"
  rm -r "$at"
}

init() {
  cat <<INIT
#!/bin/busybox sh
export PATH=/usr/sbin:/usr/bin HOME=/tmp DM_DISABLE_UDEV=1 DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1
busybox mount -t proc proc /proc; busybox mount -t sysfs sys /sys; busybox mount -t devtmpfs dev /dev
for at in /tmp /mnt /run; do busybox mount -t tmpfs tmpfs \$at; done
busybox --install -s /run; PATH=\$PATH:/run
modprobe -a $modules
hostname guest; ifconfig lo up; ifconfig eth0 10.0.2.15 up
for name in \$(sed -n 's/.* shares=\([^ ]*\).*/\1/p' /proc/cmdline | tr , ' '); do
  mkdir /mnt/\$name; mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=262144 \$name /mnt/\$name
done
for namespace in /sys/bus/nd/devices/namespace*; do # an NVDIMM that is new has no DAX
  [ "\$(cat \$namespace/mode 2>/dev/null)" != raw ] || ndctl create-namespace -f -e \${namespace##*/} --mode=fsdax --map=mem >/dev/null
done
stty -F /dev/ttyS0 raw -echo
cd /tmp
{ echo = 0; while read -r line; do (eval "\$line") </dev/null; status=\$?; echo; echo "= \$status"; done; } </dev/ttyS0 >/dev/ttyS0 2>&1
poweroff -f
INIT
}

boot() {
  [ -e "$guest/made" ] || fail "first: guest.sh build"
  local arguments=() shares= forwards= slots=0
  while [ $# -gt 0 ]; do
    case $1 in
      --share) arguments+=(-virtfs "local,path=${2#*=},mount_tag=${2%%=*},security_model=none,multidevs=remap,readonly=on"); shares+=${shares:+,}${2%%=*} ;;
      --nvdimm) slots=$((slots + 1)); arguments+=(-object "memory-backend-file,id=nv$slots,share=on,mem-path=$2,size=$(stat -c %s "$2")" -device "nvdimm,memdev=nv$slots") ;;
      --disk) arguments+=(-drive "file=$2,format=raw,if=virtio,cache=writeback") ;;
      --forward) forwards+=,hostfwd=tcp:127.0.0.1:${2%:*}-10.0.2.15:${2#*:} ;;
      *) fail "unknown: $1" ;;
    esac
    shift 2
  done
  local root=$guest/machine libraries=$guest/machine/usr/lib/x86_64-linux-gnu
  export QEMU_MODULE_DIR=$libraries/qemu
  exec timeout --foreground -k 5 "${GUEST_SECONDS:-240}" "$root/lib64/ld-linux-x86-64.so.2" --library-path "$libraries:$libraries/pulseaudio" \
    "$root/usr/bin/qemu-system-x86_64" -L "$root/usr/share/qemu" -L "$root/usr/share/seabios" -nodefaults -display none -no-reboot \
    -machine q35,nvdimm=on,nvdimm-persistence=mem-ctrl -accel tcg,thread=multi -cpu max -smp 2 -m 1536M,slots=4,maxmem=16G \
    -chardev stdio,id=shell,signal=off -serial chardev:shell -serial "file:${GUEST_LOG:-/dev/null}" \
    -kernel "$guest/kernel" -initrd "$guest/initrd" -append "console=ttyS1 quiet panic=-1 shares=$shares " \
    -virtfs "local,path=$guest/root,mount_tag=root,security_model=none,multidevs=remap,readonly=on" \
    -netdev "user,id=net,restrict=on$forwards" -device virtio-net-pci,netdev=net,romfile= -device virtio-rng-pci "${arguments[@]}"
}

case ${1:-} in
  build) build ;;
  boot) shift; boot "$@" ;;
  *) sed -n '2,15p' "$0"; exit 2 ;;
esac
