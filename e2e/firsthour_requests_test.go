package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"strings"
)

// slipsOfCurl: how a request is typed.
func slipsOfCurl() []slip {
	return []slip{
		{
			name: "request comes last", typed: "$RUN $FILES -F request=@request.json", code: "malformed-request",
			says: []string{`the first part is "program/main.mjs" and must be "request"`, "curl: -F request=@request.json before the files"},
		},
		{
			name: "several files after one @", typed: "$RUN -F request=@request.json -F program/main.mjs=@program/main.mjs,program/lib/greet.mjs", code: "malformed-request",
			says: []string{"curl does that for -F 'x=@a,b'", "send each file as a part of its own"},
		},
		{
			name: "request without an @", typed: "$RUN -F request=request.json $FILES", code: "malformed-request",
			says: []string{"it holds the name of a file, request.json", "curl: -F request=@request.json"},
		},
		{
			name: "request from a command that failed", typed: "false | $RUN -F 'request=<-' $FILES", code: "malformed-request",
			says: []string{"it is empty: where a pipe fills it (curl: -F 'request=<-'), see what the command before the pipe said"},
			cure: "cat good.json | $RUN -F 'request=<-' $FILES",
		},
		{
			name: "-d instead of -F", typed: "$RUN -d @request.json", code: "unsupported-media-type",
			says: []string{"application/x-www-form-urlencoded", "curl: -F request=@request.json -F program/main.mjs=@main.mjs", "-H 'Content-Type: application/json' --data-binary @request.json"},
		},
		{
			name: "-T without -X POST", typed: "$RUN -T request.json", code: "method-not-allowed",
			says: []string{"PUT is not a method of this path", "curl -T sends PUT: add -X POST"},
		},
		{
			name: "a file named by its folder alone", typed: "$RUN -F request=@request.json -F program=@program/main.mjs", code: "invalid-request",
			fault: "unknown-field /program", says: []string{"files are named program/<path> or input/<path>, as in program/main.mjs (curl: -F program/main.mjs=@main.mjs)"},
		},
		{
			name: "a file without its folder", typed: "$RUN -F request=@request.json -F main.mjs=@program/main.mjs", code: "invalid-request",
			fault: "unknown-field /main.mjs", says: []string{"so this one program/main.mjs or input/main.mjs (curl: -F program/main.mjs=@main.mjs)"},
		},
		{
			name: "the path as a file name", typed: "$RUN -F request=@request.json -F 'file=@program/main.mjs;filename=program/main.mjs'", code: "invalid-request",
			fault: "unknown-field /file", says: []string{"file names are ignored: make program/main.mjs the part's own name (curl: -F program/main.mjs=@"},
		},
		{
			name: "a leading ./", typed: "$RUN -F request=@request.json -F ./program/main.mjs=@program/main.mjs", code: "invalid-request",
			fault: "unknown-field /.~1program~1main.mjs", says: []string{"exactly so: name this one program/main.mjs"},
		},
		{
			name: "a file without an @", typed: "$RUN -F request=@request.json -F program/main.mjs=program/main.mjs -F program/lib/greet.mjs=@program/lib/greet.mjs -F input/names.txt=@input/names.txt", code: "invalid-request",
			fault: "digest-mismatch /program/digest", says: []string{"main.mjs holds nothing but the name of a file, program/main.mjs: put an @ before it to send the file (curl: -F program/main.mjs=@program/main.mjs)"},
		},
		{
			name: "no files", typed: "$RUN -F request=@request.json -F input/names.txt=@input/names.txt", code: "invalid-request",
			fault: "digest-mismatch /program/digest", says: []string{"the 0 files that arrived (0 bytes)", "no file of the program arrived: in a form or an archive each is named program/<path> (as in program/main.mjs=@main.mjs)"},
		},
		{
			name: "no files of the input", typed: "$RUN -F request=@request.json -F program/main.mjs=@program/main.mjs -F program/lib/greet.mjs=@program/lib/greet.mjs", code: "invalid-request",
			fault: "digest-mismatch /input/digest", says: []string{"named input/<path> (as in input/data.csv=@data.csv), and a JSON request lists them in input.files"},
		},
		{
			name: "a file too few", typed: "$RUN -F request=@request.json -F program/main.mjs=@program/main.mjs -F input/names.txt=@input/names.txt", code: "invalid-request",
			fault: "digest-mismatch /program/digest", says: []string{"the 1 file that arrived (main.mjs; ", " bytes) is sha256:"},
		},
		{
			name: "a path that is none", typed: "$CURL http://confined/run -F request=@request.json $FILES", code: "not-found",
			says: []string{"there is nothing at /run; there is ", "GET POST /v1/runs", "POST /v1/snapshots", "GET /v1/status", "GET /openapi.yaml"},
		},
		{
			name: "one letter short", typed: "$CURL http://confined/v1/run -F request=@request.json $FILES", code: "not-found",
			says: []string{"there is nothing at /v1/run; there is ", "GET POST /v1/runs"},
		},
		{
			name: "digesting nothing", typed: "$CURL http://confined/v1/snapshots", code: "method-not-allowed",
			says: []string{"GET is not a method of this path; it has POST (curl sends GET unless -F or --data-binary gives it a body)"},
			cure: "$CURL http://confined/v1/snapshots -F main.mjs=@program/main.mjs",
		},
	}
}

