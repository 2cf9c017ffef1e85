package metrics

import "confined/internal/ns"

// slotStates are all states an entry of the root can be in.
func slotStates() []ns.SlotState {
	return []ns.SlotState{ns.Free, ns.Running, ns.Elsewhere, ns.Quarantined, ns.Leftover, ns.Foreign}
}

// quarantineReasons are all reasons for which a namespace is kept.
func quarantineReasons() []ns.QuarantineReason {
	return []ns.QuarantineReason{ns.SnapshotMismatch, ns.NamespaceChanged, ns.Unresolved, ns.SetupIncomplete, ns.RemovalFailed}
}
