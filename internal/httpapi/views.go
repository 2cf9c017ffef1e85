package httpapi

import (
	"encoding/hex"

	"confined/internal/exec"
	"confined/internal/ns"
	"confined/internal/pins"
)

// The views turn what the packages below know into what the contract shows.

func snapshotOf(s pins.Snapshot) Snapshot {
	files := []File{}
	for _, e := range s.Files() {
		files = append(files, File{Path: e.Path, Size: e.Size, Sha256: hex.EncodeToString(e.SHA256[:])})
	}
	return Snapshot{Digest: string(s.Digest()), Protocol: SnapshotProtocol(s.Protocol()), Bytes: s.Bytes(), Files: files}
}

func runtimeOf(d exec.Description) Runtime {
	rt := d.Runtime
	aliases := []Alias{}
	for _, a := range rt.Aliases {
		aliases = append(aliases, Alias{Path: a.Path, Target: a.Target})
	}
	return Runtime{
		Digest: string(rt.Digest), ClosureDigest: string(rt.ClosureDigest),
		Os: RuntimeOs(rt.OS), Arch: RuntimeArch(rt.Arch), OsBuild: rt.OSBuild(), NodeVersion: rt.NodeVersion, Node: rt.Node,
		Files: runtimeFiles(rt.Files), Aliases: aliases, Launchers: runtimeFiles(rt.Launchers),
		Proof: proofOf(d.Proof), Integrity: RuntimeIntegrity(d.Integrity),
	}
}

func runtimeFiles(list []pins.RuntimeFile) []File {
	files := []File{}
	for _, f := range list {
		files = append(files, File{Path: f.Path, Size: f.Size, Sha256: hex.EncodeToString(f.SHA256[:])})
	}
	return files
}

func proofOf(p pins.Proof) Proof {
	out := Proof{Kind: ProofKind(p.Kind)}
	if p.Receipt != "" {
		receipt := string(p.Receipt)
		out.Receipt = &receipt
	}
	out.ProvenAt = timeOf(p.ProvenAt)
	return out
}

func slotsOf(l ns.Listing) Slots {
	out := Slots{Root: l.Root, MaxRetained: l.MaxRetained, Counted: l.Counted, Free: l.Free, Slots: []Slot{}}
	for _, s := range l.Slots {
		out.Slots = append(out.Slots, slotOf(s))
	}
	return out
}

func slotOf(s ns.SlotInfo) Slot {
	out := Slot{Name: s.Name, State: SlotState(s.State), SinceAt: timeOf(s.SinceAt)}
	if s.RunID != "" {
		out.RunID = &s.RunID
	}
	if s.Reason != "" {
		reason := QuarantineReason(s.Reason)
		out.Reason = &reason
	}
	if s.Message != "" {
		out.Message = &s.Message
	}
	return out
}

func slotDetailOf(c ns.SlotContents) SlotDetail {
	out := SlotDetail{Slot: slotOf(c.Slot), Entries: []SlotEntry{}, Users: append([]int{}, c.Users...)}
	for _, e := range c.Entries {
		shown := SlotEntry{Path: e.Path, Kind: SlotEntryKind(e.Kind), Size: e.Size}
		if e.SHA256 != "" {
			shown.Sha256 = &e.SHA256
		}
		out.Entries = append(out.Entries, shown)
	}
	if c.Hidden != "" {
		message := "it cannot be shown whole: " + c.Hidden
		if c.Slot.Message != "" {
			message = c.Slot.Message + "; " + message
		}
		out.Slot.Message = &message
	}
	return out
}

func namespaceOf(d ns.Disposition) (n Namespace, err error) {
	if d.State == ns.StateRemoved {
		err = n.FromRemoved(Removed{State: RemovedStateRemoved, Durable: d.Durable})
		return n, err
	}
	err = n.FromQuarantined(Quarantined{State: QuarantinedStateQuarantined, Path: d.Path, Reason: QuarantineReason(d.Reason), Message: d.Message})
	return n, err
}