// slipsOfOtherForms: the same with one JSON document, and with an archive.
func slipsOfOtherForms() []slip {
	const asTar, asJSON = "$RUN -H 'Content-Type: application/x-tar' --data-binary @-", "$RUN -H 'Content-Type: application/json' --data-binary"
	const goodTar = "tar -cf - request.json program input | " + asTar
	return []slip{
		{
			name: "tar: request.json is not first", typed: "tar -cf - program input request.json | " + asTar, code: "malformed-request",
			says: []string{`and must be "request.json"; put that one first (tar -cf - request.json program input)`}, cure: goodTar,
		},
		{
			name: "tar: a folder around it", files: files{"app/request.json": "{}"}, typed: "tar -cf - app/request.json program | " + asTar, code: "malformed-request",
			says: []string{`the first member is "app/request.json" and must be "request.json"`, "It is in a folder: tar -C app … leaves that out"},
			cure: "mkdir app && cp -R program input app && cp good.json app/request.json && tar -C app -cf - request.json program input | " + asTar,
		},
		{
			name: "tar: compressed", typed: "tar -czf - request.json program input | " + asTar, code: "unsupported-media-type",
			says: []string{"the archive is compressed (gzip); send it plain, as tar -cf - makes it"}, cure: goodTar,
		},
		{
			name: "tar: -d", typed: "tar -cf - request.json program input | $RUN -H 'Content-Type: application/x-tar' -d @-", code: "malformed-request",
			says: []string{"curl's -d leaves out line ends: send an archive with --data-binary"}, cure: goodTar,
		},
		{
			name: "tar: what a Mac adds", files: files{"program/._main.mjs": "x"}, typed: "tar -cf - request.json program input | " + asTar, code: "invalid-request",
			fault: "wrong-type /program/files/._main.mjs", says: []string{"a file of macOS's own, not yours: make the archive with COPYFILE_DISABLE=1 tar …"}, cure: goodTar,
		},
		{
			name: "JSON: no files in it", typed: asJSON + " @request.json", code: "invalid-request", fault: "missing-field /program/files",
			says: []string{`each file is {"path": "main.mjs", "content": {"encoding": "utf-8", "data": "…"}}, no files are []`, "files of their own go with a form (curl: -F) or an archive"},
		},
		{
			name: "JSON: program/ in the paths", typed: inlineGood + `jq '.program.files[].path |= "program/" + .' | ` + asJSON + " @-", code: "invalid-request", fault: "digest-mismatch /program/digest",
			says: []string{"leave program/ out of the paths inside the program (lib/greet.mjs in a JSON request,"}, cure: inlineGood + asJSON + " @-",
		},
		{
			name: "JSON: files by name", typed: `jq '.program.files = {"main.mjs": "x"} | .input.files = []' request.json | ` + asJSON + " @-", code: "invalid-request", fault: "wrong-type /program/files",
			says: []string{`each file is {"path": "main.mjs", "content": {"encoding": "utf-8", "data": "…"}}`}, cure: inlineGood + asJSON + " @-",
		},
		{
			name: "JSON: content as a string", typed: `jq '.program.files = [{path: "main.mjs", content: "x"}] | .input.files = []' request.json | ` + asJSON + " @-", code: "invalid-request", fault: "wrong-type /program/files/0/content",
			says: []string{`this is a string and must be an object, as in {"encoding": "utf-8", "data": "…"}`}, cure: inlineGood + asJSON + " @-",
		},
		{
			name: "JSON: no @", typed: asJSON + " request.json", code: "malformed-request",
			says: []string{"curl sends a file only where an @ stands before its name (--data-binary @request.json)"},
		},
	}
}

// inlineGood pipes good.json, with the files in it, into what follows.
const inlineGood = `jq --rawfile main program/main.mjs --rawfile greet program/lib/greet.mjs --rawfile names input/names.txt '
	def file(path; text): {path: path, content: {encoding: "utf-8", data: text}};
	.program.files = [file("main.mjs"; $main), file("lib/greet.mjs"; $greet)] | .input.files = [file("names.txt"; $names)]' good.json | `

