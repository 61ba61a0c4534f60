# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the emulator is built with, beside what its machines cannot be without: Tessera, and what
# qemu/vm uses to give the guest its root file system, its streams and its entropy.
CONFIG_Q35=y
CONFIG_MICROVM=y
CONFIG_VIRTIO_PCI=y
CONFIG_VIRTIO_9P=y
CONFIG_VIRTIO_SERIAL=y
CONFIG_VIRTIO_RNG=y
CONFIG_TESSERA=y
# What the device's tests plug it into: a port to be unplugged from, IOMMUs to be behind
CONFIG_PCIE_PORT=y
CONFIG_VTD=y
CONFIG_VIRTIO_IOMMU=y
