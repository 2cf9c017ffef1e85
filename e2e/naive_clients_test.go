package e2e

import (
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Two clients that write a whole body before they read anything, as the
// standard libraries of Python and Node.js do it. Each is told the socket, the
// media type and the file to send, and prints the status and the code.
const (
	pythonClient = `
import http.client, json, socket, sys
class Unix(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(sys.argv[1])
connection = Unix("confined")
connection.request("POST", "/v1/runs", open(sys.argv[3], "rb").read(), {"Content-Type": sys.argv[2]})
answer = connection.getresponse()
print(answer.status, json.loads(answer.read())["code"])
`
	nodeClient = `
const fs = require('node:fs'), http = require('node:http')
const [socketPath, type, path] = process.argv.slice(1)
const body = fs.readFileSync(path)
const request = http.request({socketPath, path: '/v1/runs', method: 'POST', headers: {'Content-Type': type, 'Content-Length': body.length}}, answer => {
  let text = ''
  answer.on('data', piece => text += piece).on('end', () => console.log(answer.statusCode, JSON.parse(text).code))
})
request.on('error', error => console.log(error.code))
request.end(body)
`
)

// TestNaiveClients: a client that writes a body of many MiB before it reads gets
// the refusal it was answered with, whatever that is, and no broken pipe.
func TestNaiveClients(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		form   string
		flags  []string
		holder int // size of the files of a run that waits, in MiB; 0 for no such run
		size   int // of what the client sends, in MiB
		want   string
	}{
		{"multipart", []string{"--workers=1", "--queue=1"}, 1, 64, "429 queue-full"},
		{"JSON", []string{"--workers=1", "--queue=2", "--upload-memory=25MiB"}, 10, 16, "503 upload-memory-full"},
		{"tar", []string{"--upload-memory=8MiB"}, 0, 16, "413 too-large"},
	} {
		t.Run(row.want, func(t *testing.T) {
			d := startDaemon(t, withFlags(row.flags...))
			if row.holder > 0 {
				alive := d.live(t, d.waiter(t, "naive"), "naive")
				waits := goodRun(t, d)
				waits.input = files{"big": strings.Repeat("x", row.holder<<20)}
				queued := d.launch(t, t.Context(), waits)
				d.awaitQueue(t, 1)
				defer func() {
					alive.release(t)
					queued.answer(t, d).result(t)
				}()
			}
			r := goodRun(t, d)
			r.input = files{"big": strings.Repeat("y", row.size<<20)}
			u, path := uploadOf(t, r, row.form), filepath.Join(d.dir, "body")
			if err := os.WriteFile(path, []byte(u.before+u.large+u.behind), 0o600); err != nil {
				t.Fatal(err)
			}
			for client, command := range map[string][]string{"http.client": {"python3", "-c", pythonClient}, "http.request": {d.node, "-e", nodeClient, "--"}} {
				out, err := osexec.Command(command[0], append(command[1:], d.socket, u.contentType, path)...).CombinedOutput()
				if got := strings.TrimSpace(string(out)); err != nil || got != row.want {
					t.Errorf("%s, %s: %.1000q (%v), want %s", row.form, client, got, err, row.want)
				}
			}
		})
	}
}