// slipsOfPins: what request.json says of files and pins.
func slipsOfPins() []slip {
	const all = "$RUN -F request=@request.json $FILES"
	program, input := shopFiles.below("program"), shopFiles.below("input")
	and := func(f files, more files) files {
		out := maps.Clone(f)
		maps.Copy(out, more)
		return out
	}
	under := func(f files, folder string) files {
		out := files{}
		for path, content := range f {
			out[folder+"/"+path] = content
		}
		return out
	}
	digest := func(f files) func(map[string]any) { return set("/program/digest", f.digest()) }
	sum := sha256.Sum256([]byte(program["main.mjs"]))
	rows := []slip{
		{
			name: "what the Finder left", files: files{"program/.DS_Store": "\x00\x01", "program/lib/._greet.mjs": "\x02"}, typed: all + " -F program/.DS_Store=@program/.DS_Store -F program/lib/._greet.mjs=@program/lib/._greet.mjs",
			fault: "digest-mismatch /program/digest",
			says: []string{
				"the request says " + program.digest(), "are " + and(program, files{".DS_Store": "\x00\x01", "lib/._greet.mjs": "\x02"}).digest(),
				"the 4 files that arrived (.DS_Store, lib/._greet.mjs, lib/greet.mjs and 1 more; 97 bytes)", "without .DS_Store, lib/._greet.mjs the digest is exactly the one it says: leave that out",
			},
		},
		{
			name: "strays and something else", files: files{"program/.main.mjs.swp": "x", "program/Thumbs.db": "y"}, pin: digest(files{"main.mjs": "something else"}),
			typed: all + " -F program/.main.mjs.swp=@program/.main.mjs.swp -F program/Thumbs.db=@program/Thumbs.db", fault: "digest-mismatch /program/digest",
			says: []string{"among them are files that are seldom meant (.main.mjs.swp, Thumbs.db): leave them out or digest them too"},
		},
		{
			name: "a file too many", files: files{"program/notes.txt": "x"}, typed: all + " -F program/notes.txt=@program/notes.txt",
			fault: "digest-mismatch /program/digest", says: []string{"without notes.txt the digest is exactly the one it says: leave that out, or digest it too"},
		},
		{
			name: "another digest", pin: digest(files{"main.mjs": "an older one"}), typed: all, fault: "digest-mismatch /program/digest",
			says: []string{"2 files that arrived (lib/greet.mjs, main.mjs; 94 bytes) are " + program.digest(), "send exactly the files that were digested, or pin the digest of what is sent"},
		},
		{
			name: "exchanged digests", typed: all, fault: "digest-mismatch /input/digest", says: []string{"the digests of program and input are exchanged: swap them"},
			pin: func(doc map[string]any) {
				digest(input)(doc)
				set("/input/digest", program.digest())(doc)
			},
		},
		{
			name: "the input's digest twice", pin: digest(input), typed: all, fault: "digest-mismatch /program/digest",
			says: []string{"that is the digest of the input that arrived: put that of the program here"},
		},
		{
			name: "the digest of nothing", pin: digest(nil), typed: all, fault: "digest-mismatch /program/digest",
			says: []string{"the digest it says is that of no files at all: digest the files that are sent"},
		},
		{
			name: "digested with program/ in front", pin: digest(under(program, "program")), typed: all, fault: "digest-mismatch /program/digest",
			says: []string{"it says the digest of the same files with program/ in front of each path", "/v1/snapshots: -F lib/greet.mjs=@program/lib/greet.mjs"},
		},
		{
			name: "sent with a folder in front", typed: "$RUN -F request=@request.json -F program/app/main.mjs=@program/main.mjs -F program/app/lib/greet.mjs=@program/lib/greet.mjs -F input/names.txt=@input/names.txt",
			fault: "digest-mismatch /program/digest", says: []string{"it says the digest of the same files without app/ in front of each path: leave app/ out of the paths inside the program (lib/greet.mjs in a JSON request, program/lib/greet.mjs in a form or an archive)"},
		},
		{
			name: "sha256sum of a file", pin: set("/program/digest", "sha256:"+hex.EncodeToString(sum[:])), typed: all, fault: "digest-mismatch /program/digest",
			says: []string{"it says the sha256 of the file main.mjs alone", "POST /v1/snapshots gives it"},
		},
	}
	for entry, near := range map[string]string{
		"program/main.mjs":          `has no file "program/main.mjs"; there is main.mjs: entry is the path of one of its files, without program/`,
		"./main.mjs":                "there is main.mjs:",
		"/home/ada/app/main.mjs":    "there is main.mjs:",
		"Main.mjs":                  "there is main.mjs:",
		"main":                      "there is main.mjs:",
		"main.js":                   "there is main.mjs:",
		"greet.mjs":                 "there is lib/greet.mjs:",
		"index.mjs":                 "it has lib/greet.mjs, main.mjs:",
		strings.Repeat("x", 10_000): "it has lib/greet.mjs, main.mjs:",
	} {
		rows = append(rows, slip{name: fmt.Sprintf("entry %.40s", entry), pin: set("/program/entry", entry), typed: all, fault: "entry-missing /program/entry", says: []string{near}})
	}
	for i := range rows {
		rows[i].code = "invalid-request"
	}
	return rows
}
